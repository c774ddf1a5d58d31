"""Anomaly mode is switched by bools alone; what it refuses leaves it as it was.

topic: modes
features: anomaly-mode, error
rule: torch.autograd.set_detect_anomaly
"""

import torch

torch.autograd.set_detect_anomaly(1)  # raises TypeError
torch.autograd.set_detect_anomaly(True, check_nan=0)  # raises TypeError
before = torch.is_anomaly_enabled()
with torch.autograd.detect_anomaly(check_nan=None):  # raises TypeError
    inside = torch.is_anomaly_enabled()
with torch.autograd.set_detect_anomaly(True, False):
    states = torch.is_anomaly_enabled(), torch.is_anomaly_check_nan_enabled()
after = torch.is_anomaly_enabled()
x = torch.tensor([1.0, 2.0], requires_grad=True)
y = torch.detach(x * 2.0)
z = x * 2.0
same = torch.detach_(z) is z
torch.detach(3.0)  # raises TypeError
