"""A small library of custom Functions and helpers that generated programs define: right ones and classic
wrong ones.

A definition is emitted once, before its first use. What the model must know of it stands beside the
text.
"""

from textwrap import dedent
from typing import NamedTuple


class Custom(NamedTuple):
    """A custom Function: its text and what its graph node does; bounds as in `ops.Unary`."""

    name: str
    text: str
    form: str = "one"  # one, product, same (returns its input), view, dirty, two, mask
    saves: str = ""  # "s": inputs, "r": the result
    depends: bool = False
    k: int = 1
    up: int = 0
    down: int = 0
    kinked: bool = False
    fault: str = ""  # the kind of error its backward raises
    second_fault: str = ""  # the kind of error differentiating its backward raises
    gives: bool = True  # False: every gradient it returns is None
    max_hi: int = 64
    shift: bool = False


def _custom(name: str, body: str, **facts) -> Custom:
    """Wrap the two methods into a class."""
    methods = dedent(body).strip().replace("\n", "\n    ")
    lines = [line.rstrip() for line in f"class {name}(torch.autograd.Function):\n    {methods}".split("\n")]
    return Custom(name, "\n".join(lines), **facts)


RIGHT = (
    _custom(
        "Double",
        """
        @staticmethod
        def forward(ctx, x):
            return x * 2
        @staticmethod
        def backward(ctx, grad):
            return grad * 2
        """,
        up=1,
    ),
    _custom(
        "Square",
        """
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x
        @staticmethod
        def backward(ctx, grad):
            (x,) = ctx.saved_tensors
            return grad * x * 2
        """,
        saves="s",
        depends=True,
        k=2,
    ),
    _custom(
        "Ramp",
        """
        @staticmethod
        def forward(ctx, x):
            y = x.clamp(min=0.0)
            ctx.save_for_backward(y)
            return y
        @staticmethod
        def backward(ctx, grad):
            (y,) = ctx.saved_tensors
            return torch.where(y > 0, grad, 0.0)
        """,
        saves="r",
        kinked=True,
    ),
    _custom(
        "Product",
        """
        @staticmethod
        def forward(ctx, x, y):
            ctx.save_for_backward(x, y)
            return x * y
        @staticmethod
        def backward(ctx, grad):
            x, y = ctx.saved_tensors
            print("needs", ctx.needs_input_grad)
            return grad * y, grad * x
        """,
        form="product",
        saves="s",
        depends=True,
    ),
    _custom(
        "Scale",
        """
        @staticmethod
        def forward(x, factor):
            return x * factor
        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.factor = inputs[1]
        @staticmethod
        def backward(ctx, grad):
            return grad * ctx.factor, None
        """,
        form="scaled",
        up=1,
    ),
    _custom(
        "Same",
        """
        @staticmethod
        def forward(ctx, x):
            return x
        @staticmethod
        def backward(ctx, grad):
            print("same", tuple(grad.shape))
            return grad
        """,
        form="same",
    ),
    _custom(
        "Flip",
        """
        @staticmethod
        def forward(ctx, x):
            return x.t()
        @staticmethod
        def backward(ctx, grad):
            return grad.t()
        """,
        form="view",
    ),
    _custom(
        "DoubleInPlace",
        """
        @staticmethod
        def forward(ctx, x):
            ctx.mark_dirty(x)
            return x.mul_(2)
        @staticmethod
        def backward(ctx, grad):
            return grad * 2
        """,
        form="dirty",
        up=1,
    ),
    _custom(
        "Both",
        """
        @staticmethod
        def forward(ctx, x):
            return x + 1, x * 2
        @staticmethod
        def backward(ctx, first, second):
            print("both", first, second)
            return first + second * 2
        """,
        form="two",
        up=1,
    ),
    _custom(
        "Lazy",
        """
        @staticmethod
        def forward(ctx, x):
            ctx.set_materialize_grads(False)
            return x + 1, x * 2
        @staticmethod
        def backward(ctx, first, second):
            print("lazy", first is None, second is None)
            return first if second is None else second * 2
        """,
        form="two",
        up=1,
    ),
    _custom(
        "Positive",
        """
        @staticmethod
        def forward(ctx, x):
            mask = x > 0
            ctx.mark_non_differentiable(mask)
            return x * 2, mask
        @staticmethod
        def backward(ctx, grad, unused):
            return grad * 2
        """,
        form="mask",
        up=1,
        kinked=True,
    ),
    _custom(
        "Once",
        """
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x
        @staticmethod
        @torch.autograd.function.once_differentiable
        def backward(ctx, grad):
            (x,) = ctx.saved_tensors
            return grad * x * 2
        """,
        saves="s",
        depends=True,
        k=2,
        second_fault="not-differentiable",
    ),
)

