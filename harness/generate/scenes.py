"""Scenes: a few statements each, under names that no other step uses, so valid whatever is alive.

They bring what tensors picked at random seldom meet: awkward points, mixed dtypes, rules that need several
statements. `{x}` and `{y}` stand for leaves of literal numbers. Adding one is adding a row.
"""

from textwrap import dedent

# Awkward points: (the numbers, what is computed of them, whether no engine may round it).

ZEROS, TIES, SIGNS = "[0.0, 0.0]", "[2.0, 0.0, 2.0, -1.0]", "[-1.0, 0.0, 2.0]"
ROWS = "[[1.0, 1.0], [0.0, 2.0]]"
AWKWARD = (
    (SIGNS, "torch.relu({x})", True),
    (SIGNS, "{x}.abs()", True),
    (SIGNS, "({x} * 1.0).abs_()", True),
    (SIGNS, "F.leaky_relu({x}, 0.5)", True),
    (SIGNS, "{x}.clamp(-1.0, 2.0)", True),
    (SIGNS, "{x}.clamp(min=0.0)", True),
    (SIGNS, "{x}.clamp(max=0.0)", True),
    (SIGNS, "F.hardtanh({x}, -1.0, 2.0)", True),
    (SIGNS, "torch.maximum({x}, torch.zeros(3))", True),
    (SIGNS, "torch.minimum(torch.zeros(3), {x})", True),
    (SIGNS, "{x} ** 0", True),
    (SIGNS, "{x}.sign()", True),
    (SIGNS, "torch.where({x} > 0.0, {x}, {x} * 2.0)", True),
    (SIGNS, "{x}.prod()", True),
    (SIGNS, "{x}.cumprod(0)", True),
    (TIES, "{x}.max()", True),
    (TIES, "{x}.min()", True),
    (TIES, "{x}.max(0).values", True),
    (TIES, "{x}.amax(0)", True),
    (TIES, "{x}.sort(stable=True).values", True),
    (TIES, "{x}.view(2, 2).max(0).values", True),
    (TIES, "{x}.mean()", True),
    (TIES, "{x}.view(2, 2).mean()", True),
    (TIES, "{x}.scatter_add(0, torch.tensor([1, 1]), torch.ones(2))", True),
    (TIES, "{x}.gather(0, torch.tensor([1, 1, 0]))", True),
    (TIES, "{x}[torch.tensor([2, 2])]", True),
    (TIES, "{x}.index_select(0, torch.tensor([3, 3]))", True),
    (TIES, "{x}.index_add(0, torch.tensor([0, 0]), torch.ones(2))", True),
    (ROWS, "{x}.max(1).values", True),
    (ROWS, "{x}.min(0).values", True),
    (ROWS, "{x}.amin(1)", True),
    (ROWS, "{x}.sum(1)", True),
    (ROWS, "{x}.cumsum(1)", True),
    (ROWS, "{x}.mean()", True),
    (ROWS, "torch.add({x}.t(), {x}, alpha=2.0)", True),
    (ZEROS, "{x}.norm()", False),
    (ZEROS, "{x}.std()", False),
    (ZEROS, "{x}.sqrt()", False),
    (ZEROS, "{x}.pow(0.5)", False),
    (ZEROS, "{x}.log()", False),
    (ZEROS, "1.0 / {x}", False),
    (ZEROS, "{x}.logsumexp(0)", False),
    (ZEROS, "F.binary_cross_entropy({x}, torch.ones(2))", False),
    ("[1000.0, 1.0]", "{x}.softmax(0)", False),
    ("[1000.0, -1000.0]", "{x}.log_softmax(0)", False),
    ("[1e-40, 2.0]", "{x} * {x}", False),
    ('[float("inf"), 1.0]', "{x} * 0.0", False),
    ('[float("nan"), 1.0]', "{x}.clamp(min=0.0)", False),
    ('[float("nan"), 1.0]', "{x}.max()", False),
    (ROWS, "{x}.var(1)", False),
    (ROWS, "{x}.std(0)", False),
    (ROWS, "{x}.var(0, unbiased=False)", False),
    (ROWS, "F.cross_entropy({x}, torch.tensor([1, -100]))", False),
    (ROWS, '{x}.norm("fro")', False),
    (ROWS, "{x} / ({x} + 1.0)", False),
)


# Second order: a function of a leaf, differentiated twice.

CURVED = (
    "first * first * first",
    "torch.relu(first) * first",
    "first[1] * first[1]",
    "F.mse_loss(first, torch.zeros(3), reduction='sum')",
    "(first * torch.tensor([[1.0], [2.0]])).square()",
    "written(first)",
    "first.tanh()",
    "first.sigmoid()",
    "first.exp()",
    "first.softmax(0)",
    "first.log_softmax(0)",
    "F.gelu(first)",
    "F.softplus(first)",
    "Kept.apply(first)",
)
WRITTEN = dedent("""\
    def written(t):
        u = t * t
        u[:2].mul_(t[:2])
        return u""")
