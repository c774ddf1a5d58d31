"""Fourier transforms of the pieces of a signal: `stft`, and `istft`, which adds the pieces up again."""

import numpy as np

from refgrad import dtypes
from refgrad.modes import warn_once
from refgrad.op import calls, composite
from refgrad.tensor import Tensor, wrap

LEAKS = (
    "A window was not provided. A rectangular window will be applied,which is known to cause spectral "
    "leakage. Other windows such as torch.hann_window or torch.hamming_window are recommended to reduce "
    "spectral leakage.To suppress this warning and use a rectangular window, explicitly set "
    "`window=torch.ones(n_fft, device=<device>)`."
)
LOSES = (
    "A window was not provided. A rectangular window will be applied.Please provide the same window used by "
    "stft to make the inversion lossless.To suppress this warning and use a rectangular window, explicitly "
    "set `window=torch.ones(n_fft, device=<device>)`."
)
REAL_RESULT = (
    "stft with return_complex=False is deprecated. In a future pytorch release, stft will return complex "
    "tensors for all inputs, and return_complex=False will raise an error.\nNote: you can still call "
    "torch.view_as_real on the complex output to recover the old return format."
)
NO_CHOICE = (
    "stft requires the return_complex parameter be given for real inputs, and will further require that "
    "return_complex=True in a future PyTorch release."
)
PADDED = (
    "The length of signal is shorter than the length parameter. Result is being padded with zeros in the "
    "tail. Please check your center and hop_length settings."
)
NORMS = {False: 0, True: 1}  # none, and by the square root of the length


def listed(shape):
    """A shape as C++ shows it."""
    return f"[{', '.join(map(str, shape))}]"


def shown_window(window):
    """A window in the refusals."""
    return "None" if window is None else f"{window.dtype.tensor_type}{{{listed(window.shape)}}}"


def shown_choice(value):
    """A choice in the refusals, which may be left open."""
    return "None" if value is None else str(int(value))


def whole_window(window, win_length, n_fft):
    """A window with zeros at both ends, as long as the pieces."""
    if window is not None and win_length < n_fft:
        left = (n_fft - win_length) // 2
        return calls.constant_pad_nd(window, (left, n_fft - win_length - left), 0)
    return window


# Forward ----------------------------------------------------------------------------------------------------


def check_stft(title, signal, n_fft, hop, win_length, window):
    """Refuse what cannot be cut into pieces.

    Raises:
        RuntimeError: with PyTorch's text.
    """
    if signal.dtype.category < dtypes.FLOATING:
        raise RuntimeError(f"{title} : expected a tensor of floating point or complex values")
    if signal.dim() not in (1, 2):
        raise RuntimeError(f"{title} : expected a 1D or 2D tensor")
    length = signal.shape[-1]
    if not 0 < n_fft <= length:
        raise RuntimeError(f"{title} : expected 0 < n_fft < {length}, but got n_fft={n_fft}")
    if hop <= 0:
        raise RuntimeError(f"{title} : expected hop_length > 0, but got hop_length={hop}")
    if not 0 < win_length <= n_fft:
        raise RuntimeError(f"{title} : expected 0 < win_length <= n_fft, but got win_length={win_length}")
    if window is not None and tuple(window.shape) != (win_length,):
        raise RuntimeError(
            f"{title} : expected a 1D window tensor of size equal to win_length={win_length}, but got window "
            f"with size {listed(window.shape)}"
        )


