"""Pickling a leaf warns of each hook that it drops, but for those marked as unserializable.

topic: copies
features: pickle, hooks, warning
rule: torch.Tensor.register_hook
"""

import io
import pickle

import torch
from torch.utils.hooks import unserializable_hook

x = torch.tensor([1.0], requires_grad=True)
marked = x.register_hook(unserializable_hook(lambda g: g * 2.0))
quiet = pickle.loads(pickle.dumps(x))
plain = x.register_hook(lambda g: g * 3.0)
loud = pickle.loads(pickle.dumps(x))
file = io.BytesIO()
torch.save({"kind": torch.nn.ReLU}, file)
file.seek(0)
torch.load(file)  # raises UnpicklingError
file.seek(0)
with torch.serialization.safe_globals([torch.nn.ReLU]):
    loaded = torch.load(file)["kind"] is torch.nn.ReLU
