"""Random numbers under `vmap`: refused, drawn for the whole batch at once, or drawn once for all samples.

topic: func
features: vmap, randomness, dropout, in-place, bernoulli
rule: torch.vmap
"""

import torch

batch = torch.arange(6.0).view(3, 2)
torch.vmap(lambda row: row + torch.rand(2))(batch)  # raises RuntimeError
torch.vmap(lambda row: row + torch.rand(2), randomness="different")(batch)
torch.vmap(lambda row: row + torch.rand(2), randomness="same")(batch)
torch.vmap(lambda row: torch.randn_like(row), randomness="different")(batch)
torch.vmap(lambda row: torch.randn_like(row), randomness="same")(batch)
torch.vmap(lambda row: torch.randperm(4), randomness="different")(batch)
tracked = batch.clone().requires_grad_()
dropped = torch.vmap(lambda row: torch.nn.functional.dropout(row, 0.5), randomness="different")(tracked)
dropped.sum().backward()
torch.vmap(lambda row: torch.zeros(2).normal_(), randomness="different")(batch)  # raises RuntimeError
torch.vmap(lambda row: row.clone().normal_(), randomness="same")(batch)
torch.vmap(lambda row: torch.bernoulli(row / 6), randomness="different")(batch)
torch.vmap(lambda row: torch.bernoulli(row / 6), randomness="same")(batch)  # raises RuntimeError
torch.vmap(lambda row: row if row.sum() > 2 else -row, randomness="different")(batch)  # raises RuntimeError
torch.rand(2)
