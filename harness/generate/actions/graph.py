"""Steps about the graph: backward and grad in their variants, hooks, custom Functions, looking, random numbers."""

from harness.generate import functions, values
from harness.generate.actions.memory import assign_all, writable, write
from harness.generate.intents import action
from harness.generate.model import (
    FUNCTION,
    Live,
    Memory,
    Node,
    edge,
    floating,
    fresh,
    is_leaf,
    is_stale,
    leaf,
    peek,
    refresh,
    requires,
    saved,
    tracked,
    usable,
)
from harness.generate.values import numel

# Backward


def runnable(scope, number, create_graph=False):
    """A tensor to run backward from and what the run does (under no_grad no scalar can be made of it)."""
    plans = {}
    grad = scope.grad

    def fits(tensor):
        if tracked(tensor) and (grad or not tensor.shape) and peek(tensor) is not None:
            plans[tensor] = scope.plan([tensor], None, create_graph)
            return plans[tensor] is not None
        return False

    root = scope.pick(number, fits)
    return (root, plans[root]) if root is not None else (None, None)


def rooted(scope, root, number):
    """A scalar made of the root inside the statement."""
    if not root.shape and (number % 4 or not scope.grad):
        return root.name
    return f"{root.name}.sum()"


@action("backward", 7)
def backward(scope, p):
    """backward from a scalar, retaining the graph or not."""
    root, plan = runnable(scope, p[0])
    if root is None:
        return
    retain = p[1] < 6
    scope.emit(f"{rooted(scope, root, p[2])}.backward({'retain_graph=True' if retain else ''})")
    scope.ran(plan, retain)


@action("backward", 3)
def backward_gradient(scope, p):
    """backward with a gradient of the root's shape."""
    root, plan = runnable(scope, p[0])
    if root is None:
        return
    retain = p[1] < 6
    seed = values.seed_text(root.shape, p[2], root.dtype)
    seed = f"torch.ones_like({root.name})" if p[3] < 5 else seed
    scope.emit(f"{root.name}.backward({'gradient=' * (p[3] % 2)}{seed}{', retain_graph=True' if retain else ''})")
    scope.ran(plan, retain)


@action("higher", 2)
def backward_create_graph(scope, p):
    """backward that records the gradients' own history."""
    root, plan = runnable(scope, p[0], True)
    if root is not None:
        scope.emit(f"{rooted(scope, root, p[2])}.backward(create_graph=True)")
        scope.ran(plan, True, True)


@action("backward", 2)
def backward_inputs(scope, p):
    """backward that fills only the leaves named in `inputs=`."""
    root, plan = runnable(scope, p[0])
    if root is None:
        return
    target = scope.pick(p[1], lambda tensor: leaf(tensor) and tensor in plan.leaves)
    if target is None:
        return
    plan = scope.plan([root], [target])
    if plan is None:
        return
    retain = p[2] < 8
    scope.emit(f"{rooted(scope, root, 1)}.backward({'retain_graph=True, ' * retain}inputs=[{target.name}])")
    scope.ran(plan, retain)


@action("backward", 2)
def backward_roots(scope, p):
    """torch.autograd.backward from two roots, or one with its gradient in a list."""
    first, _ = runnable(scope, p[0])
    second, _ = runnable(scope, p[1])
    if first is None:
        return
    roots = [first] if second is None or second is first else [first, second]
    plan = scope.plan(roots)
    if plan is None:
        return
    retain = ", retain_graph=True" if p[2] < 6 else ""
    if p[3] < 8:
        texts = [rooted(scope, root, 0) for root in roots]
        scope.emit(f"torch.autograd.backward([{', '.join(texts)}]{retain})")
    else:
        names = ", ".join([root.name for root in roots])
        seeds = ", ".join([f"torch.ones_like({root.name})" for root in roots])
        scope.emit(f"torch.autograd.backward([{names}], [{seeds}]{retain})")
    scope.ran(plan, bool(retain))


@action("backward", 2)
def backward_twice(scope, p):
    """Two runs over one graph, the first retaining it."""
    root, plan = runnable(scope, p[0])
    if root is not None:
        text = rooted(scope, root, p[2])
        scope.emit(f"{text}.backward(retain_graph=True)")
        scope.ran(plan, True)
        again = scope.plan([root])  # the first run may have written a saved `.grad`
        if again is not None:
            scope.emit(f"{text}.backward()")
            scope.ran(again)


def targets_of(scope, number, plan, count=1):
    """Live tensors that a run reaches: leaves, and interior tensors whose own edge it uses."""
    chosen = []
    for step in range(count):
        target = scope.pick(
            number + 3 * step,
            lambda tensor: (
                tracked(tensor)
                and not tensor.output
                and tensor not in chosen
                and not is_stale(tensor)
                and (peek(tensor) in plan.leaves or peek(tensor) in plan.nodes)
            ),
        )
        if target is not None:
            chosen.append(target)
    return chosen


