"""detect_anomaly lets a NaN pass with check_nan=False and raises on it by default.

topic: modes
features: anomaly-mode, nan, div
rule: torch.autograd.detect_anomaly
source: R165, pytorch/pytorch#83117
"""

import torch

x = torch.tensor([0.0], requires_grad=True)
with torch.autograd.detect_anomaly(check_nan=False):
    y = (x / x).sum()
with torch.autograd.detect_anomaly(check_nan=False):
    y.backward()
z = (x / x).sum()
with torch.autograd.detect_anomaly():
    z.backward()  # raises nan
state = torch.is_anomaly_enabled()
