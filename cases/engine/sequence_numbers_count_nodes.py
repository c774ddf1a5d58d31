"""Each node made takes the next sequence number; nothing is counted under no_grad, and a leaf's accumulator
has the largest there is.

topic: engine
features: engine, sequence-number, no-grad
rule: https://docs.pytorch.org/docs/stable/autograd.html#autograd-graph
"""

import torch

a = torch.tensor([1.0], requires_grad=True)
b = a * 2.0
with torch.no_grad():
    skipped = a * 2.0
c = b.sin()
d = c.view(1)
apart = (
    c.grad_fn._sequence_nr() - b.grad_fn._sequence_nr(),
    d.grad_fn._sequence_nr() - c.grad_fn._sequence_nr(),
)
largest = b.grad_fn.next_functions[0][0]._sequence_nr() == 2**64 - 1
