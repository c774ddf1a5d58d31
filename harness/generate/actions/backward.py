"""Steps that run backward: `backward` and `grad` in their argument forms, and higher order."""

from harness.generate import ops, values
from harness.generate.actions.compute import elementwise
from harness.generate.actions.memory import assign_all
from harness.generate.intents import action
from harness.generate.model import Live, Memory, is_stale, leaf, peek, tracked

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


def seen(scope, text: str) -> str:
    """A statement that shows gradients: in the tolerance lane by a name, which is compared with tolerance."""
    return f"print({text})" if scope.exact else f"found = {text}"


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
    scope.emit(
        f"{root.name}.backward({'gradient=' * (p[3] % 2)}{seed}{', retain_graph=True' if retain else ''})"
    )
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
    return all(node.gives for node in plan.nodes)


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
        scope.emit(seen(scope, f"torch.autograd.grad({text}, [{names}]{options})"))
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

    take_gradients(
        scope,
        targets,
        f"torch.autograd.grad({rooted(scope, root, 1)}, {{}}, create_graph=True)",
        plan,
        carried,
    )


CURVED = (ops.Unary("%s ** 2", "s", True, k=2), ops.Unary("%s.pow(3)", "s", True, k=3, up=1))


@action("higher", 2)
def second_derivative(scope, p):
    """First and second derivative by a leaf, in two statements."""
    scope.letters = values.NAMES + values.RESERVE
    differentiate_twice(scope, p)
    scope.letters = values.NAMES


def differentiate_twice(scope, p):
    """The statements of a second derivative; without a root that fits, a power of a leaf is made."""
    root, plan = runnable(scope, p[0], True)
    target = None
    if root is not None and certain(plan):
        target = scope.pick(p[1], lambda tensor: leaf(tensor) and plan.leaves.get(tensor, False))
    if target is None:
        target = scope.pick_leaf(p[1])
        elementwise(scope, CURVED[p[3] % 2], target)
        root = scope.live[-1]
        plan = scope.plan([root], None, True) if scope.grad else None
        if plan is None or target not in scope.live or not plan.leaves.get(target, False):
            return
    template = f"torch.autograd.grad({rooted(scope, root, 1)}, {{}}, create_graph=True)"
    take_gradients(scope, [target], template, plan, lambda _: True)
    first = scope.live[-1]
    then = scope.plan([first])
    if then is None or not scope.grad or target not in scope.live:
        return
    if p[2] < 8:
        text = f"torch.autograd.grad({first.name}.sum(), {target.name}, allow_unused=True)"
        scope.emit(seen(scope, text))
        scope.ran(then, False, False, False)
    else:
        scope.emit(f"{first.name}.sum().backward()")
        scope.ran(then)


# The end


@action("backward", 1)
def finish(scope, p):
    """Backward from all that can be: without it, what a program computed last would show in no gradient."""
    scope.top_level()
    roots = finishing_roots(scope)
    if not roots:
        return
    if p[0] < 5 and finish_twice(scope, p, roots):
        return
    names = ", ".join([root.name for root in roots])
    seeds = ", ".join([values.seed_text(root.shape, p[1] + k, root.dtype) for k, root in enumerate(roots)])
    plan = scope.plan(roots)
    scope.emit(f"torch.autograd.backward([{names}], [{seeds}])")
    scope.ran(plan)


def finishing_roots(scope):
    """The newest interior tensors from which one run can begin, four at most."""
    roots: list[Live] = []
    for tensor in reversed(scope.live):
        if len(roots) == 4:
            break
        fits = tracked(tensor) and tensor.node is not None and peek(tensor) is not None
        if fits and scope.plan([*roots, tensor]) is not None:
            roots.append(tensor)
    return roots


def finish_twice(scope, p, roots):
    """A gradient that can be differentiated, and backward from it; whether that was possible."""
    for root in roots:
        plan = scope.plan([root], None, True)
        if plan is None or not certain(plan) or not scope.grad:
            continue
        fits = lambda tensor, plan=plan: leaf(tensor) and plan.leaves.get(tensor, False)
        target = scope.pick(p[1], fits)
        if target is None:
            continue
        seed = values.seed_text(root.shape, p[2], root.dtype)
        template = f"torch.autograd.grad({root.name}, {{}}, {seed}, create_graph=True)"
        scope.letters = values.NAMES + values.RESERVE
        take_gradients(scope, [target], template, plan, lambda _: True)
        scope.letters = values.NAMES
        first = scope.live[-1]
        then = scope.plan([first])
        if then is not None:
            seed = values.seed_text(first.shape, p[3] | 1, first.dtype)
            scope.emit(f"{first.name}.backward({seed})")
            scope.ran(then)
        return True
    return False
