"""A pickled view comes back with all of its memory, its offset and strides, sharing with nothing.

topic: copies
features: pickle, views, storage
rule: https://docs.pytorch.org/docs/stable/notes/serialization.html#saving-and-loading-tensors-preserves-views
"""

import pickle

import torch

x = torch.arange(6.0).reshape(2, 3)
part = x.t()[1:]
whole, again = pickle.loads(pickle.dumps((x, part)))
whole.zero_()
again.stride(), again.storage_offset(), again.untyped_storage().nbytes()
twice = pickle.loads(pickle.dumps([x, x]))
twice[0] is twice[1]
