"""autocast and GradScaler under the names of single devices warn; those for CUDA switch themselves off where
there is none.

topic: interface
features: autocast, grad-scaler, deprecation, warning
rule: https://docs.pytorch.org/docs/stable/amp.html
"""

import torch
from torch.cuda.amp import GradScaler, autocast

x = torch.tensor([[1.0, 2.0], [0.5, -1.0]], requires_grad=True)
scaler = GradScaler()
with autocast():
    y = x @ x
scaled = scaler.scale(y.sum())
scaled.backward()
with torch.cpu.amp.autocast():
    lower = x @ x
of_cpu = torch.cpu.amp.GradScaler(init_scale=8.0)
print(of_cpu.get_scale(), scaler.get_scale(), scaler.is_enabled(), of_cpu.is_enabled())
old = torch.is_autocast_cpu_enabled(), torch.get_autocast_gpu_dtype()
torch.set_autocast_cpu_dtype(torch.float16)
now = torch.get_autocast_dtype("cpu")
torch.set_autocast_dtype("cpu", torch.bfloat16)
