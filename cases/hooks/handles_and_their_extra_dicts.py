"""A handle takes its hook out of the dict of hooks and of dicts that say more about it; handles can be pickled.

topic: hooks
features: handle, pickle, extra_dict, register_multi_grad_hook
rule: torch.Tensor.register_hook
source: probed
"""
import copy
import pickle
from collections import OrderedDict

import torch

hooks_module = __import__(torch.__name__ + ".utils.hooks", fromlist=["RemovableHandle"])
x = torch.ones(1, requires_grad=True)
h = x.register_hook(print)
print(type(h), len(h.__getstate__()), h.extra_dict_ref, sorted(vars(h)))
m = torch.autograd.graph.register_multi_grad_hook((x,), print)
print(type(m).__name__, type(m).__mro__[1], type(m) is hooks_module.RemovableHandle)

def removed():
    hooks, extra = OrderedDict(), OrderedDict()
    handle = hooks_module.RemovableHandle(hooks, extra_dict=extra)
    hooks[handle.id] = extra[handle.id] = 1  # numbers that count all handles of the process
    again = pickle.loads(pickle.dumps((hooks, extra, handle)))
    print(len(again[0]), len(again[1]))
    again[2].remove()
    print(len(again[0]), len(again[1]))
    shallow = copy.copy(handle)
    shallow.remove()
    print(len(hooks), len(extra))
    handle.remove()
    handle.__setstate__((None, 3))
    print(handle.hooks_dict_ref(), handle.extra_dict_ref)

removed()
hooks_module.RemovableHandle([])  # raises TypeError
hooks_module.RemovableHandle({})  # raises TypeError
