"""Matrix products: values, graphs, saved values, first and second derivatives, errors."""

import pytest

from tests.refgrad.against_torch import agree
from tests.refgrad.gradient_programs import gradients

LEFT = [(3,), (2, 3), (5, 2, 3), (4, 5, 2, 3), (1, 2, 3), (0, 2, 3)]
RIGHT = [(3,), (3, 2), (5, 3, 2), (4, 5, 3, 2), (1, 3, 2), (5, 1, 3, 2)]


@pytest.mark.parametrize("left", LEFT, ids=str)
@pytest.mark.parametrize("right", RIGHT, ids=str)
def test_matmul_of_any_ranks(left, right):
    agree(gradients("torch.matmul(a, b)", a=left, b=right))


@pytest.mark.parametrize("left", LEFT[:4], ids=str)
@pytest.mark.parametrize("right", RIGHT[:4], ids=str)
def test_matmul_folds_only_where_it_costs_no_copy(left, right):
    agree(gradients("torch.matmul(a, b.detach())", a=left, b=right))
    agree(gradients("torch.matmul(a.detach(), b)", a=left, b=right))
    if len(left) == 3:
        agree(gradients("a.transpose(0, 1) @ b.detach()", a=(left[1], left[0], left[2]), b=right))


@pytest.mark.parametrize(
    "expression, inputs",
    [
        ("a.mm(b)", {"a": (2, 3), "b": (3, 2)}),
        ("a.t().mm(b.t())", {"a": (3, 2), "b": (2, 3)}),
        ("a.bmm(b)", {"a": (2, 2, 3), "b": (2, 3, 2)}),
        ("a.mv(b)", {"a": (2, 3), "b": (3,)}),
        ("a.dot(b)", {"a": (3,), "b": (3,)}),
        ("torch.vdot(a, b)", {"a": (3,), "b": (3,)}),
        ("a.outer(b)", {"a": (3,), "b": (2,)}),
        ("torch.ger(a, b)", {"a": (3,), "b": (2,)}),
        ("torch.addmm(a, b, c)", {"a": (2,), "b": (2, 3), "c": (3, 2)}),
        ("torch.addmm(a, b, c, beta=2, alpha=3)", {"a": (2, 2), "b": (2, 3), "c": (3, 2)}),
        ("torch.addmm(a, b, c, beta=0)", {"a": (2, 2), "b": (2, 3), "c": (3, 2)}),
        ("torch.addmv(a, b, c, beta=2, alpha=3)", {"a": (2,), "b": (2, 3), "c": (3,)}),
        ("torch.addr(a, b, c, beta=2, alpha=3)", {"a": (2, 3), "b": (2,), "c": (3,)}),
        ("torch.baddbmm(a, b, c, alpha=3)", {"a": (2, 2), "b": (2, 2, 3), "c": (2, 3, 2)}),
        ("torch.addbmm(a, b, c, beta=.5)", {"a": (2,), "b": (2, 2, 3), "c": (2, 3, 2)}),
        ("(a * 1).addmm_(b, c)", {"a": (2, 2), "b": (2, 3), "c": (3, 2)}),
        ("(a * 1).addmv_(b, c, alpha=2)", {"a": (2,), "b": (2, 3), "c": (3,)}),
        ("(a * 1).addr_(b, c)", {"a": (2, 3), "b": (2,), "c": (3,)}),
        ("(a * 1).baddbmm_(b, c)", {"a": (2, 2, 2), "b": (2, 2, 3), "c": (2, 3, 2)}),
        ("torch.inner(a, b)", {"a": (2, 3), "b": (4, 3)}),
        ("torch.inner(a, b)", {"a": (), "b": (4, 3)}),
        ("torch.kron(a, b)", {"a": (2, 2), "b": (3,)}),
        ("torch.tensordot(a, b, 2)", {"a": (2, 3, 4), "b": (3, 4, 2)}),
        ("torch.tensordot(a, b, ([0, 2], [1, 0]))", {"a": (2, 3, 4), "b": (4, 2)}),
        ("torch.tensordot(a, b, ([1], [0]))", {"a": (2, 1), "b": (3, 2)}),
        ("torch.linalg.multi_dot([a, b, c])", {"a": (2, 3), "b": (3, 4), "c": (4,)}),
        ("F.linear(a, b)", {"a": (3,), "b": (4, 3)}),
        ("F.linear(a, b)", {"a": (2, 3), "b": (4, 3)}),
        ("F.linear(a, b, c)", {"a": (2, 3), "b": (4, 3), "c": (4,)}),
        ("F.linear(a, b, c)", {"a": (3,), "b": (4, 3), "c": (4,)}),
        ("F.linear(a, b, c)", {"a": (5, 2, 3), "b": (4, 3), "c": (4,)}),
        ("F.linear(a.transpose(0, 1), b, c)", {"a": (5, 2, 3), "b": (4, 3), "c": (4,)}),
        ("F.linear(a, b, c)", {"a": (5, 2, 3), "b": (4, 3), "c": (2, 4)}),
        ("F.linear(a, b)", {"a": (5, 2, 3), "b": (3,)}),
    ],
)
def test_products(expression, inputs):
    agree(gradients(expression, **inputs))


