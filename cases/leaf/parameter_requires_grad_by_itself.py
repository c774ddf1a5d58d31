"""A Parameter requires grad unless told otherwise, and shares the memory and the version of the tensor it
was made from.

topic: leaf
features: leaf, parameter, requires-grad
rule: torch.nn.parameter.Parameter
"""

import torch

source = torch.tensor([1.0, 2.0])
p = torch.nn.Parameter(source)
frozen = torch.nn.Parameter(source, requires_grad=False)
source.add_(1.0)
(p * 3.0).sum().backward()
shared = p.data_ptr() == source.data_ptr()
