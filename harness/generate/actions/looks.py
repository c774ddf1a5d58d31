"""Steps that look: values, flags, names of nodes, `.grad`, identity."""

from harness.generate.intents import action
from harness.generate.model import is_leaf, refresh, tracked, usable
from harness.generate.values import numel

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
        text = LOOKS[number].format(a=target.name)
        # In the tolerance lane the last of all digits of a number is another one.
        scope.emit(text if scope.exact else text.replace(".tolist()", ".numel()"))


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
        scope.emit(
            f"print({one.name}._base is {other.name})"
            if p[2] < 11 or not numel(one.shape)
            else f"print({shares})"
        )
