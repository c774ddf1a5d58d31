"""A module asked for on a device that this build does not have is refused before its first parameter is drawn.

topic: modules
features: device, error, random-stream
rule: torch.nn.Module
"""

import torch

nn = torch.nn
generator = torch.manual_seed(0)
nn.Linear(2, 1, device="cuda")  # raises AssertionError
nn.LSTM(2, 3, device="cuda")  # raises AssertionError
nn.GRUCell(2, 3, device="cuda")  # raises AssertionError
nn.MultiheadAttention(4, 2, device="cuda")  # raises AssertionError
nn.TransformerEncoderLayer(4, 2, device="cuda")  # raises AssertionError
nn.EmbeddingBag(3, 2, device="cuda")  # raises AssertionError
torch.rand(2, device=torch.device("cuda"))  # raises AssertionError
nn.Linear(2, 1, dtype="float32")  # raises TypeError
weight = nn.Linear(2, 1, device="cpu").weight
