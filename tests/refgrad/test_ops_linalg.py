"""Linear algebra: values, layouts, graphs, saved values, first and second derivatives, errors."""

import pytest

from tests.refgrad.against_torch import agree
from tests.refgrad.gradient_programs import gradients

SQUARE = [(1, 1), (2, 2), (3, 3), (2, 3, 3), (0, 3, 3), (0, 0)]
SHAPES = [(1, 1), (3, 3), (4, 2), (2, 4), (2, 3, 2), (2, 2, 3)]
POSITIVE = "(a @ a.mT + torch.eye(a.shape[-1], dtype=a.dtype))"


@pytest.mark.parametrize("shape", SQUARE, ids=str)
@pytest.mark.parametrize(
    "expression",
    [
        "torch.linalg.inv(a)",
        "a.mT.inverse()",
        "torch.linalg.inv_ex(a)[0]",
        "torch.linalg.det(a)",
        "a.mT.det()",
        "torch.linalg.slogdet(a)[0]",
        "torch.linalg.slogdet(a)[1]",
        "torch.logdet(a)",
        f"torch.linalg.cholesky({POSITIVE})",
        f"torch.linalg.cholesky_ex({POSITIVE}, upper=True)[0]",
        "torch.linalg.matrix_power(a, 3)",
        "torch.linalg.matrix_power(a, -2)",
        "torch.cholesky_inverse(a)",
    ],
)
def test_functions_of_square_matrices(expression, shape):
    agree(gradients(expression, a=shape))


@pytest.mark.parametrize(
    "matrix, right, options",
    [
        ((3, 3), (3, 2), ""),
        ((3, 3), (3,), ""),
        ((2, 3, 3), (2, 3), ""),
        ((2, 3, 3), (2, 3, 2), ""),
        ((3, 3), (2, 3, 2), ""),
        ((2, 1, 3, 3), (2, 3, 2), ""),
        ((3, 3), (2, 3), ", left=False"),
        ((3, 3), (2, 2, 3), ", left=False"),
        ((0, 0), (0, 2), ""),
    ],
)
def test_solve(matrix, right, options):
    agree(gradients(f"torch.linalg.solve(a, b{options})", a=matrix, b=right))
    agree(gradients(f"torch.linalg.solve(a, b.detach(){options})", a=matrix, b=right))
    agree(gradients(f"torch.linalg.solve_ex(a.detach(), b{options})[0]", a=matrix, b=right))


@pytest.mark.parametrize(
    "options, matrix, right",
    [
        ("upper=True", (3, 3), (3, 2)),
        ("upper=False", (3, 3), (2, 3, 2)),
        ("upper=True, left=False", (3, 3), (2, 3)),
        ("upper=False, unitriangular=True", (2, 3, 3), (3, 2)),
    ],
)
def test_solve_triangular(options, matrix, right):
    agree(gradients(f"torch.linalg.solve_triangular(a, b, {options})", a=matrix, b=right))


@pytest.mark.parametrize("left", [True, False])
@pytest.mark.parametrize("adjoint", [True, False])
@pytest.mark.parametrize("matrix", [(3, 3), (2, 3, 3)], ids=str)
def test_lu_solve(matrix, adjoint, left):
    expression = f"torch.linalg.lu_solve(*torch.linalg.lu_factor(a), b, left={left}, adjoint={adjoint})"
    agree(gradients(expression, a=matrix, b=(3, 2) if left else (2, 3)))


