"""relu_ on the result of sigmoid destroys what sigmoid saved.

topic: inplace
features: inplace, relu, sigmoid, version-counter
rule: torch.nn.functional.relu
"""

import torch

x = torch.tensor([-1.0, 2.0], requires_grad=True)
y = x.sigmoid()
y.relu_()
y.sum().backward()  # raises version-mismatch
