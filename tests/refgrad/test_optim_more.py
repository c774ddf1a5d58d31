"""Optimizers beyond the common ones, and L-BFGS: trajectories, state and refusals are PyTorch's."""

import pytest

from tests.refgrad.against_torch import agree

OPTIMIZERS = [
    "Adadelta(params)",
    "Adadelta(params, lr=0.5, rho=0.8, weight_decay=0.1, maximize=True, foreach=False)",
    "Adamax(params, lr=0.1)",
    "Adamax(params, betas=(0.7, 0.8), weight_decay=0.1, maximize=True)",
    "NAdam(params, lr=0.1)",
    "NAdam(params, weight_decay=0.1, decoupled_weight_decay=True)",
    "NAdam(params, weight_decay=0.1, momentum_decay=0.1, maximize=True)",
    "RAdam(params, lr=0.1)",
    "RAdam(params, lr=0.1, betas=(0.5, 0.6), weight_decay=0.1)",
    "RAdam(params, lr=0.1, betas=(0.5, 0.9), weight_decay=0.1, decoupled_weight_decay=True)",
    "ASGD(params, lr=0.1)",
    "ASGD(params, lr=0.01, t0=1, lambd=0.1, weight_decay=0.1, maximize=True)",
    "Rprop(params)",
    "Rprop(params, lr=0.5, etas=(0.25, 2.0), step_sizes=(0.1, 1.5))",
]


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64"])
@pytest.mark.parametrize("made", OPTIMIZERS)
def test_trajectory(made, dtype):
    agree(
        f"""
w = torch.tensor([1.0, -2.0, 3.0], dtype=torch.{dtype}, requires_grad=True)
b = torch.tensor([[0.5]], dtype=torch.{dtype}, requires_grad=True)
unused = torch.ones(1, requires_grad=True)
params = [w, b, unused]
o = torch.optim.{made}
losses = []
for i in range(8):
    o.zero_grad(set_to_none=i % 2 == 0)
    loss = ((w * w * b).sum() + b * b * w.sum()).abs().sum()
    losses.append(loss)
    loss.backward()
    o.step()
state = o.state_dict()
text = repr(o)
again = torch.optim.{made}
again.load_state_dict(o.state_dict())
loaded = again.state_dict()
o = again = 0
"""
    )


@pytest.mark.parametrize(
    "options", ["", ", lr=0.1, weight_decay=0.1, maximize=True, eps=(1e-8, 0.01)", ", d=2.0"]
)
def test_adafactor(options):
    agree(
        f"""
w = torch.tensor([[1.0, -2.0, 3.0], [0.5, 4.0, -1.0]], requires_grad=True)
b = torch.tensor([0.5, 2.0, 1.0], requires_grad=True)
k = torch.arange(8.0).view(2, 2, 2).requires_grad_()
o = torch.optim.Adafactor([w, b, k]{options})
for i in range(4):
    o.zero_grad()
    loss = ((w * b).sin().sum() + b.exp().sum() + (k * k).sum() * b[0])
    loss.backward()
    o.step()
state, text = o.state_dict(), repr(o)
o = 0
"""
    )


REFUSED = [
    "Adafactor([w], lr=-1)",
    "Adafactor([w], beta2_decay=1)",
    "Adafactor([w], eps=(-1, 0.1))",
    "Adafactor([w], eps=(None, -0.1))",
    "Adafactor([w], d=0.5)",
    "Adafactor([w], weight_decay=-1)",
    "Adadelta([w], rho=2)",
    "Adadelta([w], eps=-1)",
    "Adamax([w], betas=(0.1, 1.0))",
    "NAdam([w], momentum_decay=-1)",
    "RAdam([w], weight_decay=-1)",
    "ASGD([w], lr=-1)",
    "Rprop([w], etas=(2, 3))",
    "LBFGS([{'params': [w]}, {'params': [w.clone().detach()]}])",
    "Adadelta([w], capturable=True).step()",
    "Adamax([w], capturable=True).step()",
    "NAdam([w], capturable=True).step()",
    "RAdam([w], capturable=True).step()",
    "ASGD([w], capturable=True).step()",
    "Rprop([w], capturable=True).step()",
    "LBFGS([w], line_search_fn='other').step(lambda: w.sum())",
]


@pytest.mark.parametrize("call", REFUSED)
def test_refused_as_by_torch(call):
    agree(f"w = torch.ones(2, requires_grad=True)\nw.grad = torch.ones(2)\nr = repr(torch.optim.{call})")


@pytest.mark.parametrize(
    "options",
    [
        "lr=0.5, max_iter=6",
        "max_iter=3",
        "max_iter=5, line_search_fn='strong_wolfe'",
        "max_iter=6, history_size=2",
    ],
)
def test_lbfgs(options):
    """Losses are rounded: the direction magnifies what dot products round."""
    agree(
        f"""
x = torch.tensor([-1.5, 2.0], dtype=torch.float64, requires_grad=True)
y = torch.tensor([1.0], dtype=torch.float64, requires_grad=True)
unused = torch.ones(1, dtype=torch.float64, requires_grad=True)
o = torch.optim.LBFGS([x, y, unused], {options})
calls = []
def closure():
    o.zero_grad()
    loss = ((1 - x[0]) ** 2 + 2 * (x[1] - x[0]) ** 2 + 0.1 * x[0] ** 4 + (y * x).pow(2).sum())
    loss.backward()
    calls.append(round(loss.item(), 7))
    return loss
losses = [o.step(closure) for _ in range(2)]
state = o.state_dict()
state["state"][0].update(prev_loss=round(state["state"][0]["prev_loss"], 7), al=len(state["state"][0]["al"]))
text = repr(o)
o = 0
"""
    )


def test_lbfgs_goes_on_from_a_state():
    agree(
        """
x = torch.tensor([3.0, -2.0], requires_grad=True)
scale = torch.tensor([1.0, 4.0])
def closure():
    x.grad = None
    loss = (scale * x * x).sum()
    loss.backward()
    return loss
o = torch.optim.LBFGS([x], max_iter=2, lr=0.5)
o.step(closure)
again = torch.optim.LBFGS([x], max_iter=2, lr=0.5)
again.load_state_dict(o.state_dict())
last = again.step(closure)
x.data.zero_()
at_rest = again.step(closure)
counts = [again.state_dict()["state"][0][key] for key in ("func_evals", "n_iter")]
o = again = 0
"""
    )
