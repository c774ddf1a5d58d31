"""What would have another shape for each sample, or tell a sample's values, is refused under `vmap`.

topic: func
features: vmap, errors
rule: torch.vmap
"""

import torch

batch = torch.tensor([[1.0, 0.0], [2.0, 2.0]])
torch.vmap(torch.unique)(batch)  # raises RuntimeError
torch.vmap(lambda row: row.masked_select(row > 0))(batch)  # raises RuntimeError
torch.vmap(lambda row: row[row > 0])(batch)  # raises RuntimeError
torch.vmap(torch.nonzero)(batch)  # raises RuntimeError
torch.vmap(lambda row: torch.equal(row, row))(batch)  # raises RuntimeError
torch.vmap(lambda row: torch.allclose(row, row))(batch)  # raises RuntimeError
torch.vmap(lambda row: row.data)(batch)  # raises RuntimeError
torch.vmap(lambda row: row.data_ptr())(batch)  # raises RuntimeError
torch.vmap(lambda row: row.untyped_storage())(batch)  # raises NotImplementedError