@pytest.mark.parametrize(
    "expression, inputs",
    [
        ("torch.cholesky_solve(a, b)", {"a": (3, 2), "b": (3, 3)}),
        ("torch.cholesky_solve(a, b, True)", {"a": (3, 2), "b": (2, 3, 3)}),
        ("torch.triangular_solve(a, b)[0]", {"a": (3, 2), "b": (3, 3)}),
        ("torch.triangular_solve(a, b, False, True, True)[0]", {"a": (3, 2), "b": (3, 3)}),
        ("torch.triangular_solve(a, b)[1]", {"a": (3, 2), "b": (3, 3)}),
        ("sum(v.sum() for v in torch.triangular_solve(a, b))", {"a": (3, 2), "b": (2, 3, 3)}),
        (f"torch.cholesky({POSITIVE}, True)", {"a": (2, 2, 2)}),
        ("torch.lu_solve(b, *torch.linalg.lu_factor(a))", {"a": (3, 3), "b": (3, 2)}),
        ("torch.qr(a)[0]", {"a": (3, 2)}),
        ("torch.linalg.tensorinv(a)", {"a": (2, 3, 6)}),
        ("torch.linalg.tensorsolve(a, b)", {"a": (2, 3, 6), "b": (2, 3)}),
        ("torch.linalg.tensorsolve(a, b, dims=(1,))", {"a": (2, 6, 3), "b": (2, 3)}),
        ("torch.linalg.cross(a, b)", {"a": (1, 3), "b": (2, 3)}),
        ("torch.cross(a, b)", {"a": (3, 2), "b": (3, 2)}),
        ("torch.linalg.diagonal(a, offset=1)", {"a": (2, 3, 3)}),
        ("torch.linalg.vander(a, N=4)", {"a": (2, 3)}),
        ("torch.linalg.matrix_exp(a)", {"a": (2, 2, 2)}),
        ("a.t().matrix_exp()", {"a": (3, 3)}),
        ("torch.linalg.householder_product(a, b)", {"a": (3, 2), "b": (2,)}),
        ("torch.linalg.householder_product(a, b)", {"a": (2, 3, 3), "b": (2, 3)}),
        ("torch.orgqr(a, b)", {"a": (3, 2), "b": (1,)}),
        ("torch.geqrf(a)[0]", {"a": (2, 2, 3)}),
        ("torch.lu(a)[0]", {"a": (3, 3)}),
        ("torch.vander(a)", {"a": (3,)}),
    ],
)
def test_relatives(expression, inputs):
    agree(gradients(expression, **inputs))


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize(
    "expression",
    [
        "torch.linalg.qr(a)[0]",
        "torch.linalg.qr(a)[1]",
        "sum(v.sum() for v in torch.linalg.qr(a))",
        "torch.linalg.qr(a, 'complete')[1]",
        "torch.linalg.qr(a, 'r')[1]",
        "torch.linalg.lu(a)[0]",
        "torch.linalg.lu(a)[1]",
        "torch.linalg.lu(a)[2]",
        "sum(v.sum() for v in torch.linalg.lu(a)[1:])",
        "torch.linalg.lu_factor(a)[0]",
        "torch.lu_unpack(*torch.linalg.lu_factor(a))[1]",
        "sum(v.sum() for v in torch.lu_unpack(*torch.linalg.lu_factor(a))[1:])",
        "torch.linalg.svd(a)[0].abs()",
        "torch.linalg.svd(a, False)[2].abs()",
        "sum(v.abs().sum() for v in torch.linalg.svd(a, False))",
        "torch.linalg.pinv(a)",
        "torch.linalg.pinv(a, rtol=1e-3)",
        "torch.linalg.matrix_rank(a)",
        "torch.linalg.cond(a)",
    ],
)
def test_functions_of_any_matrices(expression, shape):
    agree(gradients(expression, a=shape))


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("driver", [None, "gels", "gelsd"])
def test_lstsq(driver, shape):
    right = (*shape[:-1], 2)
    agree(gradients(f"torch.linalg.lstsq(a, b, driver={driver!r})[0]", a=shape, b=right))
    total = f"sum(v.sum() for v in torch.linalg.lstsq(a, b, driver={driver!r})[:2])"
    agree(gradients(total, a=shape, b=right))
    agree(gradients("torch.linalg.lstsq(a, b).solution", a=shape, b=shape[:-1]))


