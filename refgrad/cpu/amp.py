"""`torch.cpu.amp`: autocast and GradScaler for the CPU, under their old names."""

from refgrad import dtypes
from refgrad.amp.old_names import autocast_for, scaler_for

autocast = autocast_for("cpu", dtypes.bfloat16)
GradScaler = scaler_for("cpu")