def pieces_transformed(
    signal, n_fft, hop_length, win_length, window, normalized, onesided, return_complex, align_to_window
):
    """The transform of each piece of a signal that needs no padding."""
    if window is None:
        warn_once(LEAKS)
    hop = n_fft // 4 if hop_length is None else hop_length
    width = n_fft if win_length is None else win_length
    title = (
        f"stft({signal.dtype.tensor_type}{listed(signal.shape)}, n_fft={n_fft}, hop_length={hop}, "
        f"win_length={width}, window={shown_window(window)}, normalized={int(normalized)}, "
        f"onesided={shown_choice(onesided)}, return_complex={shown_choice(return_complex)}, "
        f"align_to_window={shown_choice(align_to_window)})"
    )
    is_complex = signal.is_complex() or window is not None and window.is_complex()
    gives_complex = is_complex if return_complex is None else return_complex
    if return_complex is None and not is_complex:
        raise RuntimeError(NO_CHOICE)
    if not gives_complex:
        warn_once(REAL_RESULT)
    check_stft(title, signal, n_fft, hop, width, window)
    half = not is_complex if onesided is None else onesided
    batch = signal if signal.dim() == 2 else calls.unsqueeze(signal, 0)
    count = 1 + (batch.shape[1] - n_fft) // hop
    steps = batch.stride()
    cut = calls.as_strided(batch, (batch.shape[0], count, n_fft), (steps[0], hop * steps[1], steps[1]))
    whole = whole_window(window, width, n_fft)
    if whole is not None:
        cut = calls.mul(cut, whole)
    if is_complex and half:
        raise RuntimeError("Cannot have onesided output if window or input is complex")
    norm = NORMS[normalized]
    if cut.is_complex():
        result = calls._fft_c2c(cut, (2,), norm, True)
    else:
        result = calls._fft_r2c(cut, (2,), norm, half)
    result.transpose_(1, 2)
    if signal.dim() == 1:
        result.squeeze_(0)
    return result if gives_complex else calls.view_as_real(result)


