"""copy.copy, pickle and torch.save keep the conjugate and negative bits; deepcopy stores the values it shows.

topic: copies
features: copy, deepcopy, pickle, save, conj, neg
rule: torch.Tensor.is_conj
source: probed
"""
import copy
import io
import pickle

import torch


def saved(tensor):
    file = io.BytesIO()
    torch.save(tensor, file)
    file.seek(0)
    return torch.load(file)


def pickled(tensor):
    return pickle.loads(pickle.dumps(tensor))


c = torch.tensor([1 + 2j, 3 + 4j]).conj()
n = c.imag
p = torch.nn.Parameter(c)
for made in (copy.copy, copy.deepcopy, pickled, saved):
    for x in (c, n, c[1:], p):
        y = made(x)
        print(y, y.is_conj(), y.is_neg(), y.stride(), y.storage_offset(), y.data_ptr() == x.data_ptr())
shallow = copy.copy(c)
shallow[0] = 5 - 1j
print(c, c._version, shallow._version)
