"""Steps that make tensors: literals, factories, awkward layouts, random numbers."""

from harness.generate import values
from harness.generate.intents import action
from harness.generate.model import Live, Memory, fresh
from harness.generate.values import FLOATS

# Creation


@action("creation", 5)
def leaf_literal(scope, p):
    """A leaf of literal numbers; most require grad."""
    scope.leaf(p[1], p[2] < 11, scope.shapes[p[0] % len(scope.shapes)])


@action("creation", 2)
def factory(scope, p):
    """zeros, ones, full, arange, eye, linspace."""
    shape = scope.shapes[p[0] % len(scope.shapes)]
    options = "" if scope.dtype == "f" else ", dtype=torch.float64"
    flag = p[2] < 8
    options += ", requires_grad=True" if flag else ""
    kind = p[1] % 6
    if kind < 2:
        text = f"torch.{('zeros', 'ones')[kind]}({shape}{options})"
    elif kind == 2:
        text = f"torch.full({shape}, 2.0{options})"
    elif kind == 3:
        shape, text = (3,), f"torch.arange(3.0{options})"
    elif kind == 4:
        shape, text = (2, 2), f"torch.eye(2{options})"
    else:
        shape, text = (3,), f"torch.linspace(-1.0, 1.0, 3{options})"
    tensor = fresh(shape, scope.dtype, Memory(2, 0))
    tensor.flag = flag
    scope.make(text, tensor)


@action("creation", 2)
def like(scope, p):
    """zeros_like, ones_like, full_like of a live tensor."""
    source = scope.pick_float(p[0])
    text = ("torch.ones_like(%s)", "torch.zeros_like(%s)", "torch.full_like(%s, 2.0)", "%s.new_ones(2)")[
        p[1] % 4
    ]
    shape = (2,) if p[1] % 4 == 3 else source.shape
    tensor = Live(shape, source.dtype, Memory(2, 0), scope.layout(shape, source))
    scope.make(text % source.name, tensor)


@action("creation", 2)
def other_dtype(scope, p):
    """An integer or bool tensor; in the exact lane also the other float dtype."""
    shape = scope.shapes[p[0] % len(scope.shapes)]
    dtype = "llib"[p[1] % 4]
    if scope.exact and p[2] < 4:
        dtype = "d" if scope.dtype == "f" else "f"
    tensor = fresh(shape, dtype, Memory(2, -1 if dtype in FLOATS else 0))
    tensor.flag = dtype in FLOATS and p[3] < 8
    text = values.tensor_text(shape, p[4], dtype, tensor.flag)
    if dtype == "f" and scope.dtype == "d":
        text = text[:-1] + ", dtype=torch.float32)"
    scope.make(text, tensor)


@action("creation", 1)
def strided_leaf(scope, p):
    """A leaf that is not contiguous, or is empty, or has a size of one."""
    end = "" if scope.dtype == "f" else ", dtype=torch.float64"
    choices = (
        (f"torch.arange(6.0{end}).reshape(2, 3).t()", (3, 2), (1, 3)),
        (f"torch.arange(6.0{end})[::2]", (3,), (2,)),
        (f"torch.ones((0, 3){end})", (0, 3), (3, 1)),
        (f"torch.full((1, 1), 3.0{end})", (1, 1), (1, 1)),
        (f"torch.arange(4.0{end}).reshape(2, 2).t()", (2, 2), (1, 2)),
    )
    text, shape, strides = choices[p[0] % 5]
    tensor = Live(shape, scope.dtype, Memory(3, 0), strides)
    if p[1] < 10:
        text += ".detach().requires_grad_()"
        tensor.flag = True
    elif "t()" in text or "::" in text:
        tensor.base = fresh((6,), scope.dtype, tensor.memory)
        tensor.base.version = tensor.version
        tensor.kind = 0 if scope.grad else 1
    scope.make(text, tensor)


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
    if scope.exact:
        text, shape, dtype = (
            (f"torch.randint(-2, 3, {shape})", shape, "l"),
            ("torch.randperm(3)", (3,), "l"),
            (f"torch.bernoulli(torch.full({shape}, 0.5))", shape, "f"),
        )[p[1] % 3]
        scope.make(text, fresh(shape, dtype, Memory(2, 0)))
        return
    tensor = fresh(shape, scope.dtype, Memory(2, -40))
    tensor.flag = flag
    text = f"torch.{('rand', 'randn')[p[1] % 2]}({shape}{end}{', requires_grad=True' if flag else ''})"
    tensor.memory.rough = p[1] % 2 == 1
    scope.make(text, tensor)
