"""Old code makes an instance of a Function: it warns, has all that a context has, leads nowhere, and cannot be called.

topic: functions
features: function, legacy, errors
rule: https://docs.pytorch.org/docs/stable/autograd.html#torch.autograd.Function
"""
import torch


class Same(torch.autograd.Function):
    def forward(self, x):
        return x


one = Same()
print(one.next_functions, one.metadata, one.saved_tensors, one.name(), one._input_metadata)
print(one.to_save, one.dirty_tensors, one.needs_input_grad, one._materialize_non_diff_grads)
one.set_materialize_grads(False)
one.save_for_backward(torch.ones(1))
print(one.saved_tensors)
torch.autograd.Variable(torch.zeros(1), _grad_fn=one)  # raises RuntimeError
one(torch.zeros(1))  # raises RuntimeError
