"""Planted faults: each writes a statement that must raise, marked with the kind of error, and what leads up
to it.

A program carries at most one. The scope's blocks are closed first, so the fault stands at the top level
with grad mode on. A fault that does not apply to what is alive returns False, and the next one is tried.
"""

from harness.generate import functions, values
from harness.generate.actions.backward import runnable
from harness.generate.intents import action
from harness.generate.model import (
    Memory,
    Node,
    edge,
    floating,
    fresh,
    is_leaf,
    leaf,
    requires,
    saved,
    tracked,
)
from harness.generate.values import NAMES, RESERVE, numel

FAULTS: list = []


def fault(function):
    """Register a way to go wrong."""
    FAULTS.append(function)
    return function


@action("fault", 0)
def plant(scope, p):
    """Exactly one planted fault: the first that applies, from the picked one on."""
    if scope.planted:
        return
    scope.top_level()
    scope.letters = NAMES + RESERVE
    start = p[0] * 16 + p[1]
    for step in range(len(FAULTS)):
        if FAULTS[(start + step) % len(FAULTS)](scope, p[2:]):
            scope.planted = True
            break
    scope.letters = NAMES


def raises(scope, text, kind):
    """Emit the statement that must raise."""
    scope.emit(f"{text}  # raises {kind}")
    return True


def sound(scope, number):
    """A tensor that requires grad and whose graph runs; made when there is none."""
    root, _ = runnable(scope, number)
    return root or scope.leaf(number, True)


def doubled(scope, source):
    """An interior tensor, not a view, made for the occasion."""
    old = source.memory
    result = scope.result(source.shape, Memory(old.hi + 1, old.lo, old.dhi + 1, old.dlo, old.rough), source)
    result.node = Node((edge(source),), (), True, (False,))
    return scope.make(f"{source.name} * 2.0", result)


# Graphs


@fault
def freed_graph(scope, p):
    """A second backward through a graph that was freed."""
    source = doubled(scope, sound(scope, p[0]))
    text = f"{source.name}.sum().backward()"
    plan = scope.plan([source])
    if plan is None:
        return False
    scope.emit(text)
    scope.ran(plan)
    raises(scope, text, "freed-graph")
    scope.broken([source])
    return True


@fault
def freed_by_grad(scope, p):
    """autograd.grad after the graph was freed."""
    source = doubled(scope, sound(scope, p[0]))
    plan = scope.plan([source])
    target = scope.pick(p[1], lambda tensor: leaf(tensor) and plan is not None and tensor in plan.leaves)
    if plan is None or target is None:
        return False
    scope.emit(f"{source.name}.sum().backward()")
    scope.ran(plan)
    raises(scope, f"torch.autograd.grad({source.name}.sum(), {target.name})", "freed-graph")
    scope.broken([source])
    return True


@fault
def version_of_input(scope, p):
    """A tensor that was saved as an input is overwritten."""
    source = doubled(scope, sound(scope, p[0]))
    text = ("{a}.square()", "{a} * {a}", "{a}.abs()")[p[1] % 3].format(a=source.name)
    memory = source.memory
    result = scope.result(source.shape, Memory(2 * memory.hi, 2 * memory.lo, 20, -20, memory.rough), source)
    result.node = Node((edge(source),), (saved(source),), True, (True,))
    scope.make(text, result)
    return overwrite(scope, p, source, result)


@fault
def version_of_result(scope, p):
    """A tensor that was saved as a result is overwritten."""
    source = sound(scope, p[0])
    memory = source.memory
    result = scope.result(
        source.shape, Memory(memory.hi, memory.lo, memory.dhi, memory.dlo, memory.rough), source
    )
    result.node = Node((edge(source),), ((None, result.version, 0),), True, (True,))
    scope.make(
        f"{source.name}.{('relu', 'sigmoid', 'tanh', 'exp')[0 if scope.exact else p[1] % 4]}()", result
    )
    if not scope.exact:
        memory = result.memory
        memory.hi, memory.rough = memory.hi + 5, True
    return overwrite(scope, p, result, result)


def overwrite(scope, p, target, root):
    """Write the target in place and run backward from the root."""
    text = ("{a}.mul_(2.0)", "{a}.add_(1.0)", "{a}.detach().zero_()", "{a} += 1.0")[p[2] % 4].format(
        a=target.name
    )
    scope.emit(text)
    target.version[0] += 1
    if "detach" not in text:
        target.node = Node((target.node,), (), "mul" in text, (False,))
        target.memory.hi += 1
    raises(scope, f"{root.name}.sum().backward()", "version-mismatch")
    scope.broken([root])
    return True


