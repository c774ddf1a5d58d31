"""Each tensor that a Function saved has a handle, the same one as long as it is held, that takes hooks once.

topic: saved
features: raw-saved, register-hooks, custom-function
rule: torch.autograd.graph.saved_tensors_hooks
"""
import torch

class Exp(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, factor):
        result = x.exp()
        ctx.save_for_backward(x, factor, result, None)
        return result

    @staticmethod
    def backward(ctx, grad):
        print(ctx.saved_tensors)
        return grad * ctx.saved_tensors[2], None

x, factor = torch.tensor([0.0, 1.0], requires_grad=True), torch.tensor(3.0)
y = Exp.apply(x, factor)
handles = y.grad_fn._raw_saved_tensors
print([type(handle).__name__ for handle in handles], handles[0] is y.grad_fn._raw_saved_tensors[0])
print([handle.data for handle in handles])
for handle in handles[:3]:
    handle.register_hooks(lambda tensor: (tensor.requires_grad, tensor + 1), lambda packed: packed[1])

print(handles[0].data, handles[2].unpack_hook is None)
handles[0].register_hooks(lambda tensor: tensor, lambda tensor: tensor)  # raises RuntimeError
handles[3].register_hooks(lambda tensor: tensor, lambda tensor: tensor)  # raises RuntimeError
y.sum().backward()
print(x.grad)
y.grad_fn._raw_saved_tensors  # raises RuntimeError
z = x[torch.tensor([1])]
print(z.grad_fn._raw_saved_indices[0] is z.grad_fn._raw_saved_indices[0], type(z.grad_fn._raw_saved_indices))
z.sum().backward()
z.grad_fn._raw_saved_indices  # raises RuntimeError
torch.autograd.SavedTensor()  # raises RuntimeError
