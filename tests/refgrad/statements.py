"""Programs made of single expressions: at awkward points, and differentiated twice."""

AWKWARD = """
T = torch.tensor
x = T([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
i = T([[1, 2], [3, 4]])
b = T([[True, False], [True, True]])
z = T([1j, 2.0])
h = x.detach().half()
E = torch.empty(0)
E3 = torch.empty(2, 0, 3)
"""


BLOCK = 12  # expressions in one program


def blocks(expressions: str) -> list[str]:
    """The lines of a text in groups."""
    lines = expressions.strip().splitlines()
    return ["\n".join(lines[i : i + BLOCK]) for i in range(0, len(lines), BLOCK)]


def awkward(expressions: str) -> str:
    """A program that evaluates each line on small, empty, 0-dim, integer, bool, complex and half tensors."""
    lines = expressions.strip().splitlines()
    return AWKWARD + "\n".join(f"r{number} = {line}" for number, line in enumerate(lines))


def twice(expression: str) -> str:
    """A program that differentiates an expression in `y`, a non-leaf, and its gradient once more."""
    return f"""
x = torch.tensor([[1.0, -2.0, 3.0], [3.0, 0.5, -1.5]], requires_grad=True)
w = torch.tensor([[0.5, 1.0, -1.0], [2.0, 1.5, 3.0]], requires_grad=True)
y = x * w
r = {expression}
r0 = r[0] if isinstance(r, tuple) else r
g, = torch.autograd.grad((r0 * r0).sum(), x, create_graph=True)
h, = torch.autograd.grad((g * g).sum(), w, retain_graph=True)
"""
