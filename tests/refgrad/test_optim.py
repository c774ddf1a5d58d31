"""Optimizers: trajectories, state, versions and refusals are PyTorch's."""

import pytest

from tests.refgrad.against_torch import agree

OPTIMIZERS = [
    "SGD(params, lr=0.125)",
    "SGD(params, lr=0.01, momentum=0.9, dampening=0.1, weight_decay=0.01)",
    "SGD(params, lr=0.01, momentum=0.9, nesterov=True)",
    "SGD(params, lr=0.01, maximize=True)",
    "SGD([{'params': params[:1]}, {'params': params[1:], 'lr': 0.5}], lr=0.01)",
    "Adam(params, lr=0.1)",
    "Adam(params, lr=0.1, weight_decay=0.1, amsgrad=True, betas=(0.8, 0.9))",
    "Adam(params, maximize=True)",
    "AdamW(params, lr=0.1)",
    "RMSprop(params)",
    "RMSprop(params, momentum=0.9, centered=True, weight_decay=0.1)",
    "Adagrad(params, lr=0.5, lr_decay=0.1, weight_decay=0.1, initial_accumulator_value=0.1)",
]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
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
for i in range(4):
    o.zero_grad(set_to_none=i % 2 == 0)
    loss = ((w * w * b).sum() + b * b * w.sum()).sum()
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


REFUSED = [
    "SGD(w, 0.1)",
    "SGD([], 0.1)",
    "SGD([w], -1)",
    "SGD([w], 0.1, momentum=-1)",
    "SGD([w], 0.1, weight_decay=-1)",
    "SGD([w], 0.1, nesterov=True)",
    "SGD([w * 2], 0.1)",
    "SGD([3], 0.1)",
    "SGD([{'params': w}, {'params': [w]}], 0.1)",
    "SGD([w, w], 0.1)",
    "SGD([w], 0.1).add_param_group(3)",
    "SGD([w], 0.1).add_param_group({'params': {w}})",
    "SGD([w], 0.1).load_state_dict({'state': {}, 'param_groups': []})",
    "Adam([w], eps=-1)",
    "Adam([w], betas=(2, 0.1))",
    "Adam([w], betas=(0.1, 1.0))",
    "RMSprop([w], alpha=-1)",
    "Adagrad([w], lr_decay=-1)",
    "Adagrad([w], initial_accumulator_value=-1)",
    "Optimizer([w], {}).step()",
]


@pytest.mark.parametrize("call", REFUSED)
def test_refused_as_by_torch(call):
    agree(f"w = torch.ones(2, requires_grad=True)\nr = repr(torch.optim.{call})")


def test_closure_runs_with_grad_mode_on_and_step_outside():
    agree(
        """
w = torch.ones(2, requires_grad=True)
modes = []
def closure():
    modes.append(torch.is_grad_enabled())
    loss = (w * w).sum()
    o.zero_grad()
    loss.backward()
    return loss
o = torch.optim.SGD([w], 0.25)
o.register_step_pre_hook(lambda *rest: modes.append("before"))
o.register_step_post_hook(lambda *rest: modes.append("after"))
loss = o.step(closure)
with torch.no_grad():
    second = o.step(closure)
o = 0
"""
    )


def test_own_optimizer():
    agree(
        """
class Mine(torch.optim.Optimizer):
    def __init__(self, params):
        super().__init__(params, {"lr": 0.5})
    def step(self, closure=None):
        for group in self.param_groups:
            for p in group["params"]:
                p.data.add_(p.grad, alpha=-group["lr"])
w = torch.ones(2, requires_grad=True)
w.grad = torch.ones(2)
o = Mine([w])
seen = []
o.register_step_post_hook(lambda *rest: seen.append("after"))
o.step()
named = torch.optim.SGD([("first", w)], 0.1).param_groups[0]["param_names"]
o = 0
"""
    )