KEPT = dedent("""\
    class Kept(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            y = x * x
            ctx.save_for_backward(y)
            return y
        @staticmethod
        def backward(ctx, grad):
            (y,) = ctx.saved_tensors
            return grad * y""")

KEEPS = KEPT.replace("save_for_backward(y)", "save_for_backward(x)").replace("Kept", "Keeps")


# Mixed dtypes: printed, or differentiated by `first` (float32) or `wide` (float64).

HOOKED = "third = first * 2.0\nhook = third.register_hook(lambda g: print(g.dtype))\n"
MIXED = (
    "print(whole * 0.5, whole / 2, whole * 2, 0.5 + whole)",
    "print(whole.sum(), (whole > 1).sum(), (whole > 1).cumsum(0))",
    "print((whole > 1) * whole, (whole > 1) + 1, -whole)",
    "print(torch.where(whole > 1, whole, 0.5), whole.clamp(min=1.5))",
    "print(whole / whole, whole ** 2, whole.sqrt().dtype)",
    "print((whole.to(torch.int32) + whole).dtype, whole.to(torch.int32).sum().dtype)",
    "print((whole + first).dtype, (first + whole).dtype, (first * True).dtype)",
    "print((first * torch.tensor(2.0, dtype=torch.float64)).dtype)",
    "print((whole * torch.tensor(2.0, dtype=torch.float64)).dtype)",
    "print((torch.tensor(2) * torch.tensor(0.5)).dtype, (torch.tensor(2.0) * wide).dtype)",
    "print(torch.result_type(first, wide), torch.promote_types(torch.int64, torch.float32))",
    "(first * wide).sum().backward()",
    "(first + wide).backward(torch.ones(3, dtype=torch.float64))",
    "(wide * first * whole).sum().backward()",
    "torch.where(whole > 1, first, wide).sum().backward()",
    "(first.double() * wide).sum().backward()",
    "(first * wide[:, None]).sum().backward()",
    "torch.cat([first, wide]).sum().backward()",
    "torch.maximum(first, wide).sum().backward()",
    "(first / wide).square().sum().backward()",
    f"{HOOKED}(third * wide).sum().backward()",
    f"{HOOKED}(wide - third).sum().backward()",
)


# Everything else


def scene(text: str) -> tuple[str, ...]:
    """The statements of a text: what is indented belongs to the statement above it."""
    found: list[str] = []
    for line in filter(None, dedent(text).strip().splitlines()):
        if line.startswith((" ", ")")) or found and found[-1].startswith("@") and "\n" not in found[-1]:
            found[-1] += f"\n{line}"
        else:
            found.append(line)
    return tuple(found)


FUNCTIONS = """
class Odd(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        print("forward", torch.is_grad_enabled(), x.requires_grad)
        ctx.save_for_backward(x)
        ctx.save_for_backward(x * 2.0, None)
        return x * 2.0, x > 0.0, x * 3.0
    @staticmethod
    def backward(ctx, grad, *others):
        kept, nothing = ctx.saved_tensors
        print("backward", torch.is_grad_enabled(), kept, nothing, len(others), ctx.needs_input_grad)
        return grad * 2.0 + others[-1], None, None
class Fixed(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        y = x * 3.0
        ctx.mark_non_differentiable(y)
        return x * 2.0, y
    @staticmethod
    def backward(ctx, grad, other):
        print("other", other)
        return grad * 2.0
class Drop(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.mark_dirty(x)
        return x.mul_(2.0)
    @staticmethod
    def backward(ctx, grad):
        return None
"""

TIMES = """
class Times(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, y):
        ctx.save_for_backward(x, y)
        return x * y
    @staticmethod
    def backward(ctx, grad):
        x, y = ctx.saved_tensors
        print("needs", ctx.needs_input_grad)
        return grad * y, grad * x
"""

