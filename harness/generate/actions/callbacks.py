"""Steps that hang code into the graph: hooks of every kind, custom Functions, helper functions, loops."""

from harness.generate import functions
from harness.generate.actions.memory import assign_all, writable, write
from harness.generate.intents import action
from harness.generate.model import (
    FUNCTION,
    Memory,
    Node,
    edge,
    is_stale,
    refresh,
    requires,
    saved,
    tracked,
    usable,
)

# Hooks


def hookable(tensor):
    """A tensor on which hooks may be registered: never a stale view, which would kill the process later."""
    return tracked(tensor) and (tensor.node is not None or tensor.flag) and not is_stale(tensor)


HOOKS = (
    'lambda g: print("hook {a}", g)',
    'lambda g: print("hook {a}", g.tolist())',
    "lambda g: g * 2.0",
    "lambda g: -g",
    'lambda g: print("hook {a}", g.shape, g.requires_grad)',
    "lambda g: g.clamp(-1.0, 1.0)",
)


# Of a gradient that is all rounding, engines print other numbers: what is shown of it in the tolerance lane.
WITHOUT_NUMBERS = (
    (", g)", ", g.shape)"),
    ("g.tolist()", "g.dtype"),
    (", gi, go)", ", [g is None for g in gi])"),
    (", go))", ", [g is None for g in go]))"),
    (", t.grad)", ", t.grad.shape)"),
)


def shown(scope, text: str) -> str:
    """A hook that prints gradients, as it may be in the lane."""
    for numbers, facts in () if scope.exact else WITHOUT_NUMBERS:
        text = text.replace(numbers, facts)
    return text


@action("hooks", 4)
def tensor_hook(scope, p):
    """Tensor.register_hook: prints or replaces; half the time on what has a hook already, for the order."""
    target = scope.hooked if p[3] & 1 else None
    if target is None or scope.names.get(target.name) is not target or not hookable(target):
        target = scope.pick(p[0], hookable)
    if target is None:
        look_at_stale(scope, p)
        return
    text = HOOKS[0 if scope.forgets or target.output else p[1] % len(HOOKS)].replace("{a}", target.name)
    scope.hooks_need_gradients = scope.hooks_need_gradients or text != HOOKS[0]
    if "*" in text:
        scope.doublings += 1
        if scope.doublings > 2:
            text = "lambda g: g"
    if "clamp" in text and not scope.exact:
        text = "lambda g: g"
    text = f"{target.name}.register_hook({shown(scope, text)})"
    scope.hooked = target
    if p[2] < 5:
        text = f"{keep_handle(scope)} = {text}"
    scope.emit(text)


def look_at_stale(scope, p):
    """Read the grad_fn of a stale view: after that it may be hooked."""
    target = scope.pick(p[0], lambda tensor: usable(tensor) and is_stale(tensor))
    if target is not None:
        refresh(target)
        scope.emit(f"print(type({target.name}.grad_fn).__name__)")


def keep_handle(scope):
    """A name for a hook's handle."""
    name = ("hook", "handle", "other_hook")[len(scope.handles) % 3]
    scope.handles.append(name)
    return name


@action("hooks", 1)
def remove_hook(scope, p):
    """Remove a hook by its handle."""
    target = scope.pick(p[1], hookable)
    if not scope.handles and target is not None:
        name = target.name
        hook = shown(scope, f'lambda g: print("hook {name}", g)')
        scope.emit(f"{keep_handle(scope)} = {name}.register_hook({hook})")
    if scope.handles:
        scope.emit(f"{scope.handles[p[0] % len(scope.handles)]}.remove()")


NODE_HOOKS = (
    'register_hook(lambda gi, go: print("node {a}", gi, go))',
    'register_prehook(lambda go: print("before {a}", go))',
    'register_hook(lambda gi, go: print("node {a}", len(gi), len(go)))',
    "register_prehook(lambda go: tuple(None if g is None else -g for g in go))",
    'register_prehook(lambda go: print("before {a}", len(go)))',
)


@action("hooks", 3)
def node_hook(scope, p):
    """A hook or prehook on the grad_fn."""
    target = scope.pick(p[0], lambda tensor: hookable(tensor) and tensor.node is not None)
    if target is not None:
        text = shown(scope, NODE_HOOKS[p[1] % len(NODE_HOOKS)].replace("{a}", target.name))
        handle = f"{keep_handle(scope)} = " if p[2] < 4 else ""
        scope.emit(f"{handle}{target.name}.grad_fn.{text}")


@action("hooks", 2)
def accumulate_hook(scope, p):
    """register_post_accumulate_grad_hook on a leaf."""
    target = scope.pick_leaf(p[0])
    fact = ("t.grad", "t.grad is None", "t.is_leaf", "t.requires_grad")[p[1] % 4]
    text = shown(scope, f'lambda t: print("accumulated {target.name}", {fact})')
    handle = f"{keep_handle(scope)} = " if p[2] < 4 else ""
    scope.emit(f"{handle}{target.name}.register_post_accumulate_grad_hook({text})")


def retainable(tensor):
    """An interior tensor; not one of several outputs: writing it later fails an assertion in PyTorch 2.13."""
    return hookable(tensor) and tensor.node is not None and (not tensor.output or tensor.base is not None)


@action("hooks", 2)
def retain_grad(scope, p):
    """retain_grad on an interior tensor (a leaf keeps its grad anyway)."""
    target = scope.pick(p[0], retainable) or scope.pick_leaf(p[0])
    target.retains = target.node is not None
    scope.emit(f"{target.name}.retain_grad()")


# Custom Functions and helpers


