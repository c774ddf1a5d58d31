"""The text of a tensor, as PyTorch prints it, and the options that shape it.

*Shown elements*: what appears in the text; a tensor of more than `threshold` elements shows `edgeitems`
at both ends of each dimension, and all else is decided from the shown elements alone. *Suffix*: what
follows the numbers (`size=`, `dtype=`, `grad_fn=`, `requires_grad=`, `tangent=`).
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from refgrad import dtypes

Formatter = Callable[[object], str]


@dataclass
class PrintOptions:
    """What `set_printoptions` sets; `sci_mode` None lets the values decide."""

    precision: int = 4
    threshold: float = 1000
    edgeitems: int = 3
    linewidth: int = 80
    sci_mode: bool | None = None


PROFILES = {
    "default": PrintOptions(),
    "short": PrintOptions(precision=2, edgeitems=2),
    "full": PrintOptions(threshold=math.inf),
}
options = PrintOptions()


def set_printoptions(
    precision=None, threshold=None, edgeitems=None, linewidth=None, profile=None, sci_mode=None
):
    """Change how tensors print: first to `profile` (default, short or full), then one option at a time.

    What is None stays as it was, but for `sci_mode`, which every call sets. An unknown profile is ignored.
    """
    given = {"precision": precision, "threshold": threshold, "edgeitems": edgeitems, "linewidth": linewidth}
    changes = {name: value for name, value in given.items() if value is not None}
    start = PROFILES.get(profile, options)
    options.__dict__.update(replace(start, **changes, sci_mode=sci_mode).__dict__)


def tensor_repr(tensor, tangent=None) -> str:
    """The `repr` of `tensor`; `tangent` is shown when it is not None (forward mode)."""
    array = tensor._array
    dtype = tensor.dtype
    kind = type(tensor).__name__
    prefix = "tensor(" if kind in ("Tensor", "Parameter") else f"{kind}("
    suffixes = []
    if array.size == 0:
        body = "[]"
        if array.ndim != 1:
            suffixes.append(f"size={array.shape}")
        has_usual_dtype = dtype is dtypes.default()
    else:
        body = numbers(array, len(prefix))
        if options.edgeitems == 0:
            suffixes.append(f"size={array.shape}")
        usual_complex = dtypes.complex128 if dtypes.default() is dtypes.float64 else dtypes.complex64
        has_usual_dtype = dtype in (dtypes.default(), usual_complex, dtypes.int64, dtypes.bool_)
    if not has_usual_dtype:
        suffixes.append(f"dtype={dtype}")
    history = history_suffix(tensor)
    if history is not None:
        suffixes.append(history)
    if tangent is not None:
        suffixes.append(f"tangent={tangent}")
    text = prefix + body
    text = (with_suffixes(text, suffixes, len(prefix)) if suffixes else text) + ")"
    is_parameter = prefix != "tensor(" and (
        getattr(tensor, "IS_PARAMETER", False) or tensor.__dict__.get("_is_param")
    )
    return f"Parameter({text})" if is_parameter else text


def history_suffix(tensor) -> str | None:
    """`grad_fn=<Name>`, or `requires_grad=True` for a leaf, or None."""
    try:
        node = tensor.grad_fn
    except RuntimeError:  # a view whose history was invalidated by a forbidden change in place
        return "grad_fn=<Invalid>"
    if node is not None:
        name = type(node).__name__
        if name == "CppFunction":  # made by hand in PyTorch, without a class of its own
            name = node.name().rpartition("::")[2]
        return f"grad_fn=<{name}>"
    return "requires_grad=True" if tensor.requires_grad else None


def with_suffixes(text: str, suffixes: list[str], indent: int) -> str:
    """Append each suffix to the last line where it fits, else on a line of its own."""
    column = len(text) - text.rfind("\n") + 1
    for suffix in suffixes:
        if column + len(suffix) + 2 > options.linewidth:
            text += f",\n{' ' * indent}{suffix}"
            column = indent + len(suffix)
        else:
            text += f", {suffix}"
            column += len(suffix) + 2
    return text


def numbers(array: np.ndarray, indent: int) -> str:
    """The bracketed elements of a tensor that has some."""
    is_cut = array.ndim > 0 and array.size > options.threshold
    if is_cut and options.edgeitems == 0:
        return "[...]"
    shown = edges_of(array) if is_cut else array
    if array.dtype.kind == "c":
        width, show = complex_formatter(shown)
    elif array.dtype.kind in "fV":
        width, show = float_formatter(shown.ravel().tolist())
    else:
        width, show = exact_formatter(shown.ravel().tolist())
    if array.ndim == 0:
        return show(array.item())
    cut = [is_cut and size > 2 * options.edgeitems for size in array.shape]
    return block(shown.tolist(), cut, indent, width, show)


def edges_of(array: np.ndarray) -> np.ndarray:
    """The shown elements of a tensor that is cut."""
    edge = options.edgeitems
    for axis, size in enumerate(array.shape):
        if size > 2 * edge:
            array = np.take(array, [*range(edge), *range(size - edge, size)], axis)
    return array


def block(items: list, cut: list[bool], indent: int, width: int, show: Formatter) -> str:
    """The elements of one dimension and below; `cut` says which dimensions lack their middle."""
    edge = options.edgeitems
    if len(cut) == 1:
        texts = [show(item) for item in items]
        if cut[0]:
            texts.insert(edge, " ...")  # fills one place of the row, as an element does
        per_row = max(1, (options.linewidth - indent) // (width + 2))
        if len(texts) <= per_row:
            return f"[{', '.join(texts)}]"
        rows = [", ".join(texts[start : start + per_row]) for start in range(0, len(texts), per_row)]
        return f"[{(',' + line_break(1, indent)).join(rows)}]"
    parts = [block(item, cut[1:], indent + 1, width, show) for item in items]
    if cut[0]:
        parts.insert(edge, "...")
    return f"[{(',' + line_break(len(cut) - 1, indent)).join(parts)}]"


def line_break(lines: int, indent: int) -> str:
    """As many line ends, then the place right of an opening bracket at column `indent`."""
    return "\n" * lines + " " * (indent + 1)


def exact_formatter(values: list) -> tuple[int, Formatter]:
    """Width and formatter of integers and booleans: all as wide as the widest."""
    width = max([len(str(value)) for value in values], default=1)
    return width, lambda value: str(value).rjust(width)


def float_formatter(values: list[float]) -> tuple[int, Formatter]:
    """Width and formatter of floats: integral, fixed or scientific, for all elements alike.

    Only finite elements other than zero decide, for the width too: what is wider sticks out.
    """
    magnitudes = [abs(value) for value in values if value and math.isfinite(value)]
    if not magnitudes:
        return 1, integral
    largest, smallest = max(magnitudes), min(magnitudes)
    is_integral = all(map(float.is_integer, magnitudes))
    is_scientific = options.sci_mode
    if is_scientific is None:
        is_too_small = not is_integral and smallest < 1.0e-4
        is_scientific = is_too_small or largest > 1.0e8 or largest / smallest > 1000.0
    if is_scientific:
        precise: Formatter = f"{{:.{options.precision}e}}".format
    else:
        precise = integral if is_integral else f"{{:.{options.precision}f}}".format
    width = max(len(precise(value)) for value in values if value and math.isfinite(value))
    return width, lambda value: precise(value).rjust(width)


def integral(value) -> str:
    """A float without decimals, with its point."""
    return f"{value:.0f}." if math.isfinite(value) else f"{value:.0f}"


def complex_formatter(shown: np.ndarray) -> tuple[int, Formatter]:
    """Width and formatter of complex numbers: either part decides its own style."""
    real_width, show_real = float_formatter(shown.real.ravel().tolist())
    imag_width, show_imag = float_formatter(shown.imag.ravel().tolist())

    def show(value) -> str:
        imag = show_imag(value.imag).lstrip()
        return f"{show_real(value.real)}{'' if imag[0] == '-' else '+'}{imag}j"

    return real_width + imag_width + 1, show
