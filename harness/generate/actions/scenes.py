"""Steps that bring tensors of their own, which stand at the top level: see `generate/scenes.py`."""

from harness.generate import values
from harness.generate.actions.faults import FAULTS, raises
from harness.generate.intents import action
from harness.generate.refusals import FAULTY_SCENES, REFUSALS
from harness.generate.scenes import (
    AWKWARD,
    CURVED,
    KEPT,
    MIXED,
    SCENES,
    WRITTEN,
    scene,
)


@action("awkward", 4)
def awkward(scope, p):
    """An op at a tie, a bound, a zero or a number that is none, and its gradient."""
    table = [row for row in AWKWARD if row[2] or not scope.exact]
    numbers, text, _ = table[(p[0] * 16 + p[1]) % len(table)]
    scope.top_level()
    scope.emit(f"point = torch.tensor({numbers}, requires_grad=True)")
    scope.emit(f"there = {text.format(x='point')}")
    scope.emit("there.backward(torch.ones_like(there))" if p[2] % 2 else "(there * 2.0).sum().backward()")


@action("higher", 2)
def bend(scope, p):
    """A second derivative of a function of its own."""
    text = CURVED[p[0] % (6 if scope.exact else len(CURVED))]
    scope.top_level()
    for name, definition in (("Kept", KEPT), ("written", WRITTEN)):
        if name in text:
            scope.define(name, definition)
    scope.emit("first = torch.tensor([1.0, -1.0, 0.5], requires_grad=True)")
    scope.emit(f"second = {text}")
    if p[1] % 2:
        scope.emit("second = second * 1.0")
        scope.emit("second.retain_grad()")
        scope.emit("(second * second).sum().backward(create_graph=True)")
        scope.emit("first.grad.sum().backward()")
    else:
        scope.emit("slope = torch.autograd.grad((second * second).sum(), first, create_graph=True)[0]")
        scope.emit("slope.backward(torch.tensor([1.0, 2.0, 3.0]))")


@action("mixed", 3)
def mixed(scope, p):
    """Operands of several dtypes and ranks."""
    scope.top_level()
    scope.emit("whole = torch.tensor([1, 2, 3])")
    scope.emit("first = torch.tensor([1.0, -2.0, 4.0], requires_grad=True)")
    scope.emit("wide = torch.tensor([0.5, 2.0, 1.0], dtype=torch.float64, requires_grad=True)")
    start = p[0] * 16 + p[1]
    exact = [text for text in MIXED if not ("sqrt" in text or "first / wide" in text)]
    table = exact if scope.exact else MIXED
    for step in range(2):
        for text in table[(start + 7 * step) % len(table)].split("\n"):
            scope.emit(text)


def leaves(scope, p):
    """Two leaves, as text."""
    shapes = [shape for shape in scope.shapes if values.numel(shape)]
    texts = [values.tensor_text(shapes[n % len(shapes)], n, scope.dtype, True) for n in p[:2]]
    return dict(zip("xy", texts, strict=True))


def play(scope, p, statements) -> None:
    """Emit a scene; its last statement is left to the caller when it must raise."""
    operands = leaves(scope, p)
    for text in statements:
        name = text.split("(")[0].removeprefix("class ")
        if text.startswith("class "):
            scope.define(name, text)
        else:
            scope.emit(text.replace("{x}", operands["x"]).replace("{y}", operands["y"]))


@action("scenes", 4)
def perform(scope, p):
    """A scene."""
    scope.top_level()
    play(scope, p[2:], SCENES[(p[0] * 16 + p[1]) % len(SCENES)])


@action("refusals", 3)
def refuse(scope, p):
    """Three things that are refused, by a program that goes on."""
    scope.top_level()
    scope.emit(
        "first, other = torch.tensor([1.0, 2.0], requires_grad=True), torch.ones(2, requires_grad=True)"
    )
    scope.emit("second, memory = first * 2.0, torch.arange(4.0)")
    scope.emit("part = torch.ones(3)[:2].requires_grad_()")
    scope.emit("moved = part * 2.0")
    scope.emit("part._base.mul_(torch.ones(3, requires_grad=True))")
    scope.emit("refused = first * 1.0")
    scope.emit("hook = refused.register_hook(lambda g: g[:1])")
    start = p[0] * 16 + p[1]
    for step in range(3):
        text = REFUSALS[(start + 11 * step) % len(REFUSALS)]
        scope.emit(f"try:\n    {text}\nexcept Exception as error:\n    print(type(error).__name__, error)")


def faulty(kind, *texts):
    """The fault of a scene."""

    def fault(scope, p):
        *before, last = [statement for text in texts for statement in scene(text)]
        play(scope, p, before)
        operands = leaves(scope, p)
        return raises(scope, last.replace("{x}", operands["x"]).replace("{y}", operands["y"]), kind)

    fault.__name__ = f"scene_{kind}"
    return fault


FAULTS += [faulty(*row) for row in FAULTY_SCENES]
