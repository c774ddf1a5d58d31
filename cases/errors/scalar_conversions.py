"""One element converts to a number; more do not, and numpy refuses a tensor that requires grad.

topic: errors
features: item, numpy, bool, error
rule: torch.Tensor.item, torch.Tensor.numpy
"""

import torch

x = torch.tensor([1.0, 2.0], requires_grad=True)
x.item()  # raises RuntimeError
bool(x)  # raises RuntimeError
float(x)  # raises ValueError
len(torch.tensor(1.0))  # raises TypeError
x.numpy()  # raises numpy
number = x[1].item()
truth = bool(x[0] > 0.5)
array = x.detach().numpy().tolist()
