"""as_strided takes sizes and strides of the storage; the offset defaults to the tensor's own, and
overlapping reads are summed.

topic: views
features: view, as-strided, storage-offset
rule: torch.as_strided
"""

import torch

x = torch.arange(4.0, requires_grad=True)
tail = x[2:].as_strided((2,), (1,))
start = x[2:].as_strided((2,), (1,), 1)
overlapping = x.as_strided((3, 2), (1, 1))
overlapping.sum().backward()