@fault
def detached_saved(scope, p):
    """A saved interior tensor is detached in place."""
    source = doubled(scope, sound(scope, p[0]))
    old = source.memory
    result = scope.result(source.shape, Memory(2 * old.hi, 2 * old.lo, 20, -20, old.rough), source)
    result.node = Node((edge(source),), (saved(source),), True, (True,))
    scope.make(f"{source.name}.square()", result)
    scope.emit(f"{source.name}.detach_()")
    source.node = None
    raises(scope, f"{result.name}.sum().backward()", "saved-tensor")
    scope.broken([result])
    return True


@fault
def not_scalar(scope, p):
    """backward without a gradient from a tensor of several elements."""
    root = scope.pick(p[0], lambda tensor: tracked(tensor) and numel(tensor.shape) != 1)
    if root is None:
        root = doubled(scope, scope.leaf(p[0], True, (3,)))
    choices = ("{a}.backward()", "torch.autograd.grad({a}, {a})", "torch.autograd.backward([{a}])")
    return raises(scope, choices[p[1] % 3].format(a=root.name), "not-scalar")


@fault
def no_grad_root(scope, p):
    """backward, a hook or retain_grad on a tensor that does not require grad."""
    root = scope.pick(p[0], lambda tensor: floating(tensor) and not requires(tensor)) or scope.leaf(
        p[0], False
    )
    choices = (
        "{a}.sum().backward()",
        "{a}.register_hook(lambda g: g)",
        "{a}.retain_grad()",
        "{a}.backward(torch.ones_like({a}))",
    )
    return raises(scope, choices[p[1] % 4].format(a=root.name), "no-grad")


@fault
def unused_input(scope, p):
    """autograd.grad by a leaf that is not in the graph."""
    root = doubled(scope, sound(scope, p[0]))
    plan = scope.plan([root])
    if plan is None:
        return False
    other = scope.leaf(p[1], True)
    raises(scope, f"torch.autograd.grad({root.name}.sum(), {other.name})", "unused-input")
    scope.broken([root])
    return True


@fault
def gradient_shape(scope, p):
    """A gradient of another shape than the root's."""
    root = sound(scope, p[0])
    choices = ("{a}.backward(torch.ones(13))", "{a}.backward(gradient=torch.ones(13, 1))")
    return raises(scope, choices[p[1] % 2].format(a=root.name), "gradient-mismatch")


@fault
def faulty_function(scope, p):
    """A custom Function with a classic mistake."""
    custom, kind, at_once = functions.FAULTY[p[1] % len(functions.FAULTY)]
    source = sound(scope, p[0])
    if numel(source.shape) <= 1:
        source = scope.leaf(p[0], True, (3,))
    if at_once or is_leaf(source):
        source = doubled(scope, source)
    scope.define(custom.name, custom.text)
    arguments = f"{source.name}, {source.name}" if custom.form == "product" else source.name
    call = f"{custom.name}.apply({arguments})"
    if at_once:
        raises(scope, call, kind)
        source.version[0] += 1
        source.memory.hi += 1
        return True
    old = source.memory
    result = scope.result(source.shape, Memory(old.hi + 1, old.lo, 20, -20, old.rough), source)
    result.node = Node((edge(source),), (), True, (False,))
    result.node.fault = kind
    scope.make(call, result)
    raises(scope, f"{result.name}.sum().backward()", kind)
    scope.broken([result])
    return True


FAULTS += [faulty_function] * (len(functions.FAULTY) - 1)  # each mistake as often as another fault


@fault
def once_differentiable(scope, p):
    """A second derivative through a Function that allows one."""
    custom = next(custom for custom in functions.RIGHT if custom.name == "Once")
    target = scope.leaf(p[0], True)
    scope.define(custom.name, custom.text)
    result = scope.result(target.shape, Memory(4, -2, 20, -20), target)
    result.node = Node((target,), (saved(target),), True, (True,))
    result.node.second_fault = "not-differentiable"
    scope.make(f"{custom.name}.apply({target.name})", result)
    first = scope.result(target.shape, Memory(4, -2, 20, -20), target)
    first.node = Node((result.node,), (), False, (True,))
    first.node.fault = "not-differentiable"
    scope.make(
        f"torch.autograd.grad({result.name}.square().sum(), {target.name}, create_graph=True)[0]", first
    )
    return raises(scope, f"{first.name}.sum().backward()", "not-differentiable")


