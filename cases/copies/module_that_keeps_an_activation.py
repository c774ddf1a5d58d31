"""A module that keeps an activation cannot be deep-copied until the activation is let go.

topic: copies
features: deepcopy, module, parameter
rule: torch.nn.Module
source: R159, pytorch/pytorch#54580
"""

import copy

import torch


class Keeper(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.w = torch.nn.Parameter(torch.tensor([2.0]))

    def forward(self, x):
        self.kept = x * self.w
        return self.kept


m = Keeper()
first = copy.deepcopy(m).w
out = m(torch.tensor([3.0]))
second = copy.deepcopy(m)  # raises deepcopy
m.kept = None
third = copy.deepcopy(m).w
