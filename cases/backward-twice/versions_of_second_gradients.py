"""The version of a second gradient tells whether PyTorch filled it in place: of pooling and aminmax it did,
of layer norm, convolution and trace not.

topic: backward-twice
features: double-backward, version-counter
rule: https://docs.pytorch.org/docs/stable/notes/autograd.html#in-place-correctness-checks
"""

import torch
import torch.nn.functional as F

functions = [
    lambda x: F.max_pool2d(x, 2),
    lambda x: F.avg_pool2d(x, 2),
    lambda x: F.adaptive_avg_pool2d(x, 2),
    lambda x: F.layer_norm(x, (4,)),
    lambda x: F.conv2d(x, torch.ones(1, 1, 2, 2, dtype=x.dtype, requires_grad=True)),
    lambda x: torch.aminmax(x)[0] + torch.aminmax(x)[1],
    lambda x: x[0, 0].trace(),
]
for function in functions:
    x = (torch.arange(16.0, dtype=torch.float64) / 8).reshape(1, 1, 4, 4).requires_grad_()
    (first,) = torch.autograd.grad(function(x).pow(2).sum(), x, create_graph=True)
    (second,) = torch.autograd.grad((first**2).sum(), x)
    print(first._version, second._version, second)
