"""The gradient of an LSTM with a graph is computed step by step by plain ops; weights gather it in place.

topic: modules
features: lstm, create-graph, double-backward, graph, version-counter
rule: torch.nn.LSTM
"""

import torch

torch.manual_seed(0)
lstm = torch.nn.LSTM(2, 1, batch_first=True)
x = torch.tensor([[[0.5, -1.0], [1.0, 2.0]]], requires_grad=True)
output, (hidden, cell) = lstm(x)
of_x, of_weight, of_bias = torch.autograd.grad(
    output.sum() + cell.sum(), [x, lstm.weight_ih_l0, lstm.bias_hh_l0], create_graph=True
)
names = [function.name() for function, _ in of_weight.grad_fn.next_functions]
((of_x**2).sum() + of_bias.sum()).backward()
