"""A tensor made from an array shares its memory in both directions, and NumPy's writes leave the version
alone.

topic: copies
features: numpy, from-numpy, storage, version-counter
rule: torch.from_numpy
"""

import numpy as np
import torch

array = np.ones(3, dtype=np.float32)
t = torch.from_numpy(array)
array[0] = 5.0
version = t._version
t.mul_(2.0)
seen = array.tolist()
back = t.numpy() is not array
