"""Steps around whole functions: forward mode, torch.func, autograd.functional, checkpoint, hooks on what is
saved, inference mode, complex numbers.

Each writes a small function of one tensor, made of a few of the ops below, and has it transformed. The
tensors are its own and stand at the top level; in the exact lane no op rounds.
"""

from harness.generate.intents import action

# (what is done to `{t}`, whether no engine may round it); all take a tensor of three, and give three. Without
# abs: its second derivative is a zero that PyTorch does not add, so that the sign of zeros beside it stays.
OPS = (
    ("{t} * {t}", True),
    ("{t} * 2.0 - 1.0", True),
    ("-{t}", True),
    ("torch.relu({t})", True),
    ("{t}.clamp(-1.0, 2.0)", True),
    ("{t}.flip(0)", True),
    ("{t}.cumsum(0)", True),
    ("{t}.square()", True),
    ("torch.where({t} > 0.0, {t}, -{t})", True),
    ("{t} * {t}.detach()", True),
    ("{t}.roll(1)", True),
    ("torch.cat([{t}[1:], {t}[:1]])", True),
    ("{t} + {t}.sum()", True),
    ("torch.stack([{t}, {t}]).sum(0)", True),
    ("{t}.view(3, 1).t().squeeze(0)", True),
    ("torch.outer({t}, {t})[1]", True),
    ("{t}.expand(2, 3)[0]", True),
    ("{t} / 2.0", True),
    ("{t}[torch.tensor([2, 0, 0])]", True),
    ("{t}.unbind()[1] * {t}", True),
    ("{t}.maximum({t}.flip(0) * 2.0)", True),
    ("{t}.clone().mul_(2.0)", True),
    ("{t}.clone().add_({t})", True),
    ("{t}.sin()", False),
    ("torch.tanh({t})", False),
    ("{t}.sigmoid()", False),
    ("{t}.softmax(0)", False),
    ("{t}.log_softmax(0)", False),
    ("({t} * 0.5).exp()", False),
    ("({t} * {t} + 1.0).sqrt()", False),
    ("{t} / ({t} * {t} + 1.0)", False),
    ("({t} * {t} + 1.0).log()", False),
    ("torch.addcmul({t}, {t}, {t}, value=0.5)", False),
    ("F.softplus({t})", False),
    ("{t}.atan()", False),
    ("{t} * {t}.norm()", False),
    ("{t} - {t}.mean()", False),
    ("{t}.logsumexp(0) * {t}", False),
    ("({t} * {t} + 1.0) ** 1.5", False),
)
EXACT = tuple(text for text, exact in OPS if exact)
ALL = tuple(text for text, _ in OPS)
POINTS = ("[1.0, -2.0, 0.5]", "[0.5, 1.5, -1.0]", "[2.0, 1.0, -0.5]", "[-1.0, 0.5, 3.0]")


# What saves views of `t` that begin elsewhere: mutation of `t` reaches them in PyTorch, a known difference.
PARTS = ("unbind", "outer", "[")


def composed(scope, p, leave_out: tuple[str, ...] = ()) -> str:
    """Two ops of a tensor `t`, the second of the result of the first."""
    table = EXACT if scope.exact else ALL
    if leave_out:
        table = tuple(text for text in table if not any(word in text for word in leave_out))
    inner = table[(p[0] * 16 + p[1]) % len(table)]
    outer = table[(p[2] * 16 + p[0]) % len(table)]
    return outer.format(t=f"({inner.format(t='t')})") if p[3] % 3 else inner.format(t="t")


def point(scope, p, requires_grad: bool = False) -> str:
    """A tensor of three as text."""
    kind = ", dtype=torch.float64" if scope.dtype == "d" else ""
    return f"torch.tensor({POINTS[p % len(POINTS)]}{kind}{', requires_grad=True' * requires_grad})"


DUALS = (
    "out = {f}",
    "out = torch.zeros_like(t)\n    out.copy_({f})",
    "out = torch.zeros(2, 3, dtype=t.dtype)\n    out[1].copy_({f})",
    "out = t.view(3, 1)[:, 0]\n    out = out * ({f})",
    "out = t * 1.0\n    out.mul_({f})",
    "t = ({f}).detach() + t\n    out = t * t",
)


@action("forward", 1)
def forward_mode(scope, p):
    """A dual tensor through a function, through writes and views."""
    scope.top_level()
    scope.emit("import torch.autograd.forward_ad as fw")
    dual = f"t = fw.make_dual({point(scope, p[5])}, {point(scope, p[5] + 1)})"
    body = DUALS[p[4] % len(DUALS)].format(f=composed(scope, p))
    shown = "print(fw.unpack_dual(out).primal, fw.unpack_dual(out).tangent)"
    if not scope.exact:  # all rounding, maybe
        shown = "primal, tangent = fw.unpack_dual(out)"
    scope.emit(f"with fw.dual_level():\n    {dual}\n    {body}\n    {shown}")