EQUATIONS = {
    "ij,jk->ik": [(2, 3), (3, 4)],
    "ij,jk->": [(2, 3), (3, 4)],
    "ii->i": [(3, 3)],
    "iij->j": [(3, 3, 2)],
    "i,i->": [(3,), (3,)],
    "i,j->ij": [(3,), (2,)],
    "bij,bjk->bik": [(2, 2, 3), (2, 3, 2)],
    "ij->ji": [(2, 3)],
    "ij->": [(2, 3)],
    "ij,ij->ij": [(2, 3), (2, 3)],
    "...ij,...jk->...ik": [(2, 2, 3), (3, 4)],
    "i...->...": [(2, 3)],
    "ij,k->ij": [(2, 3), (4,)],
    "bi,oij,bj->bo": [(2, 3), (5, 3, 4), (2, 4)],
    "Bi,A->AB": [(2, 3), (3,)],
    "ba": [(2, 3)],
}


@pytest.mark.parametrize("equation", EQUATIONS)
def test_einsum(equation):
    inputs = dict(zip("abc", EQUATIONS[equation], strict=False))
    agree(gradients(f"torch.einsum({equation!r}, {', '.join(inputs)})", **inputs))


SETUP = """
f = torch.ones(2, 3)
d, i, h, v, b = f.double(), f.long(), f.half(), torch.ones(3), torch.ones(4, 2, 3)
o = torch.ones(2, 2, dtype=torch.bool)
"""


@pytest.mark.parametrize(
    "expression",
    """
    f @ f; f.mm(v); v.mm(f); f.mm(d.t()); f @ i.t(); f.mv(f); f.mv(torch.ones(2)); f.mv(v.double())
    v.dot(f); v @ torch.ones(2); v.dot(v.double()); v.dot(v.long()); b @ b; b.bmm(f)
    b.bmm(torch.ones(3, 3, 2)); v @ b; b.bmm(b.double().transpose(1, 2)); b @ torch.ones(2)
    torch.tensor(1.) @ f; b @ torch.ones(3, 3, 2); o @ o; o[0] @ o[0]; o[None].bmm(o[None]); o.mv(o[0])
    torch.addmm(f, f, f); torch.addmm(v, f, v); torch.addmm(torch.ones(3), f, torch.ones(3, 2))
    torch.addmm(torch.ones(2).double(), f, torch.ones(3, 2))
    torch.addmm(torch.ones(1, 2, 2), f, torch.ones(3, 2)); torch.addmv(torch.ones(3), f, v)
    torch.addr(f, v, v); torch.addmv(torch.ones(2).double(), f, v); torch.baddbmm(b, b, b)
    torch.baddbmm(f, f, f); torch.outer(f, v); torch.addbmm(torch.ones(2, 2), b, b)
    torch.inner(f, torch.ones(2)); torch.nn.functional.linear(f, v, v)
    torch.nn.functional.linear(f, torch.ones(4, 2)); torch.nn.functional.linear(f, f, torch.ones(3))
    torch.nn.functional.linear(f, f.double()); torch.nn.functional.linear(torch.tensor(1.), f)
    torch.nn.functional.linear(f, 3); torch.nn.functional.linear(f); torch.matmul(f, 3); f @ 3
    torch.mm(f); torch.ones(1, 3).addmm_(torch.ones(2, 2), f); torch.ones(1).addmv_(f, v)
    torch.tensordot(f, f, 3); torch.tensordot(f, f, 1); torch.tensordot(f, f.double(), 2)
    torch.tensordot(f, f, ([0], [0, 1])); torch.einsum("ij,jk", f, f); torch.einsum("ij", f, f)
    torch.einsum("ijk", f); torch.einsum("ij->k", f); torch.einsum("ij->ii", f); torch.einsum("i1", f)
    torch.einsum("ij,jk"); torch.einsum("ij", 3); torch.einsum("i.j", f); torch.einsum("ii->i", f)
    torch.einsum("...i...", b); torch.einsum(f, [0, 52]); torch.linalg.multi_dot([f])
    torch.linalg.multi_dot([f, f]); torch.linalg.multi_dot([f, b])
    """.strip()
    .replace("\n", ";")
    .split(";"),
)
def test_errors(expression):
    agree(SETUP + f"r = {expression.strip()}")


@pytest.mark.parametrize(
    "expression",
    [
        "i @ i.t()",
        "h @ h.t()",
        "i.mv(i[0])",
        "i[0].dot(i[0])",
        "torch.ones(2, 0) @ torch.ones(0, 3)",
        "torch.ones(0) @ torch.ones(0)",
        "torch.addmm(torch.ones(3), torch.ones(2, 0), torch.ones(0, 3), beta=2)",
        "torch.addmm(f[:, :2] * float('nan'), f, f.t(), beta=0)",
        "torch.outer(v, v.long())",
    ],
)
def test_types_and_empty_operands(expression):
    agree(SETUP + f"r = {expression}")
