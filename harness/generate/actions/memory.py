"""Steps about memory: views, in-place writes, leaves, names, `.grad`, grad mode."""

from harness.generate import ops, values
from harness.generate.actions.compute import joined
from harness.generate.intents import action
from harness.generate.model import (
    CUT,
    MAYBE,
    MULTI,
    Live,
    Memory,
    Node,
    edge,
    floating,
    fresh,
    is_leaf,
    leaf,
    record,
    requires,
    usable,
    write_refused,
    written,
)
from harness.generate.values import FLOATS, broadcast, numel

# Views


@action("views", 6)
def view(scope, p):
    """A single-output view."""
    source = scope.pick(p[0], usable) or scope.pick_float(p[0])
    table = ops.views(source.shape, source.strides)
    view_of(scope, source, table[(p[1] * 16 + p[2]) % len(table)])


def view_of(scope, source, op):
    """Emit one view op."""
    if op.fanout:
        memory = source.memory
        memory.dhi += op.fanout
        if not scope.within(memory):
            memory.dhi -= op.fanout
            return None
    text = op.text % source.name if "%" in op.text else op.text
    return scope.make(source.name + text, scope.view(source, op.shape, op.strides))


@action("views", 2)
def split(scope, p):
    """A multi-output view: unbind, split, chunk."""
    source = scope.pick_float(p[0])
    table = ops.splits(source.shape, source.strides)
    if not table:
        return
    text, parts = table[p[1] % len(table)]
    node = Node((edge(source),), depends=(False,)) if scope.grad and requires(source) else None
    tensors = [scope.view(source, part.shape, part.strides, MULTI, node) for part in parts]
    assign_all(scope, source.name + text, tensors)


def assign_all(scope, text, tensors):
    """Assign several results at once."""
    names = []
    line = len(scope.out)
    scope.emit("")
    for tensor in tensors:
        names.append(scope.fresh_name())
        tensor.output = 1
        scope.bind(names[-1], tensor)
    if len(set(names)) < len(names):
        raise AssertionError("a multi-output step ran out of names")
    scope.out[line] = f"{', '.join(names)} = {text}"


# In place


def write(scope, target, text, others=(), saves=(), frees=False, depends=None):
    """Emit a write: as it is when autograd allows it, else under no_grad."""
    needs = (
        scope.grad
        and target.dtype in FLOATS
        and (requires(target) or any(requires(other) for other in others))
    )
    refused = write_refused(target, needs)
    if refused:
        if not usable(target):
            return
        text = "with torch.no_grad():\n    " + text
        needs = False
    scope.emit(text)
    written(target, others, saves, frees, depends, needs)


def writable(tensor):
    """Float, with every element in its own place."""
    strides = tensor.strides
    return (
        tensor.dtype in FLOATS
        and strides is not None
        and not values.overlaps(tensor.shape, strides)
        and usable(tensor)
    )


@action("inplace", 5)
def inplace_unary(scope, p):
    """An in-place function, with or without a scalar."""
    target = scope.pick(p[0], writable)
    if target is None:
        return
    table = ops.EXACT_INPLACE if scope.exact or p[2] % 2 else ops.SMOOTH_INPLACE
    op = table[p[1] % len(table)]
    memory = scope.elementwise(op, target.memory)
    if memory is None:
        return
    target.memory.include(memory)
    write(
        scope,
        target,
        op.text % target.name,
        (),
        (target,) if op.saves == "r" else (),
        op.saves != "",
        (op.depends,),
    )
    node = (target.base or target).node
    if op.once and node is not None:
        node.second_fault = "uncertain"


