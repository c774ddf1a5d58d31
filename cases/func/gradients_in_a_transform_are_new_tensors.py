"""Inside grad, gradients that are otherwise written into zeros are made as new tensors: their version is 0.

topic: func
features: func, grad, version-counter, indexing
rule: torch.func.grad
"""

import torch

x = torch.tensor([2.0, 1.0, 2.0])
places = torch.tensor([0, 0, 2])
functions = {
    "index": lambda t: t[places].sum(),
    "index_select": lambda t: t.index_select(0, places).sum(),
    "gather": lambda t: t.gather(0, places).sum(),
    "take": lambda t: t.take(places).sum(),
    "masked_select": lambda t: t.masked_select(t > 1.0).sum(),
    "max": lambda t: t.max(),
    "sort": lambda t: t.sort().values[0],
    "cummax": lambda t: t.cummax(0).values.sum(),
}
versions = {name: torch.func.grad(function)(x)._version for name, function in functions.items()}
leaf = x.clone().requires_grad_()
plain = {name: torch.autograd.grad(function(leaf), leaf)[0]._version for name, function in functions.items()}
