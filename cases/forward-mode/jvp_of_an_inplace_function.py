"""A Function that writes its input has to write the tangent too; one that returns a view, a view of it.

topic: forward-mode
features: custom-function, dual-tensor, inplace, error
rule: https://docs.pytorch.org/docs/stable/notes/extending.html#forward-mode-ad
"""

import torch

fw = torch.autograd.forward_ad


class Double(torch.autograd.Function):
    in_place = True

    @staticmethod
    def forward(ctx, x):
        ctx.mark_dirty(x)
        return x.mul_(2)

    @staticmethod
    def jvp(ctx, t):
        return t.mul_(2) if Double.in_place else t * 2


class Row(torch.autograd.Function):
    view = False

    @staticmethod
    def forward(ctx, x):
        return x.view(1, -1)

    @staticmethod
    def jvp(ctx, t):
        return t.view(1, -1) if Row.view else t.clone().view(1, -1)


level = fw.enter_dual_level()
d = fw.make_dual(torch.tensor([1.0, 2.0]), torch.tensor([3.0, 4.0]))
good = fw.unpack_dual(Double.apply(d))
Double.in_place = False
bad = Double.apply(d)  # raises RuntimeError
copied = Row.apply(d)  # raises RuntimeError
Row.view = True
viewed = fw.unpack_dual(Row.apply(d)).tangent
fw.exit_dual_level()