@action("inplace", 4)
def inplace_binary(scope, p):
    """An in-place op with another tensor that broadcasts to the target."""
    target = scope.pick(p[0], writable)
    if target is None:
        return
    shape, memory, dtype = target.shape, target.memory, target.dtype
    other = scope.pick(
        p[1],
        lambda other: (
            other.memory is not memory
            and other.dtype != "b"
            and usable(other)
            and broadcast(shape, other.shape) == shape
            and (scope.exact or other.dtype == dtype)
        ),
    )
    if other is None:
        return
    op = ops.INPLACE_BINARY[p[2] % len(ops.INPLACE_BINARY)]
    bounds = joined(scope, "add" if op.rule == "copy" else op.rule, op.up, target, other, shape)
    if bounds is None:
        return
    memory.include(bounds)
    saves: tuple = ()
    frees, depends = False, (CUT if op.rule == "copy" and target.base is None else False, False)
    if op.rule == "mul":
        first, second = requires(target), requires(other)
        saves = (other,) if first else ()
        frees = True
        depends = (second, first)
    others = (other,) if requires(other) else ()
    write(
        scope, target, op.text % (target.name, other.name), others, saves, frees, depends[: 1 + len(others)]
    )


@action("inplace", 2)
def fill(scope, p):
    """zero_, fill_, or assigning a number to everything."""
    target = scope.pick(p[0], writable)
    if target is not None:
        target.memory.include(Memory(1, -1))
        depends = (CUT if target.base is None else False,)
        write(scope, target, ops.FILL[p[1] % len(ops.FILL)] % target.name, depends=depends)


@action("inplace", 3)
def write_view(scope, p):
    """Take a view and write it in one statement, or assign by index."""
    target = scope.pick(p[0], lambda tensor: writable(tensor) and tensor.shape and numel(tensor.shape))
    if target is None:
        return
    name = target.name
    target.memory.hi += 1
    if not scope.within(target.memory):
        target.memory.hi -= 1
        return
    target.memory.dhi += 1
    choices = (
        ("{a}[0] = 2.0", False),
        ("{a}[-1:] = 0.5", False),
        ("{a}[0].mul_(2.0)", True),
        ("{a}.t().add_(1.0)" if len(target.shape) <= 2 else "{a}.transpose(0, 1).add_(1.0)", False),
        ("{a}[0] += 1.0", False),
        ("{a}[0].zero_()", False),
        ("{a}.detach()[0] = 1.0", None),
        ("{a}.data[0] = 1.0", None),
        ("{a}[[0]] = 1.0", True),
    )
    text, frees = choices[p[1] % len(choices)]
    text = text.format(a=name)
    if frees is None:
        scope.emit(text)
        if "detach" in text:
            target.version[0] += 1
        return
    part = scope.view(target, (), ()) if usable(target) and "[[" not in text else target
    write(scope, part, text, frees=frees)
    if "+=" in text:
        part.version[0] += 1
        refresh_after(part)


def refresh_after(part):
    """A second write of the same statement: the view taken for it is thrown away."""
    if part.node is not None:
        part.seen = part.version[0]


@action("inplace", 2)
def assign_part(scope, p):
    """Assign one tensor to a part of another, by basic index or mask."""
    target = scope.pick(p[0], lambda tensor: writable(tensor) and tensor.shape and numel(tensor.shape))
    if target is None:
        return
    part, memory = target.shape[1:], target.memory
    source = scope.pick(
        p[1],
        lambda other: other.memory is not memory and floating(other) and broadcast(part, other.shape) == part,
    )
    if source is None or (not scope.exact and source.dtype != target.dtype):
        return
    bounds = joined(scope, "add", 0, target, source, target.shape)
    if bounds is None:
        return
    memory.include(bounds)
    index = (0, -1)[p[2] % 2]
    view_part = scope.view(target, part, ()) if usable(target) else target
    others = (source,) if requires(source) else ()
    write(scope, view_part, f"{target.name}[{index}] = {source.name}", others)


