"""`torch.cuda.amp`: autocast and GradScaler for a device that is not here, under their old names."""

from refgrad import dtypes
from refgrad.amp.old_names import autocast_for, scaler_for

autocast = autocast_for("cuda", dtypes.float16)
GradScaler = scaler_for("cuda")