@composite(
    "stft(Tensor self, int n_fft, int? hop_length=None, int? win_length=None, Tensor? window=None, bool "
    "center=True, str pad_mode='reflect', bool normalized=False, bool? onesided=None, bool? "
    "return_complex=None, bool? align_to_window=None) -> Tensor"
)
def stft(
    self, n_fft, hop_length=None, win_length=None, window=None, center=True, pad_mode="reflect",
    normalized=False, onesided=None, return_complex=None, align_to_window=None,
):  # fmt: skip
    if center and align_to_window is not None:
        raise RuntimeError("stft align_to_window should only be set when center = false")
    if center:
        dims = self.dim()
        padded = calls.view(self, (1,) * (3 - dims) + tuple(self.shape))
        padded = calls.pad(padded, (n_fft // 2, n_fft // 2), pad_mode, None)
        self = calls.view(padded, tuple(padded.shape)[-dims:])
    return pieces_transformed(
        self, n_fft, hop_length, win_length, window, normalized, onesided, return_complex, align_to_window
    )


# Backward ---------------------------------------------------------------------------------------------------


def check_istft(title, pieces, n_fft, hop, win_length, window, half):
    """Refuse what cannot be put together.

    Raises:
        RuntimeError: with PyTorch's text.
    """
    if not pieces.numel():
        raise RuntimeError(f"{title} : input tensor cannot be empty.")
    if pieces.dim() not in (2, 3):
        raise RuntimeError(f"{title} : expected a tensor with 2 or 3 dimensions, but got {pieces.dim()}")
    heights = pieces.shape[-2]
    wanted, text = (n_fft // 2 + 1, "n_fft / 2 + 1") if half else (n_fft, "n_fft")
    if heights != wanted:
        raise RuntimeError(
            f"{title} : expected the frequency dimension (3rd to the last) of the input tensor to match "
            f"{text} when onesided={'True' if half else 'False'}, but got {heights}"
        )
    if not 0 < hop <= win_length:
        raise RuntimeError(f"{title} : expected 0 < hop_length <= win_length")
    if not 0 < win_length <= n_fft:
        raise RuntimeError(f"{title} : expected 0 < win_length <= n_fft")
    if window is not None and tuple(window.shape) != (win_length,):
        raise RuntimeError(f"{title} : Invalid window shape. window has to be 1D and length of `win_length`")


@composite(
    "istft(Tensor self, int n_fft, int? hop_length=None, int? win_length=None, Tensor? window=None, bool "
    "center=True, bool normalized=False, bool? onesided=None, int? length=None, bool return_complex=False) "
    "-> Tensor"
)
def istft(
    self, n_fft, hop_length=None, win_length=None, window=None, center=True, normalized=False, onesided=None,
    length=None, return_complex=False,
):  # fmt: skip
    if window is None:
        warn_once(LOSES)
    hop = n_fft // 4 if hop_length is None else hop_length
    width = n_fft if win_length is None else win_length
    title = (
        f"istft(CPU{self.dtype.scalar_type}Type{listed(self.shape)}, n_fft={n_fft}, hop_length={hop}, "
        f"win_length={width}, window={shown_window(window)}, center={int(center)}, "
        f"normalized={int(normalized)}, onesided={shown_choice(onesided)}, length={length}, "
        f"return_complex={int(return_complex)})"
    )
    if not self.is_complex():
        raise RuntimeError(
            "istft requires a complex-valued input tensor matching the output from stft with "
            "return_complex=True."
        )
    parts = calls.view_as_real(self)
    half = self.shape[-2] != n_fft if onesided is None else onesided
    check_istft(title, self, n_fft, hop, width, window, half)
    parts = parts if parts.dim() == 4 else calls.unsqueeze(parts, 0)
    kind = dtypes.OF_NUMPY[self._array.real.dtype]
    whole = wrap(np.ones(width, kind.numpy)) if window is None else window
    whole = whole_window(whole, width, n_fft)
    spectrum = calls.view_as_complex(calls.transpose__int(parts, 1, 2))
    if return_complex:
        if half:
            raise RuntimeError("Cannot have onesided output if window or input is complex")
        pieces = calls._fft_c2c(spectrum, (2,), 1 if normalized else 2, False)
    else:
        spectrum = spectrum if half else calls.slice(spectrum, 2, 0, n_fft // 2 + 1)
        pieces = calls._fft_c2r(spectrum, (2,), 1 if normalized else 2, n_fft)
    weighted = calls.mul(pieces, calls.view(whole, (1, 1, n_fft)))
    return added_up(title, weighted, whole, n_fft, hop, center, length, self.dim() == 2)


def added_up(title, weighted, whole, n_fft, hop, center, length, is_single):
    """The sum of weighted pieces, each at its place, divided by the sum of the weights."""
    count = weighted.shape[1]
    total = n_fft + hop * (count - 1)
    squares = calls.expand(calls.pow__Tensor_Scalar(whole, 2), (1, count, n_fft))
    signal = calls.unfold_backward(weighted, (weighted.shape[0], total), 1, n_fft, hop)
    envelope = calls.unfold_backward(squares, (1, total), 1, n_fft, hop)
    start = n_fft // 2 if center else 0
    end = total if length is None and not center else -(n_fft // 2) if length is None else start + length
    signal = calls.slice(signal, 1, start, end)
    envelope = calls.slice(envelope, 1, start, end)
    if not np.abs(envelope._array).min() > 1e-11:
        raise RuntimeError(f"{title} window overlap add min: 1\n[ CPUBoolType{{}} ]")
    signal = calls.div(signal, envelope)
    if is_single:
        signal = calls.squeeze__dim(signal, 0)
    if end > total:
        warn_once(PADDED)
        signal = calls.constant_pad_nd(signal, (0, end - total), 0)
    return signal


def method(self, n_fft, hop_length=None, win_length=None, window=None, center=True, pad_mode="reflect",
           normalized=False, onesided=None, return_complex=None, align_to_window=None) -> Tensor:  # fmt: skip
    """The transforms of the pieces of a signal, see `torch.stft`."""
    return stft(self, n_fft, hop_length, win_length, window, center, pad_mode, normalized, onesided,
                return_complex, align_to_window)  # fmt: skip


method.__name__, method.__qualname__ = "stft", "Tensor.stft"
Tensor.stft = method
