"""With max_norm the rows are brought to their norm before they are looked up, and bad indices fail there.

topic: modules
features: embedding, error, version-counter
rule: torch.nn.functional.embedding
"""

import torch
from torch.nn.functional import embedding

table = torch.full((3, 2), 3.0, requires_grad=True)
embedding(torch.tensor([5]), table)  # raises IndexError
embedding(torch.tensor([0, 5]), table, max_norm=1.0)  # raises IndexError
embedding(torch.tensor([0.0]), table, max_norm=1.0)  # raises RuntimeError
embedding(torch.tensor([True]), table)  # raises RuntimeError
square = table * table
rows = embedding(torch.tensor([1]), table, max_norm=1.0)
square.sum().backward()  # raises RuntimeError