# Hooks


@fault
def hook_result(scope, p):
    """A hook that returns something of another shape or type."""
    source = doubled(scope, sound(scope, p[0]))
    plan = scope.plan([source])
    if plan is None:
        return False
    choices = (
        "register_hook(lambda g: torch.ones(13, dtype=g.dtype))",
        "register_hook(lambda g: 1.0)",
        "grad_fn.register_prehook(lambda go: (go[0], go[0]))",
        "grad_fn.register_hook(lambda gi, go: (gi[0], gi[0], gi[0]))",
    )
    scope.emit(f"{source.name}.{choices[p[1] % 4]}")
    kind = "TypeError" if p[1] % 4 == 1 else "hook-result"
    source.node.fault = kind
    raises(scope, f"{source.name}.sum().backward()", kind)
    scope.broken([source])
    return True


@fault
def hook_raises(scope, p):
    """A hook that raises an error of its own."""
    source = doubled(scope, sound(scope, p[0]))
    plan = scope.plan([source])
    if plan is None:
        return False
    scope.emit(f"{source.name}.register_hook(lambda g: 1 // 0)")
    source.node.fault = "ZeroDivisionError"
    raises(scope, f"{source.name}.sum().backward()", "ZeroDivisionError")
    scope.broken([source])
    return True


# Leaves, views, writes


@fault
def leaf_written(scope, p):
    """A leaf that requires grad, or a view of one, is written in place."""
    target = scope.pick_leaf(p[0])
    choices = ["{a}.mul_(2.0)", "{a} += 1.0", "{a}.zero_()", "{a}.detach_().requires_grad_().add_(1.0)"]
    choices[3] = "{a}[...] = 1.0"
    if target.shape and numel(target.shape):
        choices += ["{a}[0] = 1.0", "{a}[0].mul_(2.0)", "{a}.unsqueeze(0).add_(1.0)"]
    text = choices[p[1] % len(choices)].format(a=target.name)
    return raises(scope, text, "leaf-inplace")


def parts(scope, number):
    """A fresh interior tensor of two rows."""
    return doubled(scope, scope.leaf(number, True, (2, 3)))


@fault
def multi_view_written(scope, p):
    """One output of a multi-output view is written."""
    base = parts(scope, p[0])
    names = scope.fresh_name()
    piece = scope.view(base, (3,), (1,), 2)
    text = ("unbind(0)", "split(1)", "chunk(2)")[p[1] % 3]
    if p[1] % 3:
        piece.shape, piece.strides = (1, 3), (3, 1)
    scope.emit(f"{names} = {base.name}.{text}[0]")
    scope.bind(names, piece)
    return raises(scope, f"{names}.{('mul_(2.0)', 'add_(1.0)', 'zero_()')[p[2] % 3]}", "view-inplace")


@fault
def no_grad_view_written(scope, p):
    """A view made under no_grad is written with grad mode on."""
    base = parts(scope, p[0])
    scope.grad = False
    piece = scope.view(base, (3,), (1,))
    scope.grad = True
    name = scope.fresh_name()
    scope.emit(f"with torch.no_grad():\n    {name} = {base.name}[0]")
    scope.bind(name, piece)
    return raises(scope, f"{name}.mul_(2.0)", "view-inplace")


@fault
def function_view_written(scope, p):
    """The output of a Function that returned its input is written."""
    base = parts(scope, p[0])
    custom = next(custom for custom in functions.RIGHT if custom.form == "same")
    scope.define(custom.name, custom.text)
    piece = scope.view(base, base.shape, base.strides, 3)
    scope.make(f"{custom.name}.apply({base.name})", piece)
    return raises(scope, f"{piece.name}.mul_(2.0)", "view-inplace")


@fault
def stale_view_used(scope, p):
    """A multi-output view is used after its base was written."""
    base = parts(scope, p[0])
    piece = scope.view(base, (3,), (1,), 2)
    scope.make(f"{base.name}.unbind(0)[0]", piece)
    scope.emit(f"{base.name}.add_(1.0)")
    base.version[0] += 1
    base.memory.hi += 1
    base.node = Node((base.node,), (), False, (False,))
    text = ("{a}.sum()", "{a} * 2.0", "print({a}.grad_fn)", "print({a}.is_leaf)")[p[1] % 4]
    return raises(scope, text.format(a=piece.name), "view-inplace")


