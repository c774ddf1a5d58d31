"""Switching grad mode and inference mode, as context managers and decorators."""

import functools
import inspect
import warnings
from collections.abc import Callable, Generator
from typing import Any

from refgrad import modes
from refgrad.overriding import current_modes, hand_on


def is_grad_enabled() -> bool:
    """Whether operations are recorded in this thread."""
    return modes.state.grad


def is_inference_mode_enabled() -> bool:
    """Whether this thread is in inference mode."""
    return modes.inference_enabled()


def _set_grad_enabled(arg: bool) -> None:
    """Switch grad mode of this thread; function modes see the call."""
    if current_modes():
        hand_on(_set_grad_enabled, "torch._C._set_grad_enabled", [], (arg,), {})
    else:
        modes.set_grad(arg)


switch: list[Callable] = [modes.set_grad]  # or the function above, while there are function modes


class ContextDecorator:
    """A context manager that decorates functions and generators too: each call or step enters a fresh one."""

    def __call__(self, function: Callable) -> Callable:
        return decorated(self.clone, function)

    def clone(self) -> "ContextDecorator":
        """A fresh manager of the same kind and arguments."""
        return type(self)()

    def __enter__(self) -> None:
        raise NotImplementedError

    def __exit__(self, *exception: object) -> None:
        raise NotImplementedError


def decorated(make: Callable, function: Callable) -> Callable:
    """Wrap a function, a generator function or (deprecated) a class: its body runs inside `make()`."""
    if inspect.isclass(function):
        warnings.warn(
            "Decorating classes is deprecated and will be disabled in future versions. You should only "
            "decorate functions or methods. To preserve the current behavior of class decoration, you can "
            "directly decorate the `__init__` method and nothing else.",
            FutureWarning,
            stacklevel=3,
        )
        return decorated(make, lambda *args, **kwargs: function(*args, **kwargs))
    if inspect.isgeneratorfunction(function):
        return decorated_generator(make, function)

    @functools.wraps(function)
    def decorate_context(*args: Any, **kwargs: Any) -> Any:
        with make():
            return function(*args, **kwargs)

    return decorate_context


def decorated_generator(make: Callable, function: Callable) -> Callable:
    """Wrap a generator function. See note [Who sets grad mode]."""

    @functools.wraps(function)
    def generator_context(*args: Any, **kwargs: Any) -> Generator:
        generator = function(*args, **kwargs)
        try:
            with make():
                response = generator.send(None)
            while True:
                try:
                    request = yield response
                except GeneratorExit:
                    with make():
                        generator.close()
                    raise
                except BaseException as error:
                    with make():
                        response = generator.throw(error)
                else:
                    with make():
                        response = generator.send(request)
        except StopIteration as stop:
            return stop.value

    return generator_context


class NoParamDecorator(ContextDecorator):
    """A manager that can also be used as a decorator without parentheses."""

    def __new__(cls, original: Callable | None = None) -> Any:
        if original is None:
            return super().__new__(cls)
        return cls()(original)


class no_grad(NoParamDecorator):
    """Switches grad mode off; results require no grad. Source: `torch.no_grad` in PyTorch's docs."""

    def __init__(self) -> None:
        self.prev = False

    def __enter__(self) -> None:
        self.prev = modes.state.grad
        switch[0](False)

    def __exit__(self, *exception: object) -> None:
        switch[0](self.prev)


class enable_grad(NoParamDecorator):
    """Switches grad mode on, inside `no_grad` too. Source: `torch.enable_grad` in PyTorch's docs."""

    def __enter__(self) -> None:
        self.prev = modes.state.grad
        switch[0](True)

    def __exit__(self, *exception: object) -> None:
        switch[0](self.prev)


class set_grad_enabled(ContextDecorator):
    """Sets grad mode when it is called; as a context manager it restores the former mode at its end.

    Raises:
        TypeError: `mode` is no bool.
    """

    def __init__(self, mode: bool):
        if not isinstance(mode, bool):
            raise TypeError(
                f"set_grad_enabled(): argument 'enabled' (position 1) must be bool, not {type(mode).__name__}"
            )
        self.prev = modes.state.grad
        self.mode = mode
        switch[0](mode)

    def __call__(self, function: Callable) -> Callable:
        switch[0](self.prev)
        return super().__call__(function)

    def __enter__(self) -> None:
        switch[0](self.mode)

    def __exit__(self, *exception: object) -> None:
        switch[0](self.prev)

    def clone(self) -> "set_grad_enabled":
        """A fresh manager with the same mode."""
        return type(self)(self.mode)

    def __str__(self) -> str:
        return f"torch.autograd.grad_mode.set_grad_enabled(mode={self.mode})"

    __repr__ = __str__


class inference_mode(ContextDecorator):
    """Like `no_grad`, and new tensors are without versions. Source: `torch.inference_mode`."""

    def __new__(cls, mode: Any = True) -> Any:
        if isinstance(mode, bool):
            return super().__new__(cls)
        return cls()(mode)

    def __init__(self, mode: bool = True):
        self.mode = mode

    def __enter__(self) -> None:
        # PyTorch keeps these modes in one record, of which this writes a fresh one.
        state = modes.state
        rare = modes.set_rare(inference=self.mode, view_replay=False)
        self.previous = state.grad, state.forward, state.multithreading, rare
        modes.set_grad(not self.mode)
        state.forward = state.multithreading = not self.mode

    def __exit__(self, *exception: object) -> None:
        grad, modes.state.forward, modes.state.multithreading, rare = self.previous
        modes.set_rare(**rare)
        modes.set_grad(grad)

    def clone(self) -> "inference_mode":
        """A fresh manager with the same mode."""
        return type(self)(self.mode)


class Switch(ContextDecorator):
    """A mode that is switched when it is called, and back at the end of its block."""

    of = ""  # the attribute of the thread's state

    def __init__(self, mode: bool):
        self.prev = self.current()
        self.mode = mode
        self.switch(mode)

    def __enter__(self) -> None:
        pass

    def __exit__(self, *exception: object) -> None:
        self.switch(self.prev)

    def current(self) -> bool:
        """The mode of this thread."""
        return getattr(modes.state, self.of)

    def switch(self, mode: bool) -> None:
        """Set the mode of this thread."""
        setattr(modes.state, self.of, mode)

    def clone(self) -> "Switch":
        """A fresh manager with the same mode."""
        return type(self)(self.mode)


class set_multithreading_enabled(Switch):
    """Whether a run may use several threads; here it uses one. Source: PyTorch's docs."""

    of = "multithreading"


class _force_original_view_tracking(Switch):
    """Whether views made now are made again op by op when their base was written, not as one as_strided."""

    def current(self) -> bool:
        return modes.state.rare.view_replay

    def switch(self, mode: bool) -> None:
        modes.set_rare(view_replay=mode)


def is_multithreading_enabled() -> bool:
    """Whether a run may use several threads."""
    return modes.state.multithreading


def is_view_replay_enabled() -> bool:
    """Whether views are always replayed."""
    return modes.state.rare.view_replay
