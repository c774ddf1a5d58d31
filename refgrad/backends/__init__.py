"""`torch.backends`: what scripts ask and set about backends; none but the CPU is there.

Setting a flag is allowed and has no effect.
"""

from refgrad.backends import cuda, cudnn, mkl, mkldnn, mps, openmp

__all__ = ["cuda", "cudnn", "mkl", "mkldnn", "mps", "openmp"]
