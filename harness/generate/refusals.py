"""Scenes of what is refused: tried by a program that goes on, or the error that a program must raise."""

from harness.generate.scenes import KEEPS, KEPT

# Refusals: each is tried, and what it says is printed; `first` is a leaf of two elements, `second` interior.

REFUSALS = (
    "first.add_(1.0)",
    "first[...].add_(1.0)",
    "first.grad = first",
    "first.grad = torch.ones(5)",
    "first.grad = torch.ones(2, dtype=torch.int64)",
    "first.numpy()",
    "second.requires_grad = False",
    "second.requires_grad_(False)",
    "torch.tensor([1, 2]).requires_grad_()",
    "torch.tensor([1, 2]).mean()",
    "torch.tensor([1, 2]).mul_(0.5)",
    "first.detach().register_hook(print)",
    "first.detach().retain_grad()",
    "first.detach().sum().backward()",
    "second.backward()",
    "second.backward(torch.ones(3))",
    "second.sum().backward(torch.ones(2, 1))",
    "torch.autograd.grad(second.sum(), [first, other])",
    "torch.autograd.backward([second.sum(), second.sum()], [None])",
    "first.sum(3)",
    "first.transpose(0, 2)",
    "first + torch.ones(3)",
    "second.add_(torch.ones(3, 2))",
    "second.item()",
    "second.split(1)[0].mul_(2.0)",
    "second[:1].detach_()",
    "second.expand(2, 2).mul_(2.0)",
    "memory[1:].copy_(memory[:-1])",
    "second.view(3)",
    "memory[:, 0]",
    "moved.sum().backward()",
    "refused.sum().backward()",
    "import copy\n    copy.deepcopy(second)",
)


# Scenes that end in an error: the kind, and texts of statements.

FAULTY_SCENES = (
    (
        "version-mismatch",
        """
        where = torch.tensor([0, 1])
        first = torch.ones(3, requires_grad=True)
        second = first[where]
        where.add_(1)
        second.sum().backward()
        """,
    ),
    (
        "version-mismatch",
        KEPT,
        "first = {x}\nsecond = Kept.apply(first)\nsecond.mul_(2.0)\nsecond.sum().backward()",
    ),
    (
        "version-mismatch",
        KEEPS,
        """
        first = {x}
        second = first * 2.0
        third = Keeps.apply(second)
        second.mul_(2.0)
        third.sum().backward()
        """,
    ),
    (
        "freed-graph",
        KEEPS,
        "first = {x}\nsecond = Keeps.apply(first)\nsecond.sum().backward()\nsecond.sum().backward()",
    ),
    (
        "freed-graph",
        """
        first = {x}
        second = first + 1.0
        second[...].mul_(3.0)
        second.sum().backward()
        second.sum().backward()
        """,
    ),
    (
        "freed-graph",
        """
        first = {x}
        second = first * first
        slope = torch.autograd.grad(second.sum(), first)
        second.sum().backward()
        """,
    ),
    ("leaf-inplace", "first = {x}\nfirst[...].add_(1.0)"),
    (
        "leaf-inplace",
        """
        class Dirty(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                ctx.mark_dirty(x)
                return x.mul_(2.0)
            @staticmethod
            def backward(ctx, grad):
                return grad * 2.0
        first = {x}
        Dirty.apply(first)
        """,
    ),
    (
        "view-inplace",
        """
        first = {x} * 2.0
        with torch.no_grad():
            second = first[...]
        third = second[...]
        third.mul_(2.0)
        """,
    ),
    ("overlap", "first = torch.arange(4.0)\nfirst[1:].add_(first[:-1])"),
    (
        "hook-result",
        """
        first = {x}
        hook = first.register_hook(lambda g: g[None].expand(2, *g.shape))
        (first * 2.0).sum().backward()
        """,
    ),
    (
        "hook-result",
        "first = {x}\nhook = first.register_hook(lambda g: g.half())\n(first * 2.0).sum().backward()",
    ),
    ("TypeError", "first = {x}\nhook = first.register_hook(lambda g: 1.0)\n(first * 2.0).sum().backward()"),
    (
        "gradient-mismatch",
        """
        class Number(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x, k):
                return x * k
            @staticmethod
            def backward(ctx, grad):
                return grad, grad
        first = {x}
        Number.apply(first, 2.0).sum().backward()
        """,
    ),
    (
        "gradient-mismatch",
        """
        class Loose(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                return x * 2.0
            @staticmethod
            def backward(ctx, grad):
                return 2.0
        first = {x}
        Loose.apply(first).sum().backward()
        """,
    ),
    ("grad-assignment", "first = {x}\nfirst.grad = torch.ones(5, 1, dtype=first.dtype)"),
    ("no-grad", "first = {x}.detach()\nfirst.retain_grad()"),
    (
        "shape",
        "first = torch.ones(2, requires_grad=True)\nsecond = first * 1.0\nsecond.add_(torch.ones(3, 2))",
    ),
    ("leaf-flag", "first = {x}\nsecond = first * 2.0\nsecond.requires_grad_(False)"),
    ("shape", "first = torch.ones(2, 2)\nfirst.item()"),
    ("dtype", "first = torch.tensor([1, 2])\nfirst.mean()"),
    ("dtype", "first = torch.tensor([1, 2])\nfirst.mul_(0.5)"),
)
