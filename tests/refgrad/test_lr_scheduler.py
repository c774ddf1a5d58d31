"""Learning rate schedules: rates, warnings about the order of calls, states and refusals are PyTorch's."""

import pytest

from tests.refgrad.against_torch import agree

START = """
w = torch.ones(2, requires_grad=True)
b = torch.ones(1, requires_grad=True)
w.grad = torch.ones(2)
o = torch.optim.{optimizer}([{{"params": [w]}}, {{"params": [b], "lr": 0.25}}], lr=0.5{options})
S = torch.optim.lr_scheduler
"""
SCHEDULES = [
    "StepLR(o, 2)",
    "StepLR(o, step_size=3, gamma=0.5)",
    "MultiStepLR(o, [1, 3, 3, 7], gamma=0.3)",
    "ExponentialLR(o, 0.9)",
    "CosineAnnealingLR(o, 4)",
    "CosineAnnealingLR(o, T_max=3, eta_min=0.01)",
    "LambdaLR(o, lambda epoch: 0.9 ** epoch)",
    "LambdaLR(o, [lambda epoch: 1 / (epoch + 1), lambda epoch: epoch])",
    "MultiplicativeLR(o, lambda epoch: 0.9)",
    "LinearLR(o)",
    "LinearLR(o, start_factor=0.1, end_factor=0.7, total_iters=4)",
    "ConstantLR(o, factor=0.3, total_iters=3)",
    "PolynomialLR(o, total_iters=6, power=2.0)",
    "CosineAnnealingWarmRestarts(o, 3)",
    "CosineAnnealingWarmRestarts(o, T_0=2, T_mult=2, eta_min=0.05)",
    "OneCycleLR(o, max_lr=1.0, total_steps=9)",
    "OneCycleLR(o, max_lr=[1, 2.0], epochs=3, steps_per_epoch=3, anneal_strategy='linear', three_phase=True)",
    "CyclicLR(o, 0.1, 1.0, step_size_up=2, step_size_down=3)",
    "CyclicLR(o, 0.1, [1.0, 2.0], step_size_up=2, mode='triangular2')",
    "CyclicLR(o, 0.1, 1.0, step_size_up=2, mode='exp_range', gamma=0.9)",
    "CyclicLR(o, 0.1, 1.0, step_size_up=2, scale_fn=lambda x: 0.5, scale_mode='iterations')",
    "SequentialLR(o, [S.ConstantLR(o, 0.1, 2), S.ExponentialLR(o, 0.9)], milestones=[3])",
    "SequentialLR(o, [S.LinearLR(o, 0.1, 1.0, 2), S.CosineAnnealingLR(o, 4), S.StepLR(o, 1)], [2, 5])",
    "ChainedScheduler([S.ConstantLR(o, 0.1, 2), S.ExponentialLR(o, 0.9)])",
    "ChainedScheduler([S.LinearLR(o, 0.5, 1.0, 2), S.StepLR(o, 3)], o)",
]


@pytest.mark.parametrize("made", SCHEDULES)
def test_rates(made):
    """Nine epochs, then the state into a second scheduler; a rate asked for outside `step` warns."""
    agree(
        START.format(optimizer="SGD", options=", momentum=0.9")
        + f"""
s = S.{made}
rates = [s.get_last_lr()]
groups = []
for epoch in range(9):
    o.step()
    s.step()
    rates.append(s.get_last_lr())
    groups.append([(g["lr"], g["momentum"]) for g in o.param_groups])
asked = s.get_lr() if hasattr(s, "base_lrs") else None
def plain(state):
    kept = {{}}
    for key, value in state.items():
        if key == "_schedulers":
            kept[key] = [plain(one) for one in value]
        elif not callable(value):
            kept[key] = dict(value) if isinstance(value, dict) else value
    return kept
state = plain(s.state_dict())
other = S.{made}
other.load_state_dict(s.state_dict())
after = plain(other.state_dict())
options = [{{k: v for k, v in g.items() if k != "params"}} for g in o.param_groups]
o = s = other = S = 0
"""
    )


@pytest.mark.parametrize("made", ["CyclicLR(o, 0.1, 1.0, 2)", "OneCycleLR(o, 1.0, 5)"])
def test_momentum_of_betas(made):
    agree(
        START.format(optimizer="Adam", options="")
        + f"""
s = S.{made}
betas = []
for epoch in range(4):
    o.step()
    s.step()
    betas.append([g["betas"] for g in o.param_groups])
o = s = S = 0
"""
    )


def test_plateau():
    agree(
        START.format(optimizer="SGD", options="")
        + """
s = S.ReduceLROnPlateau(o, patience=1, factor=0.5, cooldown=1, min_lr=[0.1, 0.2])
t = S.ReduceLROnPlateau(o, mode="max", threshold_mode="abs", threshold=0.1, patience=0)
rates = []
for metric in [1.0, 0.9, 0.95, 0.95, 0.95, torch.tensor(0.9), 0.9, 0.9, 0.9, float("nan")]:
    s.step(metric)
    rates.append(s.get_last_lr())
for metric in [1.0, 1.05, 1.2, 1.25]:
    t.step(metric)
    rates.append(t.get_last_lr())
s.step(1.0, epoch=4)
states = [s.state_dict(), t.state_dict()]
o.add_param_group({"params": [torch.zeros(1)]})
for _ in range(3):
    s.step(2.0)
o = s = t = S = 0
"""
    )


