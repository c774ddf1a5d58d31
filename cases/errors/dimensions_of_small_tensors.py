"""Where there is nothing to do, some functions look at no dimension at all; of a scalar each has its own idea.

topic: errors
features: cat, cummax, repeat_interleave, unique, error
rule: torch.cat
"""

import torch

empty, scalar = torch.empty(0, requires_grad=True), torch.tensor(2.0)
joined = torch.cat([empty, empty], 5)
greatest = torch.cummax(torch.empty(2, 0), 7)
torch.cumsum(torch.empty(2, 0), 7)  # raises IndexError
scalar.cummax(1)  # raises IndexError
scalar.cumsum(1)  # raises IndexError
scalar.repeat_interleave(2, 0)  # raises IndexError
twice = scalar.repeat_interleave(2)
scalar.unique(dim=0)  # raises IndexError
torch.nn.functional.batch_norm(torch.ones(3), None, None, training=True)  # raises IndexError
torch.nn.functional.max_pool1d(torch.ones(0, 3), 1)  # raises RuntimeError
