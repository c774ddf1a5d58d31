"""Anomaly mode belongs to the process, grad mode and inference mode to the thread.

topic: modes
features: threads, anomaly, grad-mode, inference-mode
rule: https://docs.pytorch.org/docs/stable/notes/autograd.html#multithreaded-autograd
"""

import threading

import torch

seen = []


def look():
    seen.append((torch.is_anomaly_enabled(), torch.is_grad_enabled(), torch.is_inference_mode_enabled()))
    y = torch.ones(1, requires_grad=True).exp()
    seen.append(list(y.grad_fn.metadata))
    torch.autograd.set_detect_anomaly(False)


with torch.autograd.set_detect_anomaly(True), torch.inference_mode():
    thread = threading.Thread(target=look)
    thread.start()
    thread.join()
    seen.append(torch.is_anomaly_enabled())
