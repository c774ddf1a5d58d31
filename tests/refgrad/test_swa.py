"""Averaged models and their schedule are PyTorch's."""

import pytest

from tests.refgrad.against_torch import agree

AVERAGES = [
    "",
    ", avg_fn=U.get_ema_avg_fn(0.9)",
    ", multi_avg_fn=U.get_ema_multi_avg_fn(0.9)",
    ", multi_avg_fn=U.get_swa_multi_avg_fn()",
    ", multi_avg_fn=U.get_ema_multi_avg_fn(0.9), use_buffers=True",
    ", avg_fn=lambda average, current, count: average + current + count",
]


@pytest.mark.parametrize("options", AVERAGES)
def test_averages(options):
    agree(
        f"""
torch.manual_seed(12)
U = torch.optim.swa_utils
m = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.BatchNorm1d(3))
x = torch.randn(4, 2)
a = U.AveragedModel(m{options})
o = torch.optim.SGD(m.parameters(), 0.1)
for _ in range(3):
    o.zero_grad()
    m(x).sin().sum().backward()
    o.step()
    a.update_parameters(m)
state = dict(a.state_dict())
U.update_bn([x, (x * 2, 1)], a)
after = dict(a.state_dict())
r = a(x)
text, U, m, a, o = repr(a), 0, 0, 0, 0
"""
    )


@pytest.mark.parametrize(
    "options", ["0.05", "[0.05, 0.5], anneal_epochs=3, anneal_strategy='linear'", "0.1, 0"]
)
def test_schedule(options):
    agree(
        f"""
w, b = torch.ones(1, requires_grad=True), torch.ones(1, requires_grad=True)
o = torch.optim.SGD([{{"params": [w]}}, {{"params": [b], "lr": 0.2}}], lr=1.0)
s = torch.optim.swa_utils.SWALR(o, {options})
rates = []
for _ in range(5):
    o.step()
    s.step()
    rates.append(s.get_last_lr())
o = s = 0
"""
    )


REFUSED = [
    "U.get_ema_avg_fn(2.0)",
    "U.AveragedModel(m, avg_fn=len, multi_avg_fn=len)",
    "U.SWALR(o, 0.1, anneal_strategy='x')",
    "U.SWALR(o, 0.1, anneal_epochs=-1)",
    "U.SWALR(o, [0.1, 0.2])",
]


@pytest.mark.parametrize("call", REFUSED)
def test_refused_as_by_torch(call):
    agree(
        "U = torch.optim.swa_utils\nm = torch.nn.Linear(1, 1)\no = torch.optim.SGD(m.parameters(), 0.1)\n"
        f"r = type({call})\nU = m = o = 0"
    )
