"""Parametrised tensors and the norms made of them: values, gradients, names and refusals are PyTorch's."""

import pytest

from tests.refgrad.against_torch import agree

START = """
import copy, pickle
torch.manual_seed(9)
U = torch.nn.utils
P = torch.nn.utils.parametrize
class Symmetric(torch.nn.Module):
    def forward(self, X):
        return X.triu() + X.triu(1).T
    def right_inverse(self, A):
        return A.triu()
class Scaled(torch.nn.Module):
    def forward(self, X):
        return X * 2
class Pair(torch.nn.Module):
    def forward(self, a, b):
        return a + b
    def right_inverse(self, X):
        return X * 0.25, X * 0.75
class Wrong(torch.nn.Module):
    def forward(self, X):
        return {wrong}
    {inverse}
m = torch.nn.Linear(3, 3)
x = torch.randn(2, 3)
"""
END = "\nm = n = w = U = P = Symmetric = Scaled = Pair = Wrong = copy = pickle = 0"


def agree_parametrized(program: str, wrong: str = "X", inverse: str = "pass") -> None:
    agree(START.replace("{wrong}", wrong).replace("{inverse}", inverse) + program + END)


def test_registered_read_written_removed():
    agree_parametrized(
        """
P.register_parametrization(m, "weight", Symmetric())
P.register_parametrization(m, "weight", Scaled())
names = [name for name, _ in m.named_parameters()]
text = [repr(m), type(m).__name__, P.type_before_parametrizations(m).__name__]
told = [P.is_parametrized(m), P.is_parametrized(m, "weight"), P.is_parametrized(m, "bias")]
r = m(x)
r.sin().sum().backward()
grads = [p.grad for p in m.parameters()]
with P.cached():
    same = m.weight is m.weight
other = m.weight is m.weight
n = copy.deepcopy(m)
state = dict(n.state_dict())
pickle.dumps(m)
m.weight = torch.ones(3, 3)
P.remove_parametrizations(m, "weight")
after = [repr(m), [name for name, _ in m.named_parameters()], m.weight.detach()]
n.weight
"""
    )


def test_inverse_is_used_when_assigned():
    agree_parametrized(
        """
P.register_parametrization(m, "weight", Symmetric())
m.weight = torch.arange(9.0).view(3, 3)
original, weight = m.parametrizations.weight.original, m.weight
P.remove_parametrizations(m, "weight", leave_parametrized=False)
left = m.weight
"""
    )


def test_several_originals():
    agree_parametrized(
        """
P.register_parametrization(m, "weight", Pair())
parameters = dict(m.named_parameters())
m.weight = torch.ones(3, 3)
r = m(x)
P.remove_parametrizations(m, "weight", leave_parametrized=False)
P.remove_parametrizations(m, "weight")
left = m.weight.detach()
"""
    )


WRONG = [
    ("3", "pass"),
    ("X.double()", "pass"),
    ("X[:2]", "pass"),
    ("X", "right_inverse = lambda self, X: 3"),
    ("X", "right_inverse = lambda self, X: X.double()"),
    ("X", "right_inverse = lambda self, X: (X, 3)"),
]


@pytest.mark.parametrize(("wrong", "inverse"), WRONG)
def test_refused_as_by_torch(wrong, inverse):
    agree_parametrized(
        """
P.register_parametrization(m, "weight", Wrong())
n = torch.nn.Linear(3, 3)
P.register_parametrization(n, "weight", Scaled())
P.register_parametrization(n, "weight", Wrong())
P.register_parametrization(n, "nope", Scaled())
P.remove_parametrizations(n, "bias")
n.weight = torch.ones(3, 3)
P.ParametrizationList([], torch.ones(2))
""",
        wrong,
        inverse,
    )


NORMS = [
    "U.parametrizations.weight_norm(m)",
    "U.parametrizations.weight_norm(m, dim=1)",
    "U.parametrizations.weight_norm(m, dim=None)",
    "U.parametrizations.weight_norm(torch.nn.Conv1d(3, 2, 2), dim=1)",
    "U.parametrizations.weight_norm(m, 'bias')",
    "U.parametrizations.spectral_norm(m)",
    "U.parametrizations.spectral_norm(m, n_power_iterations=3, dim=1)",
    "U.parametrizations.spectral_norm(m, 'bias')",
    "U.parametrizations.spectral_norm(torch.nn.ConvTranspose1d(3, 2, 2))",
    "U.weight_norm(m)",
    "U.weight_norm(torch.nn.Conv1d(3, 2, 2), dim=2)",
    "U.spectral_norm(m)",
    "U.spectral_norm(torch.nn.ConvTranspose1d(3, 2, 2), n_power_iterations=2)",
]


@pytest.mark.parametrize("made", NORMS)
def test_norms(made):
    agree_parametrized(
        f"""
n = {made}
r = n(x if isinstance(n, torch.nn.Linear) else x.T.repeat(1, 3)[None])
r.sin().sum().backward()
grads = {{name: p.grad for name, p in n.named_parameters()}}
state, text = dict(n.state_dict()), repr(n)
n.eval()
w = n.weight if hasattr(n, "weight") else 0
after = w.detach().clone()
"""
    )


def test_old_norms_are_removed():
    agree_parametrized(
        """
n = U.weight_norm(torch.nn.Linear(3, 2))
U.weight_norm(n)
U.remove_weight_norm(n)
U.remove_weight_norm(n)
names = [name for name, _ in n.named_parameters()]
n = U.spectral_norm(torch.nn.Linear(3, 2))
U.spectral_norm(n)
U.remove_spectral_norm(n)
U.remove_spectral_norm(n)
left = n.weight
U.spectral_norm(n, n_power_iterations=0)
U.parametrizations.spectral_norm(m, "nope")
U.parametrizations.spectral_norm(m, dim=2)
U.parametrizations.spectral_norm(m, n_power_iterations=0)
"""
    )


def test_second_derivatives_and_old_states():
    agree_parametrized(
        """
n = U.parametrizations.weight_norm(m)
g = torch.autograd.grad(n.weight.sin().sum(), list(n.parameters())[1:], create_graph=True)
second = torch.autograd.grad(sum(t.sum() for t in g), list(n.parameters())[1:])
old = {"bias": torch.ones(3), "weight_g": torch.ones(3, 1), "weight_v": torch.eye(3)}
loaded = repr(n.load_state_dict(old))
value = n.weight.detach()
"""
    )
