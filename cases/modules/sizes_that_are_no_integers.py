"""A layer asks for integers; the text tells the size of the weight that it could not make.

topic: modules
features: module, error, lstm-cell
rule: torch.nn.Linear
"""

import torch
from torch import nn

half = nn.Linear(4, 10 / 4)  # raises TypeError
text = nn.Linear("4", 2)  # raises TypeError
kernel = nn.Conv2d(1, 1, 1.5)  # raises TypeError
features = nn.BatchNorm1d(2.0)  # raises TypeError
folded = nn.Unflatten(1, 4)  # raises TypeError
cell = nn.LSTMCell(1, 2)
step = cell(torch.ones(1, 1), torch.zeros(1, 2))  # raises TypeError
state = cell(torch.ones(1, 1), (torch.zeros(1, 2), torch.zeros(1, 2)))
parameter = nn.Parameter(torch.ones(1), 1)  # raises TypeError