TRANSFORMS = (
    "print(torch.func.grad(lambda t: ({f}).sum())({x}))",
    "print(torch.func.grad_and_value(lambda t: ({f}).sum())({x}))",
    "out, pull = torch.func.vjp(lambda t: {f}, {x})\nprint(out, pull({y}))",
    "print(torch.func.jvp(lambda t: {f}, ({x},), ({y},)))",
    "print(torch.func.jacrev(lambda t: {f})({x}))",
    "print(torch.func.jacfwd(lambda t: {f})({x}) + 0.0)",  # refgrad loses the sign of zeros here
    "print(torch.func.hessian(lambda t: ({f}).sum())({x}) + 0.0)",
    "print(torch.func.vmap(lambda t: {f})(torch.stack([{x}, {y}])))",
    "print(torch.func.vmap(torch.func.grad(lambda t: ({f}).sum()))(torch.stack([{x}, {y}])))",
    "batch = torch.stack([{x}, {y}]).requires_grad_()\nmapped = torch.vmap(lambda t: {f})(batch)\n"
    "mapped.sum().backward()\nprint(batch.grad)",
    "columns = torch.stack([{x}, {y}], 1).requires_grad_()\n"
    "mapped = torch.vmap(lambda t: {f}, in_dims=1, out_dims=1)(columns)",
    "start = {x}.requires_grad_()\nend = (lambda t: {f})(start)\n"
    "rows = torch.autograd.grad(end, start, torch.eye(3, dtype=start.dtype), is_grads_batched=True)",
    "print(torch.func.vmap(torch.func.jacrev(lambda t: {f}))(torch.stack([{x}, {y}])))",
    "batch = torch.stack([{x}, {y}]).requires_grad_()\n"
    "mapped = torch.vmap(torch.func.grad(lambda t: ({f}).sum()))(batch)",
    "print(torch.vmap(torch.func.grad(lambda w, t: (w * ({f})).sum(), argnums=(0, 1)), in_dims=(None, 0))"
    "({y}, torch.stack([{x}, {y}])))",
    "print(torch.vmap(torch.func.grad(lambda t: torch.func.grad(lambda t: ({f}).sum())(t).sum()))"
    "(torch.stack([{x}, {y}])))",
    "print(torch.func.grad(lambda t: torch.func.grad(lambda t: ({f}).sum())(t).sum())({x}))",
    "print(torch.func.grad(lambda t, u: ({f} * u).sum(), argnums=(0, 1))({x}, {y}))",
)


@action("func", 1)
def transform(scope, p):
    """A transform of torch.func."""
    scope.top_level()
    text = TRANSFORMS[p[4] % len(TRANSFORMS)].format(
        f=composed(scope, p), x=point(scope, p[5]), y=point(scope, p[5] + 1)
    )
    for statement in text.split("\n"):
        # In the tolerance lane numbers near zero may be all rounding, which shows in print.
        is_rough = statement.startswith("print(") and not scope.exact
        scope.emit(f"outcome = {statement[5:]}" if is_rough else statement)


FUNCTIONAL = (
    "jacobian(lambda t: {f}, {x})",
    "jacobian(lambda t: {f}, {x}, vectorize=True)",
    "jacobian(lambda t: {f}, {x}, create_graph=True)",
    "hessian(lambda t: ({f}).sum(), {x})",
    "vjp(lambda t: {f}, {x}, {y})",
    "jvp(lambda t: {f}, {x}, {y})",
    "hvp(lambda t: ({f}).sum(), {x}, {y})",
    "vhp(lambda t: ({f}).sum(), {x}, {y})",
)


@action("functional", 1)
def functional(scope, p):
    """A function of torch.autograd.functional."""
    scope.top_level()
    call = FUNCTIONAL[p[4] % len(FUNCTIONAL)]
    call = call.format(f=composed(scope, p), x=point(scope, p[5]), y=point(scope, p[5] + 1))
    call = f"torch.autograd.functional.{call}"
    scope.emit(f"print({call})" if scope.exact else f"outcome = {call}")


BLOCKS = (
    "return {f}",
    "u = {f}\n    return u * t",
    "u = t * 1.0\n    u.mul_(2.0)\n    return {f} + u",
    "u = {f}\n    return u, t * 2.0",
    "with torch.no_grad():\n        u = {f}\n    return t * u",
)


@action("checkpoint", 1)
def checkpointed(scope, p):
    """A function that runs again in backward."""
    scope.top_level()
    scope.emit("from torch.utils.checkpoint import checkpoint")
    body = BLOCKS[p[4] % len(BLOCKS)].format(f=composed(scope, p))
    scope.emit(f"def block(t):\n    print('runs', t.requires_grad, torch.is_grad_enabled())\n    {body}")
    scope.emit(f"first = {point(scope, p[5], True)}")
    kind = "use_reentrant=True" if p[5] % 3 == 0 else "use_reentrant=False"
    scope.emit(f"second = checkpoint(block, first, {kind})")
    scope.emit("third = second[0] * second[1] if isinstance(second, tuple) else second")
    scope.emit("third.sum().backward(retain_graph=True)" if p[5] % 2 else "third.backward(torch.ones(3))")
    scope.emit("try:\n    third.sum().backward()\nexcept RuntimeError as error:\n    print(error)")


