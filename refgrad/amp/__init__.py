"""`torch.amp`: regions of mixed precision, Functions in them, and the scaling of gradients."""

from refgrad.amp.autocast_mode import autocast as autocast
from refgrad.amp.autocast_mode import custom_bwd as custom_bwd
from refgrad.amp.autocast_mode import custom_fwd as custom_fwd
from refgrad.amp.autocast_mode import is_autocast_available as is_autocast_available
from refgrad.amp.grad_scaler import GradScaler as GradScaler
