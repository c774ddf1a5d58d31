"""A recurrent layer in two pieces: with the state handed on it is the whole sequence, with the state detached
the gradient stops between the pieces.

topic: modules
features: lstm, detach, truncated
rule: torch.nn.LSTM
"""

import torch

torch.manual_seed(0)
cell = torch.nn.LSTM(2, 3).double()
x = torch.randn(4, 1, 2, dtype=torch.float64, requires_grad=True)
whole, _ = cell(x)
first, state = cell(x[:2])
second, _ = cell(x[2:], state)
same = torch.allclose(whole, torch.cat([first, second]))
g = torch.autograd.grad(second.sum(), x, retain_graph=True)[0]
cut, _ = cell(x[2:], tuple(part.detach() for part in state))
h = torch.autograd.grad(cut.sum(), x)[0]