MANAGERS = (
    "torch.autograd.graph.saved_tensors_hooks(packed, unpacked)",
    "torch.autograd.graph.saved_tensors_hooks(lambda t: t.clone(), unpacked)",
    "torch.autograd.graph.saved_tensors_hooks(packed, lambda t: t.clone())",
    "torch.autograd.graph.save_on_cpu()",
    "torch.autograd.graph.allow_mutation_on_saved_tensors()",
)


@action("saved", 1)
def saved_hooks(scope, p):
    """Hooks on what is saved: when they run, and on what."""
    scope.top_level()
    scope.define("def packed", "def packed(t):\n    print('pack', t.shape, t.requires_grad)\n    return t")
    scope.define("def unpacked", "def unpacked(t):\n    print('unpack', t.shape)\n    return t")
    scope.emit(f"first = {point(scope, p[5], True)}")
    manager = MANAGERS[p[4] % len(MANAGERS)]
    mutates = "allow_mutation" in manager
    within = "    t.mul_(2.0)\n    second.sum().backward()" if mutates else ""
    function = composed(scope, p, PARTS if mutates else ())
    scope.emit(f"with {manager}:\n    t = first * 1.0\n    second = {function}\n{within}".rstrip())
    if not mutates:
        scope.emit("second.sum().backward(retain_graph=True)")
        scope.emit("second.sum().backward()")


INFERENCE = (
    "second = t * 2.0\nsecond.add_(1.0)",
    "print(second.is_inference(), second.requires_grad, (first * second.clone()).requires_grad)",
    "try:\n    third = first * second\nexcept RuntimeError as error:\n    print(error)",
    "try:\n    second.mul_(2.0)\nexcept RuntimeError as error:\n    print(error)",
    "try:\n    print(second._version)\nexcept RuntimeError as error:\n    print(error)",
    "try:\n    second.requires_grad_()\nexcept RuntimeError as error:\n    print(error)",
    "third = second.view(3)",
    "third = second.clone().requires_grad_()",
)


@action("inference", 1)
def inference(scope, p):
    """What inference mode makes, and what may be done with it outside."""
    scope.top_level()
    scope.emit(f"first = {point(scope, p[5], True)}")
    scope.emit(
        f"with torch.inference_mode():\n    t = {point(scope, p[5] + 1)}\n    second = {composed(scope, p)}"
    )
    for step in range(3):
        text = INFERENCE[1 + (p[4] + 3 * step) % (len(INFERENCE) - 1)]
        scope.emit(text)


# (of a complex `t`, whether no engine may round it)
COMPLEX = (
    ("t * t", True),
    ("t.conj() * t", True),
    ("t.real * t.imag", True),
    ("torch.view_as_real(t).sum(-1)", True),
    ("t * (1.0 + 2.0j)", True),
    ("t - t.conj()", True),
    ("t.conj().imag", True),
    ("torch.complex(t.imag, t.real)", True),
    ("t.resolve_conj() * 2.0", True),
    ("torch.view_as_complex(torch.view_as_real(t) * 2.0)", True),
    ("(t * 1.0).mul_(t)", True),
    ("t.mT.conj() if t.dim() > 1 else t.conj().conj() * 1.0j", True),
    ("t.abs()", False),
    ("t.exp()", False),
    ("t / (t * t.conj() + 1.0)", False),
    ("t.sin()", False),
    ("torch.polar(t.real, t.imag)", False),
)
EXACT_COMPLEX = tuple(text for text, exact in COMPLEX if exact)
ALL_COMPLEX = tuple(text for text, _ in COMPLEX)


@action("complex", 1)
def complex_numbers(scope, p):
    """A function of complex numbers and its gradient."""
    scope.top_level()
    kind = "complex64" if scope.dtype == "f" else "complex128"
    scope.emit(f"first = torch.tensor([1.0 + 2.0j, -0.5j, 2.0], dtype=torch.{kind}, requires_grad=True)")
    table = EXACT_COMPLEX if scope.exact else ALL_COMPLEX
    text = table[(p[0] * 16 + p[1]) % len(table)]
    scope.emit(f"second = (lambda t: {text})(first)")
    if p[2] % 2:
        scope.emit(f"second = second + (lambda t: {table[(p[3] * 16 + p[4]) % len(table)]})(first)")
    scope.emit("second.backward(torch.ones_like(second))" if p[5] % 2 else "second.sum().real.backward()")