@action("inplace", 2)
def integer_write(scope, p):
    """An in-place op on an integer tensor."""
    target = scope.pick(
        p[0], lambda tensor: tensor.dtype in "li" and tensor.base is None and tensor.strides is not None
    )
    if target is None or values.overlaps(target.shape, target.strides):
        return
    op = ops.INTEGER_INPLACE[p[1] % len(ops.INTEGER_INPLACE)]
    memory = scope.elementwise(op, target.memory)
    if memory is not None:
        target.memory.include(memory)
        write(scope, target, op.text % target.name)


# Leaves and names


@action("leaves", 3)
def detach(scope, p):
    """detach() or .data: shares memory; detach shares the version counter too."""
    source = scope.pick_float(p[0])
    tensor = Live(source.shape, source.dtype, source.memory, source.strides)
    if p[1] < 11:
        tensor.version = source.version
        scope.make(f"{source.name}.detach()", tensor)
    else:
        scope.make(f"{source.name}.data", tensor)


@action("leaves", 1)
def detach_in_place(scope, p):
    """detach_() of a tensor that nobody saved as an interior one."""
    target = scope.pick(
        p[0], lambda tensor: tensor.strides is not None and tensor.base is None and requires(tensor)
    )
    if target is None or target.retains or unread_views(scope, target):
        return
    if target.node is not None and is_saved(scope, target):
        return
    target.was_leaf = target.was_leaf or target.flag
    target.node, target.flag = None, False
    scope.emit(f"{target.name}.detach_()")


def unread_views(scope, target):
    """Whether a view of the target would see another history if it were read now than later."""
    return any(view.base is target and view.seen != view.version[0] for view in scope.live)


def is_saved(scope, target):
    """Whether a graph that is alive saved this very tensor."""
    stack = [tensor.node for tensor in scope.live if tensor.node is not None]
    for tensor in scope.live:
        if tensor.base is not None and tensor.base.node is not None:
            stack.append(tensor.base.node)
        if tensor.grad is not None and tensor.grad.node is not None:
            stack.append(tensor.grad.node)
    seen = set()
    while stack:
        node = stack.pop()
        if node in seen:
            continue
        seen.add(node)
        for entry in node.saved:
            if entry[0] is target:
                return True
        for below in node.edges:
            if below.__class__ is Node:
                stack.append(below)
    return False


def may_change_flag(tensor):
    """A float leaf that is no view; what `grad` returned (strides unknown) may be one of a hidden base."""
    return tensor.dtype in FLOATS and tensor.base is None and tensor.strides is not None and is_leaf(tensor)


@action("leaves", 2)
def set_requires_grad(scope, p):
    """requires_grad_() on a leaf, on or off, or as an attribute."""
    target = scope.pick(p[0], may_change_flag)
    if target is None or (target.flag and unread_views(scope, target)):
        return
    target.flag = not target.flag or p[1] < 4
    if target.flag:
        text = f"{target.name}.requires_grad_()" if p[2] < 10 else f"{target.name}.requires_grad = True"
    else:
        target.was_leaf = True
        text = f"{target.name}.requires_grad_(False)"
    scope.emit(text)


@action("leaves", 2)
def rebind(scope, p):
    """A second name for a tensor, or the same name for a new value."""
    source = scope.pick_float(p[0])
    if p[1] < 5:
        name = scope.fresh_name()
        if name != source.name and name not in scope.names:
            scope.emit(f"{name} = {source.name}")
            scope.names[name] = source
        return
    op = ops.SCALAR[p[2] % len(ops.SCALAR)]
    memory = scope.elementwise(op, source.memory)
    if memory is None:
        return
    result = scope.result(source.shape, memory, source)
    if scope.grad:
        result.node = record((source,), (), op.saves != "")
    name = source.name
    scope.emit(f"{name} = {op.text % name}")
    scope.bind(name, result)


@action("leaves", 1)
def delete(scope, p):
    """Forget a name; the graph that uses the tensor stays."""
    if len(scope.live) > 3:
        target = scope.live[-1 - p[0] % len(scope.live)]
        scope.emit(f"del {target.name}")
        scope.forget(target)


# `.grad`


