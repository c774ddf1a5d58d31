"""Second derivatives of layers with parameters: what the weight's gradient adds is written in; memory is exchanged.

topic: modules
features: batch-norm, conv2d, double-backward, version-counter, strides
rule: torch.autograd.grad
"""

import torch

torch.manual_seed(0)
x = torch.tensor([[0.5, -1.0], [2.0, 1.0], [-1.5, 0.25]], requires_grad=True)
image = torch.arange(9.0).reshape(1, 1, 3, 3).requires_grad_()
versions, strides = [], []
for layer, argument in (
    (torch.nn.BatchNorm1d(2), x),
    (torch.nn.BatchNorm1d(2, affine=False), x),
    (torch.nn.Conv2d(1, 2, 2), image),
    (torch.nn.ConvTranspose2d(1, 2, 2), image),
):
    inputs = [argument, *layer.parameters()]
    first = torch.autograd.grad((layer(argument) ** 3).sum(), inputs, create_graph=True)
    second = torch.autograd.grad(sum((grad**2).sum() for grad in first), inputs)
    versions.append([grad._version for grad in second])
    strides.append([grad.stride() for grad in second])
