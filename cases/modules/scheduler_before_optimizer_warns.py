"""A scheduler that steps before its optimizer warns; the learning rates are those of the schedule all the
same.

topic: modules
features: lr-scheduler, warning
rule: https://docs.pytorch.org/docs/stable/optim.html#how-to-adjust-learning-rate
"""

import torch

w = torch.tensor([1.0, 2.0], requires_grad=True)
optimizer = torch.optim.SGD([w], lr=0.5)
schedule = torch.optim.lr_scheduler.StepLR(optimizer, step_size=1, gamma=0.5)
schedule.step()
rates = schedule.get_last_lr()
w.grad = torch.ones(2)
optimizer.step()
schedule.step()
rates = schedule.get_last_lr()
