"""Of two zeros of different sign, maximum keeps the second where its loop takes vectors, and the first in the rest.

topic: numerics
features: maximum, minimum, clamp, signed-zero
rule: torch.maximum
"""

import torch

minus, plus = torch.full((40,), -0.0), torch.zeros(40)
for first, second in ((minus, plus), (plus, minus)):
    print(torch.maximum(first, second).signbit().tolist(), torch.minimum(first, second).signbit().tolist())
print(minus.clamp(min=plus).signbit().tolist(), minus.clamp(min=0).signbit().tolist())
print(torch.maximum(minus.view(4, 10).t(), plus.view(4, 10).t()).signbit().tolist())
print(torch.maximum(minus[::8], plus[::8]).signbit().tolist())