SCENES = tuple(
    map(
        scene,
        (
            """
            kept = []
            first = {x}
            second = first * 2.0
            third = second * 3.0
            fourth = second.clone()
            handle = fourth.register_hook(lambda g: kept.append(g.detach()))
            ((fourth * fourth).sum() + third.sum()).backward()
            """,
            """
            kept = []
            first = torch.ones(2, 2, requires_grad=True)
            second = first * 2.0
            third = second * 3.0
            fourth = second.view(-1)
            handle = fourth.register_hook(lambda g: kept.append(g))
            ((fourth * fourth).sum() + third.sum()).backward()
            """,
            """
            kept = []
            first = {x}
            second = first * 2.0
            handle = second.register_hook(lambda g: kept.append(g.detach()))
            third = second.clone()
            (third * third).sum().backward()
            (third.detach() * 2.0 + first).sum().backward()
            """,
            """
            first = torch.ones(1, 1, requires_grad=True)
            second = torch.ones(2, 3)
            (first * second).backward(torch.tensor([[1.0, 2.0, 3.0], [0.0, 1.0, -1.0]]))
            """,
            """
            first = {x}
            (first * first * first).sum().backward(create_graph=True)
            (first * 2.0).backward(torch.ones_like(first), create_graph=True)
            print(first.grad.grad_fn, [type(f).__name__ for f, _ in first.grad.grad_fn.next_functions])
            """,
            TIMES
            + """
first = {x}
second = Times.apply(torch.ones_like(first), first)
print([f is None for f, _ in second.grad_fn.next_functions])
second.sum().backward()
            """,
            """
            first, second = (torch.ones(3, requires_grad=True) * 2.0).split([2, 1])
            (second * torch.tensor([1.0, 2.0, 3.0])).sum().backward()
            """,
            """
            first = {x}.detach()
            second = first * 2.0
            second.add_(1.0)
            second.data = first
            print(second._version)
            """,
            """
            first = {x}
            second = torch.zeros_like(first).data
            second.add_(1.0)
            third = first * second
            third.sum().backward()
            """,
            """
            import copy
            first = {x}
            (first * 2.0).sum().backward()
            second = copy.deepcopy(first)
            third = copy.copy(first)
            second.grad.zero_()
            """,
            """
            with torch.inference_mode():
                first = torch.ones(2)
                second = first * 2.0
            third = torch.ones(2)
            print(first.is_inference(), second.is_inference(), third.is_inference())
            """,
            """
            first = {x}
            with torch.no_grad():
                with torch.enable_grad():
                    second = first * 2.0
                third = first * 2.0
                with torch.no_grad():
                    fourth = first * 2.0
                fifth = first * 2.0
            """,
            """
            first = {x}
            second = first * 2.0
            third = second.view(second.shape)
            second.mul_(2.0)
            with torch.no_grad():
                print(type(third.grad_fn).__name__, torch.is_grad_enabled())
                fourth = first * 2.0
            """,
            """
            first = {x}
            second, third = first * 2.0, first * 3.0
            handle = torch.autograd.graph.register_multi_grad_hook(
                (second, third), lambda g: print("any", g), mode="any"
            )
            both = (second, third)
            handle = torch.autograd.graph.register_multi_grad_hook(both, lambda gs: print("all", gs))
            (second + third).sum().backward()
            """,
            """
            first = {x}
            second = first * 2.0
            def once(g):
                print("once", g)
                handle.remove()
            handle = second.register_hook(once)
            other_hook = second.register_hook(lambda g: print("always", g))
            second.sum().backward(retain_graph=True)
            second.sum().backward()
            """,
            """
            first = {x}
            second = first * 2.0
            def doubled(gi, go):
                return tuple(None if g is None else g * 2.0 for g in gi)
            handle = second.grad_fn.register_hook(doubled)
            handle = second.grad_fn.register_hook(lambda gi, go: print("after", gi, go))
            handle = second.grad_fn.register_prehook(lambda go: (go[0] * 3.0,))
            handle = second.grad_fn.register_prehook(lambda go: print("before", go))
            second.sum().backward()
            """,
            """
            first = {x}
            second = first * 2.0
            handle = second.register_hook(lambda g: print("old", g))
            second.mul_(3.0)
            other_hook = second.register_hook(lambda g: print("new", g))
            handle.remove()
            handle.remove()
            second.sum().backward()
            """,
            """
            first = {x}
            second = first * 2.0
            second.retain_grad()
            second.mul_(3.0)
            third = second * second
            third.sum().backward(retain_graph=True)
            third.sum().backward()
            """,
            """
            first = {x}
            handle = first.register_post_accumulate_grad_hook(lambda t: print("one", t.grad))
            handle = first.register_post_accumulate_grad_hook(lambda t: print("two", t is first))
            (first * 2.0).sum().backward()
            """,
            FUNCTIONS
            + """
first = {x}
second, third, fourth = Odd.apply(first)
(second + fourth).sum().backward()
print(torch.is_grad_enabled(), third.requires_grad)
""",
            FUNCTIONS
            + """
first = {x}
second, third = Fixed.apply(first)
print(second.requires_grad, third.requires_grad)
second.sum().backward()
""",
            FUNCTIONS
            + """
first = torch.ones(3, requires_grad=True)
second = first * 1.0
third = Drop.apply(second[:2])
second.sum().backward()
""",
            """
            first, second = {x}, {y}
            print(torch.autograd.grad(first.sum(), [first, second], materialize_grads=True))
            """,
            """
            first = {x}
            second = first * 2.0
            print(second.contiguous() is second, second.to(second.dtype) is second, second.detach() is second)
            print(second.grad is None)
            """,
            """
            first = {x}
            second = first.unsqueeze(0).expand(2, *first.shape)
            third = torch.ones(1, 3).expand(2, 3)
            print(second.stride(), third.stride(), torch.ones(2, 1).expand(-1, 3).stride())
            """,
            """
            first = {x}
            second = first.detach().requires_grad_()
            second.requires_grad_(False)
            third = second * first
            second.requires_grad_()
            third.sum().backward()
            """,
            """
            first = {x}
            with torch.autograd.graph.saved_tensors_hooks(lambda t: t * 2.0, lambda t: t):
                second = first * first
            second.sum().backward()
            """,
            """
            from torch.utils.checkpoint import checkpoint
            first = {x}
            second = checkpoint(lambda t: t * t, first, use_reentrant=False)
            second.sum().backward()
            """,
        ),
    )
)
