"""What copy, deepcopy or pickle makes in inference mode is an inference tensor, also of an ordinary one; outside,
copies of an inference tensor are ordinary.

topic: copies
features: copy, deepcopy, pickle, inference-mode, parameter
rule: torch.inference_mode
source: probed
"""
import copy
import pickle

import torch


def pickled(tensor):
    return pickle.loads(pickle.dumps(tensor))


x = torch.ones(2)
p = torch.nn.Parameter(torch.ones(2))
with torch.inference_mode():
    i = torch.ones(2)
    for made in (copy.copy, copy.deepcopy, pickled):
        for given in (x, p, i, i[1:]):
            y = made(given)
            print(y.is_inference(), y.requires_grad)
for made in (copy.copy, copy.deepcopy, pickled):
    y = made(i)
    print(y.is_inference(), y.requires_grad, y._version)
