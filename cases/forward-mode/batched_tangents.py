"""A tangent may have a value for each sample: it is kept as it is where it lies like the primal.

topic: forward-mode
features: vmap, views, in-place, jvp
rule: torch.autograd.forward_ad.make_dual
"""
import torch

forward_ad = torch.autograd.forward_ad
tangents = torch.tensor([[[1.0, 2.0], [3.0, 4.0]], [[0.5, 1.0], [0.0, -1.0]]])
primal = torch.tensor([[1.0, 2.0], [0.5, 3.0]])
calls = []

class Square(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_forward(x)
        return x * x

    @staticmethod
    def jvp(ctx, tangent):
        calls.append(tangent.shape)
        return 2 * ctx.saved_tensors[0] * tangent

def along(tangent):
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(primal, tangent)
        turned = torch.zeros(2, 2).t()
        turned.copy_(dual)
        results = dual, dual.sin() * dual, turned, turned._base, Square.apply(dual), dual.t()[1]
        return tuple(forward_ad.unpack_dual(result).tangent for result in results)

def show(same, product, turned, base, square, part):
    print(same is tangents, turned._base is base, turned.stride(), base)
    print(product, square, part, calls)

show(*torch._vmap_internals._vmap(along)(tangents))

def beyond(tangent):
    with forward_ad.dual_level():
        return forward_ad.make_dual(torch.zeros(3)[:2], tangent).as_strided((3,), (1,), 0)

torch._vmap_internals._vmap(beyond)(torch.ones(2, 2))  # raises RuntimeError
torch.vmap(along)(tangents)  # raises RuntimeError
x = torch.tensor([0.5, 1.0], dtype=torch.float64, requires_grad=True)
print(torch.autograd.gradcheck(Square.apply, x, check_forward_ad=True, check_backward_ad=False, check_batched_forward_grad=True))
