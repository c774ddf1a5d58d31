"""The private functions behind hooks on saved tensors, the kinds of views and the modes of a thread.

topic: interface
features: private-names, saved-tensor-hooks, views, save_on_cpu, modes
rule: torch.autograd.graph.saved_tensors_hooks
source: probed
"""
import torch

own = torch._C._autograd
print(own._top_saved_tensors_default_hooks(True))
own._push_saved_tensors_default_hooks(abs, len)
print(own._top_saved_tensors_default_hooks(True))
own._saved_tensors_hooks_disable("no hooks")  # raises RuntimeError
print(own._saved_tensors_hooks_get_disabled_error_message())
own._saved_tensors_hooks_enable()
own._pop_saved_tensors_default_hooks()
own._push_saved_tensors_default_hooks(1, 2)  # raises TypeError
own._saved_tensors_hooks_disable("no hooks")
own._push_saved_tensors_default_hooks(abs, len)  # raises RuntimeError
print(own._saved_tensors_hooks_is_enabled(), own._saved_tensors_hooks_get_disabled_error_message())
own._saved_tensors_hooks_enable()
print(own._saved_tensors_hooks_is_enabled(), own._saved_tensors_hooks_get_disabled_error_message())

x = torch.ones(2, 2, requires_grad=True)
y = x * 1
with torch.no_grad():
    n = y.t()
print([own._get_creation_meta(view) for view in (y.t(), n, y.unbind()[0])], own.CreationMeta.INFERENCE_MODE)
own._get_creation_meta(y)  # raises RuntimeError
own._set_creation_meta(y, own.CreationMeta.DEFAULT)  # raises RuntimeError
own._set_creation_meta(n, own.CreationMeta.DEFAULT)
print(own._get_creation_meta(n))

print(torch._C._is_view_replay_enabled(), torch._C._is_multithreading_enabled())
torch._C._set_view_replay_enabled(True)
torch._C._set_multithreading_enabled(False)
print(torch._C._is_view_replay_enabled(), torch._C._is_multithreading_enabled())
torch._C._set_view_replay_enabled(False)
torch._C._set_multithreading_enabled(True)
print(issubclass(torch.autograd.Function, torch._C._FunctionBase), torch._C._FunctionBase.__name__)
print(isinstance(torch.autograd.Variable._execution_engine, torch._C._ImperativeEngine))

with torch.autograd.graph.save_on_cpu():
    z = x.sin()
print(z.grad_fn._raw_saved_self.data, z.grad_fn._saved_self is x)
with torch.autograd.graph.allow_mutation_on_saved_tensors() as kept:
    u = x.sin()
    w = u.cos()
    print(len(kept.sid_to_tid), len(kept.tid_to_weakhandle), len(kept.cloned), len(kept.original))
    u.mul_(2)
    print(len(kept.sid_to_tid), len(kept.tid_to_weakhandle), len(kept.cloned), len(kept.original))
print(len(kept.sid_to_tid))
print(torch.autograd.graph._get_sid(x)[1], torch.autograd.graph._get_tid(x)[0] == id(x))
