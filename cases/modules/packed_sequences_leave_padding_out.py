"""What stands in the padding of a packed sequence has no part in the result, and gets no gradient.

topic: modules
features: packed-sequence, gru
rule: torch.nn.utils.rnn.pack_padded_sequence
"""

import torch

torch.manual_seed(0)
layer = torch.nn.GRU(1, 2, batch_first=True)
x = torch.tensor([[[1.0], [2.0], [3.0]], [[4.0], [100.0], [100.0]]], requires_grad=True)
packed = torch.nn.utils.rnn.pack_padded_sequence(x, [3, 1], batch_first=True)
sizes = packed.batch_sizes
out, last = layer(packed)
padded, lengths = torch.nn.utils.rnn.pad_packed_sequence(out, batch_first=True)
padded.sum().backward()