@pytest.mark.parametrize(
    "expression",
    [
        "torch.linalg.eigh(a)[0]",
        "torch.linalg.eigh(a)[1].abs()",
        "sum(v.abs().sum() for v in torch.linalg.eigh(a, 'U'))",
        "torch.linalg.eigvalsh(a)",
        "torch.linalg.eig(a)[0].real",
        "torch.linalg.eig(a)[1].abs()",
        "torch.linalg.eig(a)[1].real",
        "torch.linalg.eigvals(a).imag",
    ],
)
def test_eigenvalues(expression):
    agree(gradients(expression, a=(2, 2)))
    agree(gradients(expression, a=(2, 2, 2)))


@pytest.mark.parametrize("side", ["'L'", "'U'"])
@pytest.mark.parametrize("shape", [(1, 1), (3, 3), (2, 4, 4), (6, 6), (0, 3, 3), (0, 0)], ids=str)
def test_eigenvectors_of_symmetric_matrices_have_the_same_signs(shape, side):
    agree(gradients(f"torch.linalg.eigh(a, {side})[1]", a=shape))
    agree(f"torch.manual_seed(0)\na = torch.randn{shape}\nr = torch.linalg.eigh(a, {side})")
    agree(f"a = torch.ones{shape}.cumsum(0).tril() * 1j ** 0.5\nr = torch.linalg.eigh(a, {side})")


@pytest.mark.parametrize("shape", [(2, 3), (2, 8), (3, 5), (4, 9), (8, 20), (5, 2), (2, 2, 4)], ids=str)
@pytest.mark.parametrize("full", [False, True])
def test_singular_vectors_have_the_same_signs(shape, full):
    agree(f"torch.manual_seed(1)\na = torch.randn{shape}.double()\nr = torch.linalg.svd(a, {full})")


@pytest.mark.parametrize("order", ["1", "-1", "inf", "'fro'", "'nuc'"])
def test_condition_numbers_whose_backward_finds_the_inverse_overwritten(order):
    agree(gradients(f"torch.linalg.cond(a, {order})", a=(3, 3)))


SINGULAR = """
a = torch.tensor({}, dtype=torch.float64, requires_grad=True)
d = torch.linalg.det(a)
g, = torch.autograd.grad(d.sum(), a, create_graph=True)
h, = torch.autograd.grad(g.sum(), a, retain_graph=True)
d.sum().backward()
"""


@pytest.mark.parametrize(
    "matrix",
    [
        "[[[1., 2.], [2., 4.]], [[1., 2], [3, 4]], [[1., 1], [1, 1]]]",
        "[[1., 2.], [2., 4.]]",
        "[[1., 2, 3], [4, 5, 6], [7, 8, 9]]",
        "[[1e-14, 0], [0, 1]]",
    ],
)
def test_determinants_of_singular_matrices_have_a_gradient_only_as_a_graph(matrix):
    agree(SINGULAR.format(matrix))


COMPLEX = """
a = torch.tensor([[1+1j, 2-.5j, .25], [3j, 4, 1-1j], [.5, 1j, -2]], dtype=torch.complex128).requires_grad_()
b = (a.detach().flip(0).mT * 2).requires_grad_()
p = a @ a.mH + torch.eye(3)
y = {}
s = (y * (y.detach() * 0.5 + 0.25).conj()).abs().sum()
g = torch.autograd.grad(s, [a, b], create_graph=True, allow_unused=True)
t = sum((v.abs() ** 2).sum() for v in g if v is not None)
h = torch.autograd.grad(t, [a, b], allow_unused=True, retain_graph=True)
s.backward()
"""


