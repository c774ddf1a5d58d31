"""Selective checkpointing: a policy says which ops run again in backward, and whose results are kept.

Source: `torch.utils.checkpoint.create_selective_checkpoint_contexts` in PyTorch's docs.
"""

import enum
from collections import defaultdict
from collections.abc import Callable
from typing import Any

from refgrad._ops import OpOverload, OpOverloadPacket, ops
from refgrad.func.trees import mapped
from refgrad.tensor import Tensor
from refgrad.utils._python_dispatch import TorchDispatchMode

MISMATCH = (
    "This can happen if the operations in the checkpointed region are nondeterministic or depend on global "
    "state that changed between forward and backward."
)
SAC_IGNORED_OPS = {ops.aten.detach.default}
RUN_AGAIN, TAKEN = object(), object()  # in the place of a result: nothing was kept; it was given away


class CheckpointPolicy(enum.Enum):
    """What a policy says of an op: keep its result, or run it again; PREFER leaves others the last word."""

    MUST_SAVE = 0
    PREFER_SAVE = 1
    MUST_RECOMPUTE = 2
    PREFER_RECOMPUTE = 3
    MUST_CPU_OFFLOAD = 4
    PREFER_CPU_OFFLOAD = 5


class SelectiveCheckpointContext:
    """What a policy is told besides the op: its result."""

    def __init__(self, *, is_recompute: bool, op_output: Any = None):
        self.is_recompute = is_recompute
        self.op_output = op_output


class _VersionWrapper:
    """A kept result, with the number of writes that it had seen."""

    def __init__(self, val: Any):
        self.val = val
        self.version = val._version if isinstance(val, Tensor) else None

    def get_val(self, allow_cache_entry_mutation: bool) -> Any:
        """The result.

        Raises:
            RuntimeError: it was written since, and that is not allowed.
        """
        written = self.version is not None and self.val._version != self.version
        if written and not allow_cache_entry_mutation:
            raise RuntimeError("Tensor cached during selective activation checkpoint has been mutated")
        return self.val


class CountingMode(TorchDispatchMode):
    """Counts the calls of each op, and keeps or gives results by op and number."""

    def __init__(self, storage: dict):
        self.storage = storage
        self.func_counter: dict[Any, int] = defaultdict(int)

    def number(self, func: OpOverload) -> int:
        """The number of this call among those of the same op."""
        self.func_counter[func] += 1
        return self.func_counter[func] - 1


class _CachingTorchDispatchMode(CountingMode):
    """The first run: keeps the results that the policy wants kept."""

    def __init__(self, policy_fn: Callable, storage: dict):
        super().__init__(storage)
        self.policy_fn = policy_fn

    def __torch_dispatch__(self, func: Any, types: tuple, args: tuple = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        out = func(*args, **kwargs)
        if func in SAC_IGNORED_OPS:
            return out
        number = self.number(func)
        context = SelectiveCheckpointContext(is_recompute=False, op_output=out)
        policy = self.policy_fn(context, func, *args, **kwargs)
        if isinstance(policy, bool):
            policy = CheckpointPolicy.MUST_SAVE if policy else CheckpointPolicy.PREFER_RECOMPUTE
        is_kept = policy in (CheckpointPolicy.MUST_SAVE, CheckpointPolicy.PREFER_SAVE)
        self.storage[func][number] = mapped(kept, out) if is_kept else RUN_AGAIN
        return out


def kept(value: Any) -> _VersionWrapper:
    """A result to keep: in no graph, so that no cycle arises."""
    return _VersionWrapper(value.detach() if isinstance(value, Tensor) else value)


class _CachedTorchDispatchMode(CountingMode):
    """The second run: gives the results that the first one kept, each once."""

    def __init__(self, policy_fn: Any, storage: dict, allow_cache_entry_mutation: bool = False):
        super().__init__(storage)
        self.allow_cache_entry_mutation = allow_cache_entry_mutation

    def __enter__(self) -> Any:
        self.func_counter.clear()
        return super().__enter__()

    def __torch_dispatch__(self, func: Any, types: tuple, args: tuple = (), kwargs: Any = None) -> Any:
        if func in SAC_IGNORED_OPS:
            return func(*args, **kwargs or {})
        number = self.number(func)
        if func not in self.storage:
            raise RuntimeError(f"{func} encountered during backward but not found in storage. {MISMATCH}")
        entry = self.storage[func].get(number)
        if entry is None:
            raise RuntimeError(
                f"{func} invocation index {number} encountered during backward but not found in storage. "
                f"{MISMATCH}"
            )
        if entry is TAKEN:
            raise RuntimeError(
                "Trying to backward an extra time. You are only allowed to backward once on any region "
                "computed under selective activation checkpoint."
            )
        if entry is RUN_AGAIN:
            return func(*args, **kwargs or {})
        self.storage[func][number] = TAKEN
        return mapped(lambda each: each.get_val(self.allow_cache_entry_mutation), entry)


def create_selective_checkpoint_contexts(
    policy_fn_or_list: Any, allow_cache_entry_mutation: bool = False
) -> tuple[TorchDispatchMode, TorchDispatchMode]:
    """The two contexts for `checkpoint(..., context_fn=...)`, in which results are kept as a policy says: a
    function of a `SelectiveCheckpointContext`, an op and its arguments, or a list of ops to keep.

    Raises:
        ValueError: something in the list is no overload of an op.
        TypeError: neither list nor function.
    """
    if isinstance(policy_fn_or_list, list):
        check_overloads(policy_fn_or_list)

        def policy_fn(context: Any, func: Any, *args: Any, **kwargs: Any) -> CheckpointPolicy:
            is_kept = func in policy_fn_or_list
            return CheckpointPolicy.MUST_SAVE if is_kept else CheckpointPolicy.PREFER_RECOMPUTE

    elif callable(policy_fn_or_list):
        policy_fn = policy_fn_or_list
    else:
        raise TypeError("policy_fn_or_list must be either a function or a list of ops.")
    storage: dict[Any, dict[int, Any]] = defaultdict(dict)
    return (
        _CachingTorchDispatchMode(policy_fn, storage),
        _CachedTorchDispatchMode(None, storage, allow_cache_entry_mutation),
    )


def check_overloads(given: list) -> None:
    """Refuse what is no overload of an op.

    Raises:
        ValueError: something is not.
    """
    for each in given:
        if isinstance(each, OpOverload):
            continue
        hint = ""
        if isinstance(each, OpOverloadPacket):
            hint = (
                "Please update the OpOverloadPacket to a specific OpOverload.For example, if you have "
                "`torch.ops.aten.mm`, change it to `torch.ops.aten.mm.default`."
            )
        raise ValueError(
            f"Expected op in `op_list` to be an OpOverload but got: {each} of type {type(each)}. {hint}"
        )
