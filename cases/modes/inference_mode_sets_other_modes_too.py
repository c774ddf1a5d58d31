"""inference_mode sets grad mode, forward mode, multithreading and view replay together, and gives them back after.

topic: modes
features: inference-mode, multithreading, forward-mode, view-replay
rule: torch.autograd.grad_mode.inference_mode
"""

import torch
from torch.autograd.forward_ad import _set_fwd_grad_enabled


def shown():
    print(
        torch.is_grad_enabled(),
        torch._C._is_fwd_grad_enabled(),
        torch.autograd.is_multithreading_enabled(),
        torch.autograd.is_view_replay_enabled(),
    )


with torch.inference_mode():
    shown()
with torch.autograd.set_multithreading_enabled(False), torch.no_grad(), _set_fwd_grad_enabled(False):
    with torch.autograd._force_original_view_tracking(True):
        with torch.inference_mode(False):
            shown()
        shown()
shown()
