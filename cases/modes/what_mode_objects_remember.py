"""A mode object keeps, under PyTorch's names, the mode it sets and the one it found.

topic: modes
features: no_grad, set_grad_enabled, set_detect_anomaly, private-names
rule: torch.autograd.grad_mode.set_grad_enabled
source: probed
"""
import torch

print(torch.no_grad().prev)
x = torch.ones(1)
of_one = torch.autograd._unsafe_preserve_version_counter(x)
print(of_one.tensors, of_one.prev_versions)
for make in (
    lambda: torch.set_grad_enabled(False),
    lambda: torch.autograd.set_multithreading_enabled(False),
    lambda: torch.autograd._force_original_view_tracking(True),
):
    with make() as entered:
        mode = make()
        print(mode.prev, mode.mode, entered)
        mode.__exit__(None, None, None)
with torch.autograd.set_detect_anomaly(True, check_nan=False):
    inner = torch.autograd.set_detect_anomaly(False)
    print(inner.prev, inner.prev_check_nan)
    with inner:
        print(torch.is_anomaly_enabled())
    print(torch.is_anomaly_enabled(), torch.is_anomaly_check_nan_enabled())
