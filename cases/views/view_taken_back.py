"""A view that kept how it was made leads back from another view to what its base would be.

topic: views
features: view-func, replay, as-strided
rule: https://docs.pytorch.org/docs/stable/tensor_view.html
"""
import torch

plain = torch.ones(2, 4)[1]
plain._rev_view_func_unsafe(torch.ones(4))  # raises RuntimeError
print(torch.ones(2)._rev_view_func_unsafe(torch.ones(2)))
pair = torch.view_as_complex(torch.ones(2, 2))
whole = pair._rev_view_func_unsafe(torch.zeros(2, dtype=torch.complex64))
print(whole, whole._is_view())
with torch.autograd._force_original_view_tracking(True):
    kept = torch.randn(2, 3, 4).zero_()
    part = kept.transpose(0, 1).unsqueeze(-1)
    real = torch.ones(2, dtype=torch.complex64).real
    seen = part.detach()
    back = part._rev_view_func_unsafe(seen)
    print(back.shape, back.stride(), back._base is seen, real._rev_view_func_unsafe(torch.zeros(4)[::2]))
    print(part._view_func(torch.ones(2, 3, 4)).shape)