def test_tensor_rates_are_filled():
    agree(
        """
w = torch.ones(2, requires_grad=True)
w.grad = torch.ones(2)
rate = torch.tensor(0.5)
o = torch.optim.SGD([w], lr=rate)
s = torch.optim.lr_scheduler.StepLR(o, 1)
o.step()
s.step()
last = s.get_last_lr()
initial = o.param_groups[0]["initial_lr"]
same = o.param_groups[0]["lr"] is rate
o = s = 0
"""
    )


def test_warnings_about_the_order():
    agree(
        START.format(optimizer="SGD", options="")
        + """
s = S.StepLR(o, 1)
s.step()
s.step()
t = S.ExponentialLR(o, 0.5)
o.step()
t.step(3)
t.step()
o.step = lambda: None
u = S.StepLR(o, 1)
o = s = t = u = S = 0
"""
    )


def test_step_replaced_after_the_scheduler_was_made():
    agree(
        START.format(optimizer="SGD", options="")
        + """
s = S.StepLR(o, 1)
o.step = lambda: None
o.step()
s.step()
o = s = S = 0
"""
    )


def test_own_schedule_and_resuming():
    agree(
        START.format(optimizer="SGD", options="")
        + """
class Own(S.LRScheduler):
    def get_lr(self):
        return [base / (1 + self.last_epoch) for base in self.base_lrs]
    def _get_closed_form_lr(self):
        return [base * 100 for base in self.base_lrs]
s = Own(o)
o.step()
s.step()
first = s.get_last_lr()
s.step(7)
second = s.get_last_lr()
resumed = S.CosineAnnealingLR(o, 5, last_epoch=3)
third = resumed.get_last_lr()
fresh = torch.optim.SGD([w], lr=0.1)
S.StepLR(fresh, 1, last_epoch=2)
Own = o = s = resumed = fresh = S = 0
"""
    )


REFUSED = [
    "StepLR(3, 1)",
    "CyclicLR(3, 1, 1)",
    "OneCycleLR(3, 1, 1)",
    "ReduceLROnPlateau(3)",
    "LambdaLR(o, [lambda e: 1])",
    "MultiplicativeLR(o, 3)",
    "ConstantLR(o, factor=2)",
    "LinearLR(o, start_factor=0)",
    "LinearLR(o, end_factor=2)",
    "CosineAnnealingWarmRestarts(o, 0)",
    "CosineAnnealingWarmRestarts(o, 1, T_mult=0)",
    "CosineAnnealingWarmRestarts(o, 1, eta_min='a')",
    "CosineAnnealingWarmRestarts(o, 1).step(-1)",
    "OneCycleLR(o, 1.0)",
    "OneCycleLR(o, 1.0, total_steps=-1)",
    "OneCycleLR(o, 1.0, epochs=0, steps_per_epoch=1)",
    "OneCycleLR(o, 1.0, epochs=1, steps_per_epoch=0.5)",
    "OneCycleLR(o, 1.0, 5, pct_start=2)",
    "OneCycleLR(o, 1.0, 5, anneal_strategy='x')",
    "OneCycleLR(o, 1.0, 5)",
    "OneCycleLR(o, [1.0], 5, cycle_momentum=False)",
    "CyclicLR(o, 0.1, 1, mode='x')",
    "CyclicLR(o, [0.1], 1)",
    "ReduceLROnPlateau(o, mode='x')",
    "ReduceLROnPlateau(o, threshold_mode='x')",
    "ReduceLROnPlateau(o, factor=1)",
    "ReduceLROnPlateau(o, min_lr=[1])",
    "SequentialLR(o, [], [])",
    "SequentialLR(o, [3], [])",
    "SequentialLR(o, [S.StepLR(o, 1)], [1])",
    "SequentialLR(o, [S.ReduceLROnPlateau(o)], [1])",
    "SequentialLR(o, [S.StepLR(torch.optim.SGD([w]), 1)], [])",
    "ChainedScheduler([])",
    "ChainedScheduler([S.ReduceLROnPlateau(o)])",
    "LRScheduler(o)",
]


@pytest.mark.parametrize("call", REFUSED)
def test_refused_as_by_torch(call):
    agree(START.format(optimizer="Adagrad", options="") + f"r = type(S.{call}).__name__\no = S = 0")


def test_too_many_steps():
    agree(
        START.format(optimizer="SGD", options="")
        + """
s = S.OneCycleLR(o, 1.0, 2, cycle_momentum=False)
o.step()
s.step()
s.step()
s.step()
o = s = S = 0
"""
    )
