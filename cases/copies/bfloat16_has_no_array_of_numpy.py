"""NumPy has no bfloat16: numpy() refuses, and the way there is by float32; copies and pickles keep the type.

topic: copies
features: bfloat16, numpy, deepcopy, pickle, error
rule: torch.Tensor.numpy
"""

import copy
import pickle

import numpy as np
import torch

x = torch.tensor([1.5, -2.25], dtype=torch.bfloat16)
refused = x.numpy()  # raises TypeError
forced = x.numpy(force=True)  # raises TypeError
as_array = np.asarray(x)  # raises TypeError
plain = x.float().numpy()
first = x[0].item()
leaf = x.clone().requires_grad_()
deep = copy.deepcopy(leaf)
back = pickle.loads(pickle.dumps(leaf))
(back * deep).sum().backward()