@pytest.mark.parametrize(
    "expression",
    """
    torch.linalg.inv(a); torch.linalg.det(a); torch.linalg.slogdet(a)[0]; torch.linalg.slogdet(a)[1]
    sum(torch.linalg.slogdet(a)); torch.logdet(a); torch.linalg.solve(a, b)
    torch.linalg.solve(a, b, left=False)
    torch.linalg.cholesky(p); torch.linalg.cholesky(p, upper=True); torch.linalg.qr(a)[0]
    torch.linalg.qr(a)[1]; torch.linalg.qr(a[:2])[0]; torch.linalg.qr(a[:2])[1]; torch.linalg.lu(a)[1]
    torch.linalg.lu_factor(a[:2])[0]; torch.linalg.lu_solve(*torch.linalg.lu_factor(a), b)
    torch.linalg.lu_solve(*torch.linalg.lu_factor(a), b, adjoint=True, left=False)
    torch.linalg.solve_triangular(a, b, upper=True)
    torch.linalg.solve_triangular(a, b, upper=False, left=False)
    torch.cholesky_solve(a, b); torch.cholesky_inverse(b); torch.triangular_solve(a, b, transpose=True)[0]
    torch.linalg.eigh(p)[0]; torch.linalg.eigh(p)[1]; torch.linalg.eig(a)[0]; torch.linalg.eig(a)[1]
    torch.linalg.eig(a)[1].abs(); torch.linalg.svd(a)[0]; torch.linalg.svd(a)[0].abs(); torch.linalg.svd(a)[1]
    torch.linalg.svd(a[:2], False)[2].abs(); torch.linalg.pinv(a[:2]); torch.linalg.pinv(a[:, :2])
    torch.linalg.lstsq(a[:, :2], b, driver='gels')[1]; torch.linalg.matrix_exp(a * .2)
    torch.linalg.matrix_power(a, -2); torch.linalg.cross(a, b); torch.linalg.cond(a)
    """.strip()
    .replace("\n", ";")
    .split(";"),
)
def test_complex_matrices(expression):
    agree(COMPLEX.format(expression.strip()))


SETUP = """
f, s = torch.ones(2, 3), torch.eye(2)
d, i, h, b, v = s.double(), s.long(), s.half(), s.bool(), torch.ones(2)
z, c, x = torch.zeros(2, 2), s.cfloat(), torch.tensor(1.)
B = torch.stack([s, z, s])
n, E = torch.full((2, 2), nan), torch.empty(0, 0)
one, two = torch.tensor([1], dtype=torch.int32), torch.tensor([1, 2], dtype=torch.int32)
"""


@pytest.mark.parametrize(
    "line",
    """
    inv(f); inv(v); inv(i); inv(h); inv(b); inv(z); inv(B); inv(n); inv(x); inv_ex(z)
    inv_ex(z, check_errors=True); inv_ex(B); det(f); det(v); det(i); det(h); det(z); slogdet(f); slogdet(i)
    slogdet(h); slogdet(z); solve(f, s); solve(s, f.t()); solve(s, d); solve(i, i); solve(v, s); solve(s, x)
    solve(z, s); solve(B, v); solve(B, torch.ones(5, 2, 2)); solve(s, v, left=False); solve(h, h)
    solve_ex(z, s, check_errors=True); solve(torch.ones(1, 1), torch.ones(1), left=False)
    solve_triangular(f, s, upper=True); solve_triangular(s, v, upper=True); solve_triangular(s, d, upper=True)
    solve_triangular(i, i, upper=True); solve_triangular(z, s, upper=True); solve_triangular(s, s)
    cholesky(f); cholesky(v); cholesky(i); cholesky(h); cholesky(-s); cholesky(torch.stack([s, -s]))
    cholesky_ex(-s); cholesky_ex(-s, check_errors=True); qr(v); qr(i); qr(h); qr(f, 'foo'); eigh(f); eigh(i)
    eigh(s, 'X'); eigh(n); eigvalsh(f); eig(f); eig(i); eig(n); eigvals(f); eigvals(v); pinv(v); pinv(i)
    pinv(f, hermitian=True); pinv(n); pinv(s, v); matrix_power(f, 2); matrix_power(i, -1); matrix_power(b, 2)
    matrix_power(z, -1); matrix_exp(f); matrix_exp(i); matrix_rank(v); matrix_rank(i); matrix_rank(s, atol=c)
    cond(v); cond(i); cond(f, 1); cond(z, 1); cond(s, 3); cond(s, 'foo'); cond(E); cond(h); lu(v); lu(i)
    lu(s, pivot=False); lu_factor(v); lu_factor(z); lu_factor(B); lu_factor_ex(z, check_errors=True)
    lu_solve(s, two.long(), s); lu_solve(s, two, v); lu_solve(f, two, s); lu_solve(s, one, s)
    lu_solve(s, two, d)
    lstsq(v, s); lstsq(s, x); lstsq(i, i); lstsq(s, d); lstsq(s, torch.ones(3, 2)); lstsq(s, s, driver='foo')
    tensorinv(s); tensorinv(s, 0); tensorsolve(f, v); vander(x); vander(v, N=1); vander(b[0]); cross(f, v)
    cross(s, s); cross(f, f.double()); cross(x, x); cross(f.bool(), f.bool()); diagonal(v); svd(v); svd(h)
    """.strip()
    .replace("\n", ";")
    .split(";"),
)
def test_errors(line):
    agree(SETUP + f"r = torch.linalg.{line.strip()}")