def has_grad(tensor):
    """Whether `.grad` certainly holds a tensor."""
    grad = tensor.grad
    return (
        grad is not None and grad is not MAYBE and (tensor.node is None or tensor.retains) and usable(tensor)
    )


@action("grads", 2)
def clear_grad(scope, p):
    """Set `.grad` to None."""
    target = scope.pick(p[0], lambda tensor: leaf(tensor) and tensor.grad is not None) or scope.pick_leaf(
        p[0]
    )
    target.grad = None
    scope.emit(f"{target.name}.grad = None")


@action("grads", 2)
def zero_grad(scope, p):
    """Write into `.grad`."""
    target = scope.pick(p[0], lambda tensor: has_grad(tensor) and not requires(tensor.grad))
    if target is None:
        clear_grad(scope, p)
        return
    target.grad.version[0] += 1
    target.grad.memory.hi += 1
    scope.emit(f"{target.name}.grad.{('zero_()', 'mul_(2.0)', 'add_(1.0)')[p[1] % 3]}")


@action("grads", 1)
def set_grad(scope, p):
    """Assign `.grad`: a fresh tensor, or one that the program also knows by name."""
    target = scope.pick_leaf(p[0])
    shape, dtype = target.shape, target.dtype
    given = scope.pick(
        p[1],
        lambda other: (
            other.shape == shape
            and other.dtype == dtype
            and other is not target
            and writable(other)
            and not requires(other)
            and other.memory is not target.memory
            and other.base is None
        ),
    )
    if given is None or p[2] < 8:
        given = fresh(shape, dtype, Memory(1, 0))
        scope.emit(f"{target.name}.grad = torch.ones_like({target.name})")
    else:
        scope.emit(f"{target.name}.grad = {given.name}")
    target.grad = given


@action("grads", 2)
def use_grad(scope, p):
    """Compute with `.grad`, or give it a name of its own."""
    target = scope.pick(p[0], has_grad)
    if target is None:
        return
    grad = target.grad
    if p[1] < 6:
        if grad not in scope.live:
            scope.make(f"{target.name}.grad", grad)
        return
    old = grad.memory
    memory = Memory(old.hi + 1, old.lo, old.dhi + 1, old.dlo, old.rough)
    if not scope.within(memory):
        return
    result = scope.result(target.shape, memory, target)
    if scope.grad:
        result.node = record((grad,), (), True)
    scope.make(f"{target.name}.grad * 2.0", result)


@action("grads", 1)
def descend(scope, p):
    """A step of gradient descent on a leaf, under no_grad."""
    target = scope.pick(p[0], lambda tensor: leaf(tensor) and has_grad(tensor) and not requires(tensor.grad))
    if target is None:
        return
    bounds = joined(scope, "add", 0, target, target.grad, target.shape)
    if bounds is not None and writable(target):
        target.memory.include(Memory(bounds.hi, bounds.lo - 2, bounds.dhi, bounds.dlo, bounds.rough))
        target.version[0] += 1
        scope.emit(f"with torch.no_grad():\n    {target.name} -= 0.25 * {target.name}.grad")


# Modes


@action("modes", 2)
def no_grad(scope, p):
    """A no_grad block around the next one or two steps."""
    scope.open("with torch.no_grad():", False, 1 + p[0] % 2)


@action("modes", 1)
def enable_grad(scope, p):
    """An enable_grad block, nested in no_grad if one is open."""
    scope.open(
        ("with torch.enable_grad():", "with torch.set_grad_enabled(True):")[p[1] % 2], True, 1 + p[0] % 2
    )


@action("modes", 1)
def set_grad_enabled(scope, p):
    """set_grad_enabled as a call that lasts for the next few steps."""
    scope.open_call(False, 1 + p[0] % 3)


@action("modes", 1)
def grad_mode(scope, p):
    """Print whether grad mode is on."""
    scope.emit("print(torch.is_grad_enabled())")