def certain(plan):
    """Whether every gradient of the run certainly arrives."""
    return all([node.gives for node in plan.nodes])


@action("backward", 4)
def grad(scope, p):
    """torch.autograd.grad of one or two tensors, bound to names or printed."""
    root, plan = runnable(scope, p[0])
    if root is None:
        return
    targets = targets_of(scope, p[1], plan, 1 + (p[2] < 5))
    if not targets:
        return
    retain = p[3] < 9
    options = ", retain_graph=True" if retain else ""
    text = rooted(scope, root, p[5])
    if p[4] < 5:
        text, options = root.name, f", torch.ones_like({root.name}){options}"
    names = ", ".join([target.name for target in targets])
    restricted = scope.plan([root], [peek(target) for target in targets])
    if restricted is None:
        return
    if not certain(plan) or p[5] < 3:
        options += ", allow_unused=True"
        scope.emit(f"print(torch.autograd.grad({text}, [{names}]{options}))")
    else:
        take_gradients(scope, targets, f"torch.autograd.grad({text}, {{}}{options})", restricted, None)
    scope.ran(restricted, retain, False, False)


def take_gradients(scope, targets, template, plan, carried):
    """Bind the gradients that a call returns; carried tells which have history, and node is that history."""
    results = []
    memory = plan.memory
    for target in targets:
        bounds = Memory(memory.hi, memory.lo, memory.dhi, memory.dlo, memory.rough)
        result = Live(target.shape, target.dtype, bounds, None)
        if carried is not None and carried(target):
            result.node = scope.gradient_node(plan)
        results.append(result)
    names = ", ".join([target.name for target in targets])
    if len(targets) == 1:
        scope.make(template.format(names) + "[0]", results[0])
    else:
        assign_all(scope, template.format(f"[{names}]"), results)
        for result in results:
            result.output = 0


@action("higher", 3)
def grad_create_graph(scope, p):
    """A gradient that can be differentiated again."""
    root, plan = runnable(scope, p[0], True)
    if root is None or not certain(plan):
        return
    targets = targets_of(scope, p[1], plan, 1 + (p[2] < 3))
    if not targets:
        return

    def carried(target):
        at = peek(target)
        return plan.leaves.get(at, False) or plan.nodes.get(at, False)

    take_gradients(scope, targets, f"torch.autograd.grad({rooted(scope, root, 1)}, {{}}, create_graph=True)", plan, carried)


@action("higher", 2)
def second_derivative(scope, p):
    """First and second derivative by a leaf, in two statements."""
    root, plan = runnable(scope, p[0], True)
    if root is None or not certain(plan):
        return
    target = scope.pick(p[1], lambda tensor: leaf(tensor) and plan.leaves.get(tensor, False))
    if target is None:
        return
    template = f"torch.autograd.grad({rooted(scope, root, 1)}, {{}}, create_graph=True)"
    take_gradients(scope, [target], template, plan, lambda _: True)
    first = scope.live[-1]
    then = scope.plan([first])
    if then is None or not scope.grad:
        return
    if p[2] < 8:
        scope.emit(f"print(torch.autograd.grad({first.name}.sum(), {target.name}, allow_unused=True))")
        scope.ran(then, False, False, False)
    else:
        scope.emit(f"{first.name}.sum().backward()")
        scope.ran(then)


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


@action("hooks", 4)
def tensor_hook(scope, p):
    """Tensor.register_hook: prints, replaces, or both."""
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
    text = f"{target.name}.register_hook({text})"
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
        text = NODE_HOOKS[p[1] % len(NODE_HOOKS)].replace("{a}", target.name)
        handle = f"{keep_handle(scope)} = " if p[2] < 4 else ""
        scope.emit(f"{handle}{target.name}.grad_fn.{text}")


@action("hooks", 2)
def accumulate_hook(scope, p):
    """register_post_accumulate_grad_hook on a leaf."""
    target = scope.pick_leaf(p[0])
    shown = ("t.grad", "t.grad is None", "t.is_leaf", "t.requires_grad")[p[1] % 4]
    text = f'lambda t: print("accumulated {target.name}", {shown})'
    handle = f"{keep_handle(scope)} = " if p[2] < 4 else ""
    scope.emit(f"{handle}{target.name}.register_post_accumulate_grad_hook({text})")


@action("hooks", 2)
def retain_grad(scope, p):
    """retain_grad on an interior tensor (a leaf keeps its grad anyway)."""
    target = scope.pick(p[0], lambda tensor: hookable(tensor) and tensor.node is not None) or scope.pick_leaf(p[0])
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
        second = scope.result(source.shape, Memory(memory.hi, memory.lo, memory.dhi + 1, memory.dlo), source, dtype=dtype)
        second.memory.rough = memory.rough
        second.node = node if custom.form == "two" else None
        assign_all(scope, text, [result, second])
    else:
        scope.make(text, result)