@action("functions", 4)
def custom_function(scope, p):
    """Apply a custom Function of the library."""
    table = functions.RIGHT if p[2] < 12 else functions.WRONG
    custom = table[p[1] % len(table)]
    source = scope.pick_float(p[0])
    if not custom.gives:
        if scope.hooks_need_gradients:
            return
        scope.forgets = True
    if custom.form == "product":
        apply_product(scope, p, custom, source)
    elif custom.form in ("same", "view"):
        apply_view(scope, custom, source)
    elif custom.form == "dirty":
        apply_dirty(scope, p, custom)
    else:
        apply_one(scope, custom, source)


def apply_one(scope, custom, source):
    """One input; one output, two, or a value and a mask."""
    memory = scope.elementwise(custom, source.memory)
    if memory is None:
        return
    scope.define(custom.name, custom.text)
    result = scope.result(source.shape, memory, source)
    result.node = node = function_node(scope, custom, source, result)
    argument = f"{source.name}, 2.0" if custom.form == "scaled" else source.name
    text = f"{custom.name}.apply({argument})"
    if custom.form in ("two", "mask"):
        dtype = "b" if custom.form == "mask" else source.dtype
        second = scope.result(
            source.shape, Memory(memory.hi, memory.lo, memory.dhi + 1, memory.dlo), source, dtype=dtype
        )
        second.memory.rough = memory.rough
        second.node = node if custom.form == "two" else None
        assign_all(scope, text, [result, second])
    else:
        scope.make(text, result)


def function_node(scope, custom, source, result=None):
    """The node of a custom Function with one tensor input."""
    if not scope.grad or not requires(source):
        return None
    entries: tuple = ()
    if custom.saves == "s":
        entries = (saved(source),)
    elif custom.saves == "r" and result is not None:
        entries = ((None, result.version, 0),)
    node = Node((edge(source),), entries, bool(entries), (custom.depends,))
    node.fault, node.second_fault, node.gives = custom.fault, custom.second_fault, custom.gives
    return node


def apply_product(scope, p, custom, one):
    """Two inputs of one shape and dtype, both saved."""
    shape, dtype = one.shape, one.dtype
    fits = lambda other: other.shape == shape and other.dtype == dtype and usable(other)
    other = scope.pick(p[3], fits)
    if other is None or not scope.within(one.memory):
        return
    a, b = one.memory, other.memory
    dhi = max(a.dhi, b.dhi) + max(a.hi, b.hi) + 1
    dlo = min(a.dlo, b.dlo) + min(a.lo, b.lo)
    memory = Memory(a.hi + b.hi, a.lo + b.lo, dhi, dlo, a.rough or b.rough)
    if not scope.within(memory):
        return
    scope.define(custom.name, custom.text)
    result = scope.result(shape, memory, one, other)
    if scope.grad and (requires(one) or requires(other)):
        depends = (requires(other), requires(one))
        if custom.name == "Swapped":
            depends = depends[::-1]
        result.node = Node((edge(one), edge(other)), (saved(one), saved(other)), True, depends)
    scope.make(f"{custom.name}.apply({one.name}, {other.name})", result)


def apply_view(scope, custom, source):
    """A Function that returns its input or a view of it: the output is a view that must not be written."""
    if not scope.grad or (custom.form == "view" and len(source.shape) > 2):
        return
    scope.define(custom.name, custom.text)
    shape, strides = source.shape, source.strides
    if custom.form == "view":
        shape = shape[::-1]
        strides = None if strides is None else strides[::-1]
    tensor = scope.view(source, shape, strides, FUNCTION, function_node(scope, custom, source))
    if not requires(source):
        tensor.kind = FUNCTION
    scope.make(f"{custom.name}.apply({source.name})", tensor)


def apply_dirty(scope, p, custom):
    """A Function that writes its input and says so; never on a view or a leaf that requires grad."""
    target = scope.pick(
        p[0],
        lambda tensor: writable(tensor) and tensor.base is None and not tensor.flag and not tensor.retains,
    )
    if target is None:
        return
    memory = scope.elementwise(custom, target.memory)
    if memory is None:
        return
    target.memory.include(memory)
    scope.define(custom.name, custom.text)
    write(scope, target, f"{custom.name}.apply({target.name})")
    target.version[0] += 1


@action("functions", 2)
def helper(scope, p):
    """Call a function of the program, decorated with a grad mode or plain."""
    name, text, mode = functions.HELPERS[p[1] % len(functions.HELPERS)]
    source = scope.pick_float(p[0])
    old = source.memory
    memory = Memory(old.hi + 2, old.lo, old.dhi + 2, old.dlo, old.rough)
    if not scope.within(memory):
        return
    scope.define(name, text)
    result = scope.result(source.shape, memory, source)
    if (scope.grad if mode is None else mode) and requires(source):
        result.node = Node((edge(source),), (), True, (False,))
    scope.make(f"{name}({source.name})", result)


@action("control", 1)
def loop(scope, p):
    """A short loop that rebinds a name, or an in-place one."""
    source = scope.pick_float(p[0])
    old = source.memory
    memory = Memory(old.hi + 2, old.lo, old.dhi + 2, old.dlo, old.rough)
    if not scope.within(memory):
        return
    name = source.name
    if p[1] < 8:
        result = scope.result(source.shape, memory, source)
        if scope.grad and requires(source):
            result.node = Node((edge(source),), (), True, (False,))
        scope.emit(f"for i in range(2):\n    {name} = {name} * 2.0")
        scope.bind(name, result)
    else:
        scope.emit(
            f"for x in [{name}, {name}.detach()]:\n    print(x.requires_grad, x.is_leaf, x.sum().item())"
        )
