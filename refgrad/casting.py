"""Autocast: which ops get operands of another precision, and how their functions come by it.

*Region*: where autocast is on for the CPU, in one thread. *Policy*: what becomes of an op's floating operands
in a region: the lower precision (`LOWER`), float32 (`SINGLE`), or the widest of them (`WIDEST`). float64 is
never cast.
"""

import threading
import warnings
import weakref
from collections.abc import Callable, Sequence
from types import FunctionType
from typing import Any

from refgrad import dtypes
from refgrad.modes import AUTOCAST, inference_enabled, set_grad, state
from refgrad.op import ON_COMPILE, OPS, Op, calls
from refgrad.tensor import Tensor
from refgrad.types import Device

LOWER = """
addbmm addmm baddbmm bmm conv1d conv1d.padding conv2d conv2d.padding conv3d conv3d.padding conv_transpose1d
conv_transpose2d.input conv_transpose3d.input linalg_vecdot linear matmul mkldnn_rnn_layer mm prelu
scaled_dot_product_attention
"""
SINGLE = """
adaptive_avg_pool3d adaptive_max_pool3d avg_pool3d binary_cross_entropy binary_cross_entropy_with_logits cdist
cholesky cholesky_inverse cholesky_solve cosine_embedding_loss cross_entropy_loss ctc_loss.IntList
ctc_loss.Tensor fft_fft fft_fft2 fft_fftn fft_hfft fft_ifft fft_ifft2 fft_ifftn fft_ihfft fft_irfft fft_irfft2
fft_irfftn fft_rfft fft_rfft2 fft_rfftn geqrf grid_sampler grid_sampler_2d grid_sampler_3d
hinge_embedding_loss huber_loss inverse kl_div l1_loss linalg_cholesky linalg_cholesky_ex linalg_cond
linalg_cond.p_str linalg_eig linalg_eigh linalg_eigvals linalg_eigvalsh linalg_householder_product linalg_inv
linalg_inv_ex linalg_lstsq linalg_matrix_rank linalg_matrix_rank.atol_rtol_float
linalg_matrix_rank.atol_rtol_tensor linalg_matrix_rank.tol_tensor linalg_qr linalg_solve linalg_svd
linalg_svdvals linalg_tensorinv linalg_tensorsolve lu_solve margin_ranking_loss max_pool3d max_unpool2d
max_unpool3d mse_loss multi_margin_loss multilabel_margin_loss multilabel_margin_loss_forward nanquantile
nanquantile.scalar nll_loss nll_loss2d orgqr pinverse poisson_nll_loss polar prod prod.dim_int qr quantile
quantile.scalar reflection_pad1d reflection_pad2d replication_pad1d replication_pad2d replication_pad3d
smooth_l1_loss soft_margin_loss svd trace triangular_solve triplet_margin_loss view_as_complex
"""
WIDEST = "cat index_copy stack"

DEFAULTS = {**dict.fromkeys(("cuda", "xpu", "mps", "mtia", "ipu", "privateuseone"), dtypes.float16),
            **dict.fromkeys(("cpu", "hpu", "xla", "maia"), dtypes.bfloat16)}  # fmt: skip
"""The lower precision of each device type that has autocast, where none was set."""

PLAIN: dict[Any, Any] = {}
"""The functions that are gates at present, and the code that is theirs."""

GATES: dict[Any, Any] = {}
"""The code of the gates that were made so far, by function."""

SWAPPING = threading.RLock()
"""Held while gates are put or taken."""

# Note [Gates stand only while a region is open]
# An op's function is known by many: fronts, operators, modules that import it. So it is not replaced by
# another that casts first; its code is, when the first region opens, and put back when the last one closes.
# Outside of regions a call costs what it costs without autocast.


# Operands ---------------------------------------------------------------------------------------------------

CASTS: dict[int, tuple] = {}
"""Weights that were cast, by identity: a weak reference to each, and its cast."""


def is_eligible(value: Any) -> bool:
    """Whether autocast may cast a value."""
    return isinstance(value, Tensor) and value.dtype.is_floating_point and value.dtype is not dtypes.float64


def cast(value: Any, dtype: dtypes.DType) -> Any:
    """A tensor, or the tensors of a list, cast to a type where they may be; anything else as it is."""
    if value.__class__ in (list, tuple):
        return type(value)([cast(each, dtype) for each in value])
    if not is_eligible(value) or value.dtype is dtype:
        return value
    # Note [Casts of weights are kept]
    # A leaf that requires grad is cast once for the whole of a region and all that are nested in it, so that
    # its uses meet in one ToCopyBackward0. The cast is recorded though grad mode may be off: a later use may
    # need it. In inference mode no cast is kept or taken.
    is_weight = value.dtype is dtypes.float32 and value.requires_grad and value.is_leaf
    is_weight = is_weight and not value._is_view() and dtype is lower_type("cpu")
    if not is_weight or not state.casting.keeps_casts or inference_enabled():
        return calls.to__dtype(value, dtype)
    kept = CASTS.get(id(value))
    if kept is None or kept[0]() is not value:
        kept = CASTS[id(value)] = weakref.ref(value), recorded_cast(value, dtype)
    return kept[1]


def recorded_cast(weight: Tensor, dtype: dtypes.DType) -> Tensor:
    """A weight cast with grad mode on."""
    before = state.grad
    set_grad(True)
    try:
        made: Tensor = calls.to__dtype(weight, dtype)
    finally:
        set_grad(before)
    return made