@pytest.mark.parametrize(
    "line",
    """
    cholesky(-s); cholesky(f); cholesky(i); cholesky_inverse(f); cholesky_inverse(z); cholesky_inverse(i)
    cholesky_solve(s, f); cholesky_solve(v, s); cholesky_solve(s, d); cholesky_solve(torch.ones(3, 2), s)
    triangular_solve(s, f); triangular_solve(v, s); triangular_solve(i, i); logdet(f); logdet(i); logdet(-s)
    lu_unpack(s, two.long()); lu_unpack(s, one); lu_unpack(s, two, unpack_data=False); cross(s, s)
    lu(s, get_infos=True); lu(s, pivot=False); geqrf(v); geqrf(i); orgqr(f, v); vander(f); vander(v, -1)
    inverse(f); det(v); slogdet(i); pinverse(v); matrix_power(v, 1); matrix_exp(i); qr(v)
    """.strip()
    .replace("\n", ";")
    .split(";"),
)
def test_errors_of_functions_outside_the_submodule(line):
    agree(SETUP + f"r = torch.{line.strip()}")


@pytest.mark.parametrize(
    "line",
    ["svd(a, out=(e, k, w))", "qr(a, out=(e, k))", "inv(a, out=e)", "solve(a, a, out=o)", "pinv(a, out=e)"],
)
def test_outputs_are_laid_out_as_factors_are(line):
    setup = (
        "a, o = torch.tensor([[1., 2], [3, 5]]), torch.zeros(2, 2)\ne, k, w = map(torch.empty, (0, 0, 0))\n"
    )
    agree(setup + f"r = torch.linalg.{line}")


def test_elimination_gives_the_same_bits():
    agree(
        "torch.manual_seed(0)\n"
        "a = [torch.randn(n, n) for n in range(1, 13)]\n"
        "t = [torch.linalg.lu_factor(m)[0].tolist() for m in a]\n"
        "u = [torch.linalg.det(m.double()).tolist() for m in a]\n"
        "v = [torch.linalg.solve(m, m[:, :1]).tolist() for m in a]\n"
        "w = [torch.linalg.inv(m).tolist() for m in a[:8]]\n"
        "del a"
    )


def test_the_error_has_its_public_name():
    agree(
        "try:\n    torch.linalg.inv(torch.zeros(2, 2))\n"
        "except torch.linalg.LinAlgError as error:\n    r = [str(error), type(error).__mro__[1].__name__]"
    )
