"""A write to a batched tensor writes to the whole batch, once, with the rules of views and versions.

topic: func
features: vmap, in-place, version, view, as_strided
rule: torch.vmap
"""

import torch

batch = torch.arange(6.0).view(3, 2)
torch.vmap(lambda row: row.mul_(2))(batch)
batch._version


def shifted(row):
    row = row * 1
    row[0] = row[1]
    row[1:] += 10
    return row


moved = torch.vmap(shifted)(batch.clone().requires_grad_())
filled = torch.vmap(lambda row: torch.zeros_like(row).copy_(row))(batch)
torch.vmap(lambda row: row.unsqueeze_(0))(batch.clone())
target = torch.zeros(2)
torch.vmap(lambda row: target.add_(row))(batch)  # raises RuntimeError
torch.vmap(lambda row: target.copy_(row))(batch)  # raises RuntimeError
target
