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
hooks, extra = OrderedDict(), OrderedDict()
r = hooks_module.RemovableHandle(hooks, extra_dict=extra)
hooks[r.id] = extra[r.id] = 1
again = pickle.loads(pickle.dumps((hooks, extra, r)))
print(len(again[0]), len(again[1]))
again[2].remove()
print(len(again[0]), len(again[1]))
shallow = copy.copy(r)
shallow.remove()
print(len(hooks), len(extra))
r.remove()
hooks_module.RemovableHandle([])  # raises TypeError
hooks_module.RemovableHandle({})  # raises TypeError
r.__setstate__((None, 3))
print(r.hooks_dict_ref(), r.extra_dict_ref)
