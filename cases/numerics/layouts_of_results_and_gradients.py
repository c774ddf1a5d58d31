"""A pointwise result, and the gradient computed from it, lies in memory as its operands do, the first that differ deciding.

topic: numerics
features: strides, layout, storage, gradients
rule: torch.Tensor.stride
"""

import torch


def layouts():
    base = torch.arange(1.0, 25.0)
    yield base[:6].view(2, 3)
    yield base[:6].view(3, 2).t()
    yield base[:3].expand(2, 3)
    yield base[:2].view(2, 1).expand(2, 3)
    yield base.view(4, 6)[::2, ::2]
    yield base.view(6, 4)[::2, ::2].t()


def strides(*tensors):
    return [(t.stride(), t.untyped_storage().nbytes()) for t in tensors]


for i, a in enumerate(layouts()):
    rows = []
    for b in layouts():
        rows.append(strides(a + b, a * b, b.maximum(a), torch.where(a > 3, a, b), a.addcmul(a, b)))
    print(i, rows)

for i, a in enumerate(layouts()):
    for k, grad in enumerate(layouts()):
        x = a.detach().requires_grad_()
        w = a * 2.0
        results = [x * w, x / w, x.exp(), x.sigmoid(), x.sqrt(), x.tanh(), x * 2.0, -x, x.sin()]
        print(i, k, strides(*[torch.autograd.grad(y, x, grad)[0] for y in results]))

cube = torch.arange(24.0).view(2, 3, 4)
for a in (cube.permute(2, 0, 1), cube.permute(1, 0, 2), cube[:, :, ::2].permute(2, 1, 0)):
    print(strides(a + 1, a * a, a + cube.permute(2, 0, 1)[: a.shape[0], :1, :1], a.exp()))
