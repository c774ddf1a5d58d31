"""Integers, slices and None make views; lists, masks and index tensors make copies with IndexBackward0.

topic: views
features: view, indexing, advanced-indexing
rule: https://docs.pytorch.org/docs/stable/tensor_view.html
"""

import torch

x = torch.arange(6.0).reshape(2, 3).requires_grad_()
element = x[1, 2]
row = x[0]
part = x[:, 1:]
grown = x[None]
everything = x[...]
listed = x[[1, 0]]
masked = x[x > 2.0]
mixed = x[1, [0, 2]]
views = [t._is_view() for t in (element, row, part, grown, everything, listed, masked, mixed)]