# Wrong in silence: what they do is defined, and engines must agree about it.
WRONG = (
    _custom(
        "Forgets",
        """
        @staticmethod
        def forward(ctx, x):
            return x * 2
        @staticmethod
        def backward(ctx, grad):
            return None
        """,
        up=1,
        gives=False,
    ),
    _custom(
        "Swapped",
        """
        @staticmethod
        def forward(ctx, x, y):
            ctx.save_for_backward(x, y)
            return x * y
        @staticmethod
        def backward(ctx, grad):
            x, y = ctx.saved_tensors
            return grad * x, grad * y
        """,
        form="product",
        saves="s",
        depends=True,
    ),
    _custom(
        "Attribute",
        """
        @staticmethod
        def forward(ctx, x):
            ctx.x = x
            return x * x
        @staticmethod
        def backward(ctx, grad):
            return grad * ctx.x * 2
        """,
        depends=True,
        k=2,
    ),
    _custom(
        "Wide",
        """
        @staticmethod
        def forward(ctx, x):
            return x * 1
        @staticmethod
        def backward(ctx, grad):
            return grad.expand(2, *grad.shape)
        """,
        up=1,
    ),
)

# Wrong aloud: (definition, the kind of error, whether apply itself raises).
FAULTY = (
    (
        _custom(
            "TooFew",
            """
            @staticmethod
            def forward(ctx, x, y):
                return x + y
            @staticmethod
            def backward(ctx, grad):
                return grad
            """,
            form="product",
        ),
        "gradient-mismatch",
        False,
    ),
    (
        _custom(
            "WrongShape",
            """
            @staticmethod
            def forward(ctx, x):
                return x * 2
            @staticmethod
            def backward(ctx, grad):
                return torch.ones(13, dtype=grad.dtype)
            """,
        ),
        "gradient-mismatch",
        False,
    ),
    (
        _custom(
            "NotReturned",
            """
            @staticmethod
            def forward(ctx, x):
                ctx.mark_dirty(x)
                x.mul_(2)
                return x + 1
            @staticmethod
            def backward(ctx, grad):
                return grad
            """,
        ),
        "function-result",
        True,
    ),
    (
        _custom(
            "NoBackward",
            """
            @staticmethod
            def forward(ctx, x):
                return x * 2
            """,
        ),
        "NotImplementedError",
        False,
    ),
    (
        _custom(
            "Raises",
            """
            @staticmethod
            def forward(ctx, x):
                return x * 2
            @staticmethod
            def backward(ctx, grad):
                raise ValueError("no gradient today")
            """,
        ),
        "ValueError",
        False,
    ),
)

# Plain functions: (name, text, grad mode inside or None for the caller's).
HELPERS = (
    ("frozen", "@torch.no_grad()\ndef frozen(x):\n    return x * 2.0", False),
    ("live", "@torch.enable_grad()\ndef live(x):\n    return x * 2.0", True),
    ("switched", "@torch.set_grad_enabled(False)\ndef switched(x):\n    return x * 2.0", False),
    ("twice", "def twice(x):\n    y = x * 2.0\n    return y + x", None),
)