def function_node(scope, custom, source, result=None):
    """The node of a custom Function with one tensor input."""
    if not scope.grad or not requires(source):
        return None
    entries = ()
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
    fits = lambda other: other.shape == shape and other.dtype == dtype and usable(other)  # noqa: E731
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
    target = scope.pick(p[0], lambda tensor: writable(tensor) and tensor.base is None and not tensor.flag and not tensor.retains)
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
        scope.emit(f"for x in [{name}, {name}.detach()]:\n    print(x.requires_grad, x.is_leaf, x.sum().item())")


# Looking


LOOKS = (
    "print({a})",
    "print({a}.requires_grad, {a}.is_leaf, {a}._version)",
    "print({a}.tolist())",
    "print({a}.shape, {a}.dtype)",
    "print({a}.stride(), {a}.storage_offset())",
    "print({a}._base is None, {a}._is_view())",
    "print({a}.numel(), {a}.dim())",
)
READING = 2  # the first so many read the grad_fn, which refreshes a stale view


@action("looks", 3)
def look(scope, p):
    """Print a tensor, or facts about it."""
    target = scope.pick(p[0], usable)
    if target is not None:
        number = p[1] % len(LOOKS)
        if number < READING:
            refresh(target)
        scope.emit(LOOKS[number].format(a=target.name))


@action("looks", 3)
def look_at_graph(scope, p):
    """Print names of nodes: the grad_fn, its next functions, the output number."""
    target = scope.pick(p[0], lambda tensor: tracked(tensor) and not is_leaf(tensor))
    if target is None:
        look(scope, p)
        return
    name = target.name
    choices = (
        f"print(type({name}.grad_fn).__name__)",
        f"print([(type(n).__name__, i) for n, i in {name}.grad_fn.next_functions])",
        f"print({name}.grad_fn.name(), {name}.output_nr)",
        f"print(len({name}.grad_fn.next_functions), {name}.retains_grad)",
    )
    scope.emit(choices[p[1] % len(choices)])


@action("looks", 2)
def look_at_grad(scope, p):
    """Print `.grad` of a leaf."""
    target = scope.pick_leaf(p[0])
    scope.emit(f"print({target.name}.grad)" if p[1] < 10 else f"print({target.name}.grad is None)")


@action("looks", 1)
def look_at_identity(scope, p):
    """Print whether two tensors share memory or are one view of the other."""
    one, other = scope.pick(p[0], usable), scope.pick(p[1], usable)
    if one is not None and other is not None:
        shares = f"{one.name}.untyped_storage().data_ptr() == {other.name}.untyped_storage().data_ptr()"
        scope.emit(f"print({one.name}._base is {other.name})" if p[2] < 11 or not numel(one.shape) else f"print({shares})")


# Random numbers


@action("random", 1)
def manual_seed(scope, p):
    """Seed the stream."""
    scope.emit(f"torch.manual_seed({p[0] % 4})")


@action("random", 2)
def random_tensor(scope, p):
    """Draw a tensor: integers in the exact lane, real numbers in the other."""
    shape = scope.shapes[p[0] % len(scope.shapes)]
    end = "" if scope.dtype == "f" else ", dtype=torch.float64"
    flag = p[2] < 8
    memory = Memory(2, 0)
    if scope.exact:
        kind = p[1] % 3
        text = (f"torch.randint(-2, 3, {shape}", f"torch.randperm({2 + p[1] % 3}", f"torch.bernoulli(torch.full({shape}, 0.5)")
        shape = (2 + p[1] % 3,) if kind == 1 else shape
        if kind == 2:
            dtype, text_end, flag = "f", ")", False
        else:
            dtype, text_end, flag = "l", ")", False
        scope.make(text[kind] + text_end, fresh(shape, dtype, memory))
        return
    tensor = fresh(shape, scope.dtype, Memory(2, -40))
    tensor.flag = flag
    text = f"torch.{('rand', 'randn')[p[1] % 2]}({shape}{end}{', requires_grad=True' if flag else ''})"
    tensor.memory.rough = p[1] % 2 == 1
    scope.make(text, tensor)


@action("random", 2)
def dropout(scope, p):
    """dropout with a scale that is a power of two."""
    source = scope.pick(p[0], lambda tensor: floating(tensor) and numel(tensor.shape))
    if source is None:
        return
    old = source.memory
    memory = Memory(old.hi + 1, old.lo, old.dhi + 1, old.dlo, old.rough)
    if not scope.within(memory):
        return
    result = scope.result(source.shape, memory, source)
    if scope.grad and requires(source):
        result.node = Node((edge(source),), (), True, (False,))
    training = ("", ", training=True")[p[1] % 2]
    scope.make(f"F.dropout({source.name}, 0.5{training})", result)