@fault
def view_detached(scope, p):
    """detach_ of a view."""
    base = parts(scope, p[0])
    piece = scope.make(f"{base.name}[0]", scope.view(base, (3,), (1,)))
    return raises(scope, f"{piece.name}.detach_()", "view-inplace")


@fault
def overlapping_write(scope, p):
    """An expanded tensor is written element by element."""
    base = doubled(scope, scope.leaf(p[0], True, (3,)))
    memory = base.memory
    memory.dhi += 1
    piece = scope.make(f"{base.name}.expand(2, 3)", scope.view(base, (2, 3), (0, 1)))
    return raises(scope, f"{piece.name}.{('mul_(2.0)', 'add_(1.0)', 'neg_()')[p[1] % 3]}", "overlap")


@fault
def flag_refused(scope, p):
    """A requires_grad flag that may not change."""
    if p[1] % 2:
        target = scope.make("torch.tensor([1, 2])", fresh((2,), "l", Memory(2, 0)))
        return raises(scope, f"{target.name}.requires_grad_()", "leaf-flag")
    target = doubled(scope, sound(scope, p[0]))
    text = ("{a}.requires_grad_(False)", "{a}.requires_grad = False")[p[2] % 2]
    return raises(scope, text.format(a=target.name), "leaf-flag")


@fault
def grad_refused(scope, p):
    """A `.grad` of the wrong shape, dtype or type, or the tensor itself."""
    target = scope.pick_leaf(p[0])
    other = "torch.float64" if target.dtype == "f" else "torch.float32"
    choices = (
        "{a}.grad = torch.ones(5)",
        "{a}.grad = {a}",
        f"{{a}}.grad = torch.ones_like({{a}}, dtype={other})",
    )
    choice = p[1] % 3
    if choice == 0 and target.dtype == "d":
        choice = 2
    return raises(scope, choices[choice].format(a=target.name), "grad-assignment")


@fault
def numpy_refused(scope, p):
    """numpy() of a tensor that requires grad."""
    return raises(scope, f"{scope.pick_leaf(p[0]).name}.numpy()", "numpy")


# Arguments


@fault
def shapes_differ(scope, p):
    """Operands that do not broadcast, a view of the wrong size, a product that does not fit."""
    target = scope.pick_tracked(p[0])
    apart = "{a} + torch.ones(5, 7)"
    if all(size in (1, other) for size, other in zip(reversed(target.shape), (7, 5), strict=False)):
        apart = "{a}.reshape(11, 13)"
    choices = [apart, apart, apart]
    if target.strides is not None and values.is_contiguous(target.shape, target.strides):
        choices[1] = "{a}.view(11)"
    if len(target.shape) == 2:
        choices[2] = "torch.mm({a}, torch.ones(5, 7))"
    return raises(scope, choices[p[1] % 3].format(a=target.name), "shape")


@fault
def index_out_of_range(scope, p):
    """An index or a dimension that is not there."""
    target = scope.pick(p[0], lambda tensor: floating(tensor) and len(tensor.shape) >= 1) or scope.leaf(
        0, True, (3,)
    )
    choices = ("{a}[{n}]", "{a}.select(0, {n})", "{a}.sum(7)", "{a}.transpose(0, 5)", "{a}.unsqueeze(9)")
    beyond = max(9, target.shape[0])
    return raises(scope, choices[p[1] % 5].format(a=target.name, n=beyond), "index")


@fault
def dtype_refused(scope, p):
    """A float result that would have to go into an integer tensor."""
    target = scope.make("torch.tensor([1, 2, 3])", fresh((3,), "l", Memory(2, 0)))
    choices = ("{a}.mul_(0.5)", "{a}.div_(2)", "{a}.add_(torch.tensor([0.5, 1.0, 2.0]))")
    return raises(scope, choices[p[1] % 3].format(a=target.name), "dtype")


@fault
def argument_refused(scope, p):
    """A call with a missing, unknown or ill-typed argument."""
    target = scope.pick_tracked(p[0])
    choices = (
        "torch.add({a})",
        "{a}.sum(dims=0)",
        "{a}.sum().backward(create=True)",
        "{a}.mul('two')",
        "torch.autograd.grad({a}.sum())",
    )
    return raises(scope, choices[p[1] % 5].format(a=target.name), "argument")
