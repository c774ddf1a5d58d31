"""What each thread has switched on: grad mode and the rarer modes.

Hot paths must not pay for modes that nobody uses, so each kind has a *beacon*: a set that holds the idents of
the threads in which the mode is away from its default. While a beacon is empty no thread-local lookup is
made.
"""

import itertools
import threading
import warnings
from collections.abc import Callable
from typing import Any

GRAD_OFF: set[int] = set()
"""Beacon: threads whose grad mode is off."""

RARE: set[int] = set()
"""Beacon: threads with a rare mode on (inference, saved-tensor hooks); EVERY_THREAD in anomaly mode."""

EVERY_THREAD = 0

FORMULA: set[int] = set()
"""Beacon: threads that run a gradient formula whose own steps are recorded."""

DUALS: set[int] = set()
"""Beacon: not empty while a level of forward mode is open, in any thread; see duals.py."""

AUTOCAST: set[int] = set()
"""Beacon: threads in which autocast is on for the CPU; see casting.py."""

sequence = itertools.count()
"""Sequence numbers for nodes; the engine runs the highest one first."""


class Rare:
    """The rare modes of one thread, and those of the whole process."""

    __slots__ = ("inference", "saved_tensor_hooks", "hooks_disabled", "before_write", "view_replay", "track")
    anomaly = False  # of the whole process, as in PyTorch
    check_nan = True

    def __init__(self) -> None:
        self.inference = False
        self.saved_tensor_hooks: tuple = ()
        self.hooks_disabled: str | None = None
        self.before_write: Callable | None = None  # called with a tensor that is about to be written
        self.view_replay = False  # whether views keep how they are made again
        self.track: Callable | None = None  # what transforms make of tensors that are new, see func/levels.py


DEFAULTS: dict[str, object] = {name: getattr(Rare(), name) for name in Rare.__slots__}


class Casting:
    """The autocast state of one thread, by device type; see casting.py."""

    __slots__ = ("enabled", "dtypes", "keeps_casts", "nesting", "is_inside")

    def __init__(self) -> None:
        self.enabled: set[str] = set()  # the device types that it is on for
        self.dtypes: dict[str, Any] = {}  # the lower precision of a device type, where it was set
        self.keeps_casts = True  # whether the casts of weights are kept
        self.nesting = 0
        self.is_inside = False  # inside an op whose operands were cast


class State(threading.local):
    """The modes of the running thread; a new thread starts with grad mode on and nothing else."""

    def __init__(self) -> None:
        self.grad = True
        self.forward = True  # whether tangents are carried along
        self.rare = Rare()
        self.casting = Casting()
        self.node: Any = None  # the node that the engine runs
        self.task: Any = None  # the run it belongs to
        self.transforms = 0  # how many transforms of torch.func are running
        self.wraps = False  # whether the outermost transform is one of derivatives
        self.pulls = 0  # how many functions that `vjp` gave are running
        self.multithreading = True  # whether a run may use several threads, kept and told again
        self.randomness = ""  # of the vmap inside: "error", "different", "same"; "never" of the older
        self.hidden = False  # inside steps that no dispatch mode is shown
        self.late: Any = None  # the node that runs, if it got a hook since it began
        self.inference_leaves = False  # inside a call that records inference tensors, see samples.py
        self.overrides = 0  # how far `__torch_function__` is switched off, see overriding.py
        self.function_modes: list = []  # the modes entered that see each call, innermost last


state = State()


# Note [Who sets grad mode]
# Grad mode belongs to the thread; a new thread begins with it on. A run sets it to `create_graph` for
# formulas and hooks, whatever its caller's is, and gives it back. The forward of a custom Function has it
# off. A decorated generator has its own while its body runs, and leaves the caller's alone between two items.


def set_grad(enabled: bool) -> None:
    """Switch grad mode of this thread."""
    state.grad = enabled
    (GRAD_OFF.discard if enabled else GRAD_OFF.add)(threading.get_ident())


def grad_enabled() -> bool:
    """Whether this thread records operations."""
    return not GRAD_OFF or state.grad


# Note [Hooks that come while their node runs]
# What a formula runs (an unpack hook, a custom backward) may hang a hook on the node that it runs for. That
# hook is called, but not shown the gradients that the node got. The engine, which asked before it ran the
# node, looks again because the beacon is on.


def set_late(node: Any) -> None:
    """Note that the running node got a hook; None when that was seen to."""
    state.late = node
    (RARE.discard if node is None else RARE.add)(-2 - threading.get_ident())


def set_rare(**changes: object) -> dict[str, object]:
    """Switch rare modes; returns the former values, to be given back to this function."""
    rare = state.rare
    before = {name: getattr(rare, name) for name in changes}
    for name, value in changes.items():
        setattr(Rare if name in ("anomaly", "check_nan") else rare, name, value)
    (RARE.add if Rare.anomaly else RARE.discard)(EVERY_THREAD)
    on: Any = rare.inference or rare.saved_tensor_hooks
    on = on or rare.before_write is not None or rare.view_replay or rare.track is not None
    (RARE.add if on else RARE.discard)(threading.get_ident())
    return before


def rare_modes() -> dict[str, object]:
    """The rare modes of this thread, for `set_rare` to give back; anomaly mode is the process's."""
    return {name: getattr(state.rare, name) for name in Rare.__slots__} if RARE else DEFAULTS


def give_back(kept: dict[str, object]) -> None:
    """Bring the rare modes of this thread back to what they were."""
    if any(getattr(state.rare, name) is not value for name, value in kept.items()):
        set_rare(**kept)


def in_new_thread(function: Callable) -> None:
    """Call a function in a new thread, in this one's modes; wait for it, and raise what it raises."""
    kept = dict(vars(state))
    beacons = [beacon for beacon in (GRAD_OFF, RARE, FORMULA) if threading.get_ident() in beacon]
    raised: list[BaseException] = []

    def work() -> None:
        vars(state).update(kept)
        for beacon in beacons:
            beacon.add(threading.get_ident())
        try:
            function()
        except BaseException as error:
            raised.append(error)
        finally:
            for beacon in (GRAD_OFF, RARE, FORMULA):
                beacon.discard(threading.get_ident())

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    thread.join()
    if raised:
        raise raised.pop()


def inference_enabled() -> bool:
    """Whether this thread is in inference mode."""
    return bool(RARE) and state.rare.inference


def peek_sequence() -> int:
    """The sequence number that the next node will get."""
    return int(sequence.__reduce__()[1][0])


warned: set[str] = set()
warn_always = [False]


def warn_once(text: str) -> None:
    """A warning that PyTorch gives once a process, unless `set_warn_always` is on."""
    if text not in warned or warn_always[0]:
        warned.add(text)
        warnings.warn(text, UserWarning, stacklevel=3)


def set_warn_always(value: bool) -> None:
    """Choose whether warnings that are given once a process are given every time."""
    warn_always[0] = bool(value)


def is_warn_always_enabled() -> bool:
    """Whether `set_warn_always(True)` is in force."""
    return warn_always[0]
