"""addmm compares the summand and the first matrix with the second one; baddbmm looks at the first batch before.

topic: errors
features: addmm, baddbmm, addbmm, dtype, error
rule: torch.addmm
"""

import torch

single, double = torch.eye(2), torch.eye(2, dtype=torch.float64)
torch.addmm(single, single, double)  # raises RuntimeError
torch.addmm(single, double, single)  # raises RuntimeError
torch.addmm(single, double[0], double)  # raises RuntimeError
torch.addbmm(single, double[None], double[None])  # raises RuntimeError
torch.baddbmm(single[None], double[None], single[None])  # raises RuntimeError
torch.baddbmm(single[None], single[None], double[None])  # raises RuntimeError
torch.nn.functional.linear(single, double, single[0])  # raises RuntimeError