def widest(values: Sequence[Any]) -> dtypes.DType:
    """The type that operands of different precision meet in."""
    found = lower_type("cpu")
    for value in values:
        if value.__class__ in (list, tuple):
            others = [each for each in value if is_eligible(each)]
        else:
            others = [value] if is_eligible(value) else []
        for other in others:
            if dtypes.float32 in (found, other.dtype):
                found = dtypes.float32
            elif other.dtype is not lower_type("cpu"):
                raise RuntimeError("Unexpected floating ScalarType in at::autocast::prioritize")
    return found


def lower_policy(values: Sequence[Any]) -> dtypes.DType:
    """The lower precision that is set."""
    return lower_type("cpu")


def single_policy(values: Sequence[Any]) -> dtypes.DType:
    """Always float32."""
    return dtypes.float32


POLICIES: dict[str, Callable[[Sequence[Any]], dtypes.DType]] = {
    **dict.fromkeys(LOWER.split(), lower_policy),
    **dict.fromkeys(SINGLE.split(), single_policy),
    **dict.fromkeys(WIDEST.split(), widest),
}
"""The policy of each op that has one, by its full name."""


# Gates ------------------------------------------------------------------------------------------------------


def gate_of(plain: Callable, policy: Callable) -> Callable:
    """The function that casts the operands of a call in this thread's region, and runs the plain one."""

    def gate(*args: Any, **kwargs: Any) -> Any:
        mode = state.casting
        if mode.is_inside or "cpu" not in mode.enabled:
            return plain(*args, **kwargs)
        mode.is_inside = True
        try:
            dtype = policy((*args, *kwargs.values()))
            args = tuple([cast(value, dtype) for value in args])
            return plain(*args, **{name: cast(value, dtype) for name, value in kwargs.items()})
        finally:
            mode.is_inside = False

    return gate


def uncast(function: Callable, args: Sequence[Any]) -> Any:
    """What a function returns where nothing is cast, as in a call that writes into a given tensor."""
    mode = state.casting
    before, mode.is_inside = mode.is_inside, True
    try:
        return function(*args)
    finally:
        mode.is_inside = before


def entrance(*args: Any, **kwargs: Any) -> Any:
    """The code of a gate, whose function takes the place of the text."""
    gate: Any = "gate"
    return gate(*args, **kwargs)


def put_gate(entry: Any) -> None:
    """Have the gate of an op ready, if it has a policy and there were regions; it stands in open ones."""
    policy = POLICIES.get(entry.name)
    if policy is not None and (GATES or AUTOCAST):
        function = entry.call
        with SWAPPING:
            GATES[function] = gate_code(function, policy)
            if AUTOCAST:
                swap_code(function)


def swap_code(function: Any) -> None:
    """Give a function the code of its gate."""
    PLAIN[function] = function.__code__
    function.__code__ = GATES[function]


def gate_code(function: Any, policy: Callable) -> Any:
    """The code that makes a gate of a function."""
    code = function.__code__
    plain = FunctionType(
        code, function.__globals__, function.__name__, function.__defaults__, function.__closure__
    )
    plain.__kwdefaults__ = function.__kwdefaults__
    gate = gate_of(plain, policy)
    constants = tuple([gate if each == "gate" else each for each in entrance.__code__.co_consts])
    return entrance.__code__.replace(co_consts=constants, co_freevars=code.co_freevars, co_name=code.co_name)


def put_gates() -> None:
    """Make gates of the ops whose functions exist; those of the others follow when they are generated."""
    if GATES:
        for function in GATES:
            swap_code(function)
    else:
        for entry in (OPS[name] for name in POLICIES):
            if not isinstance(entry, Op) or "_call" in entry.__dict__:
                put_gate(entry)


def take_gates() -> None:
    """Give every function its own code back."""
    while PLAIN:
        function, code = PLAIN.popitem()
        function.__code__ = code


ON_COMPILE.append(put_gate)

# State ------------------------------------------------------------------------------------------------------


def checked_device(device_type: str) -> str:
    """The type of a device that has autocast.

    Raises:
        RuntimeError: it has none.
    """
    kind = Device(device_type).type
    if kind not in DEFAULTS:
        raise RuntimeError("unknown device type for autocast in get_autocast_dispatch_key_from_device_type")
    return kind


def lower_type(device_type: str) -> dtypes.DType:
    """The lower precision of a device type, in this thread.

    Raises:
        RuntimeError: there is no such autocast.
    """
    kind = Device(device_type).type
    if kind not in DEFAULTS:
        raise RuntimeError("unsupported scalarType")
    found: dtypes.DType = state.casting.dtypes.get(kind, DEFAULTS[kind])
    return found


def set_enabled(device_type: str, enabled: bool) -> None:
    """Switch autocast for a device type in this thread; the region of the CPU opens or closes."""
    kind = checked_device(device_type)
    mode = state.casting
    (mode.enabled.add if enabled else mode.enabled.discard)(kind)
    if kind != "cpu":
        return
    with SWAPPING:
        was_open = bool(AUTOCAST)
        (AUTOCAST.add if enabled else AUTOCAST.discard)(threading.get_ident())
        if bool(AUTOCAST) is not was_open:
            (put_gates if enabled else take_gates)()


def warn_old(old: str, new: str) -> None:
    """Warn of a function that names one device type."""
    warnings.warn(
        f"torch.{old} is deprecated. Please use torch.{new} instead.", DeprecationWarning, stacklevel=3
    )
