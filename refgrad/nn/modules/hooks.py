"""The hooks of modules, and the call that runs them.

*Full backward hooks* see the gradients of a module's inputs and outputs: the inputs, and after them the
outputs, pass through an identity node, whose own hooks call the users'. Source:
`Module.register_full_backward_hook` in PyTorch's docs.
"""

import functools
import sys
import warnings
import weakref
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Any

from refgrad import modes
from refgrad.autograd.function import Function
from refgrad.graph import Node
from refgrad.handles import RemovableHandle
from refgrad.tensor import Tensor

DOCS = (
    "https://docs.pytorch.org/docs/main/generated/torch.nn.Module.html"
    "#torch.nn.Module.register_full_backward_hook"
)
EXCLUSIVE = (
    "Cannot use both regular backward hooks and full backward hooks on a single Module. Please use only "
    "one of them."
)
USE_FULL = "Please use register_full_backward_hook to get the documented behavior."


class GlobalHooks:
    """The hooks of all modules together."""

    def __init__(self) -> None:
        self.forward_pre: OrderedDict = OrderedDict()
        self.forward: OrderedDict = OrderedDict()
        self.backward_pre: OrderedDict = OrderedDict()
        self.backward: OrderedDict = OrderedDict()
        self.with_kwargs: set[int] = set()
        self.always_called: set[int] = set()
        self.backward_is_full: bool | None = None
        self.buffer: OrderedDict = OrderedDict()
        self.module: OrderedDict = OrderedDict()
        self.parameter: OrderedDict = OrderedDict()

    def any_for_calls(self) -> bool:
        """Whether a call of a module has to look at them."""
        return bool(self.forward_pre or self.forward or self.backward_pre or self.backward)


everywhere = GlobalHooks()


def add(hooks: OrderedDict, hook: Callable, prepend: bool = False) -> RemovableHandle:
    """Register a hook, last or first."""
    handle = RemovableHandle(hooks)
    hooks[handle.id] = hook
    if prepend:
        hooks.move_to_end(handle.id, last=False)
    return handle


# Full backward hooks ----------------------------------------------------------------------------------------


class BackwardHookFunction(Function):
    """The identity node that marks where a module begins or ends."""

    @staticmethod
    def forward(ctx: Any, *args: Any) -> tuple:
        """Return the inputs."""
        ctx.mark_non_differentiable(*[arg for arg in args if not arg.requires_grad])
        return args

    @staticmethod
    def backward(ctx: Any, *args: Any) -> tuple:
        """Return the gradients."""
        return args


def spread(places: Sequence[int], values: Sequence, size: int) -> tuple:
    """The values at their places among Nones."""
    found: list = [None] * size
    for place, value in zip(places, values, strict=True):
        found[place] = value
    return tuple(found)


class BackwardHook:
    """The full backward hooks of one call of a module."""

    def __init__(self, module: Any, hooks: list, pre_hooks: list):
        self.module = module
        self.hooks = hooks
        self.pre_hooks = pre_hooks
        self.grad_outputs: tuple | None = None
        self.input_count = self.output_count = -1
        self.input_places: list[int] | None = None
        self.output_places: list[int] | None = None

    def enter(self, args: tuple) -> tuple:
        """Pass the inputs through the identity node."""
        args, self.input_places = through_node(args, self.on_inputs)
        self.input_count = len(args)
        return args

    def leave(self, result: Any) -> Any:
        """Pass the outputs through the identity node."""
        results = result if isinstance(result, tuple) else (result,)
        passed, self.output_places = through_node(results, self.on_outputs)
        self.output_count = len(results)
        return passed if isinstance(result, tuple) else passed[0]

    def on_inputs(self, grad_inputs: tuple, _: tuple) -> tuple | None:
        """The gradients of the inputs are there: call the user's hooks."""
        if self.grad_outputs is None:
            return None  # they came past the outputs, as in a double backward
        assert self.input_places is not None
        found: Any = spread(self.input_places, grad_inputs, self.input_count)
        for hook in self.hooks:
            changed = hook(self.module, found, self.grad_outputs)
            if changed is not None:
                if len(changed) != len(found):
                    raise RuntimeError(
                        f"Backward hook returned an invalid number of grad_input, got {len(changed)}, "
                        f"but expected {len(found)}"
                    )
                found = changed
        self.grad_outputs = None
        return tuple([found[place] for place in self.input_places])

    def on_outputs(self, _: tuple, grad_outputs: tuple) -> tuple | None:
        """The gradients of the outputs are there: call the pre-hooks; the hooks if no input's come."""
        assert self.output_places is not None
        self.grad_outputs = spread(self.output_places, grad_outputs, self.output_count)
        for hook in self.pre_hooks:
            changed = hook(self.module, self.grad_outputs)
            if changed is not None:
                if len(changed) != len(self.grad_outputs):
                    raise RuntimeError(
                        f"Backward pre hook returned an invalid number of grad_output, got {len(changed)}, "
                        f"but expected {len(self.grad_outputs)}"
                    )
                self.grad_outputs = changed
        found = self.grad_outputs
        if self.input_places is None:
            self.without_inputs()
        return None if found is None else tuple([found[place] for place in self.output_places])

    def without_inputs(self) -> None:
        """Call the hooks of a module none of whose inputs requires grad."""
        warnings.warn(
            "Full backward hook is firing when gradients are computed with respect to module outputs since "
            f"no inputs require gradients. See {DOCS} for more details.",
            stacklevel=frames_inside(),
        )
        nothing = (None,) * self.input_count
        for hook in self.hooks:
            changed = hook(self.module, nothing, self.grad_outputs)
            if changed is not None and not (
                isinstance(changed, tuple) and all(one is None for one in changed)
            ):
                raise RuntimeError(
                    "Backward hook for Modules where no input requires gradient should always return None or "
                    "None for all gradients."
                )
        self.grad_outputs = None


def frames_inside() -> int:
    """How many frames of this package lie above the user's code: the stack level of a warning there."""
    frame, level = sys._getframe(1), 1
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("refgrad"):
        frame, level = frame.f_back, level + 1
    return level


def named_hook(function: Callable) -> Callable:
    """The function as one called `hook`, as error messages name what a module hangs on its node."""

    def hook(grad_inputs: tuple, grad_outputs: tuple) -> tuple | None:
        return function(grad_inputs, grad_outputs)

    return hook


def through_node(args: Any, hook: Callable) -> tuple[Any, list[int] | None]:
    """The arguments, tensors passed through an identity node that has this hook, and where those stand."""
    places = [place for place, arg in enumerate(args) if isinstance(arg, Tensor)]
    if not modes.grad_enabled() or not any(args[place].requires_grad for place in places):
        return args, None
    passed = BackwardHookFunction.apply(*[args[place] for place in places])
    nodes = [
        x.grad_fn
        for x in passed
        if x.grad_fn is not None and x.grad_fn.name() == "BackwardHookFunctionBackward"
    ]
    if not nodes:
        raise RuntimeError(
            "Error while setting up backward hooks. Please open an issue with a code sample "
            "to reproduce this."
        )
    nodes[0].register_hook(named_hook(hook))
    new = list(args)
    for place, tensor in zip(places, passed, strict=True):
        new[place] = tensor
    return (tuple(new) if type(args) is tuple else type(args)(*new)), places


# The old backward hooks -------------------------------------------------------------------------------------


class WrappedHook:
    """An old backward hook, called as a node's hook with its module before the gradients."""

    def __init__(self, hook: Callable, module: Any):
        functools.update_wrapper(self, hook)
        self.hook = hook
        self.module = weakref.ref(module)

    def __call__(self, *args: Any) -> Any:
        module = self.module()
        if module is None:
            raise RuntimeError("You are trying to call the hook of a dead Module!")
        return self.hook(module, *args)


def register_old_hooks(module: Any, hooks: list, args: Any, result: Any) -> None:
    """Hang old backward hooks on the node of the first output, and warn where they see something else."""
    first = result
    while not isinstance(first, Tensor):
        if isinstance(first, dict):
            first = next(value for value in first.values() if isinstance(value, Tensor))
        else:
            first = first[0]
    node = first.grad_fn
    if node is None:
        return
    for hook in hooks:
        node.register_hook(WrappedHook(hook, module))
    reason = why_incomplete(args, result, node)
    if reason:
        warnings.warn(reason, FutureWarning, stacklevel=5)


def tensors_of(value: Any) -> tuple | None:
    """A tensor or a tuple of tensors as a tuple, None for anything else."""
    if isinstance(value, Tensor):
        return (value,)
    return value if isinstance(value, tuple) and all(isinstance(one, Tensor) for one in value) else None


def why_incomplete(args: Any, result: Any, node: Node) -> str:
    """The warning about what an old backward hook will not see; empty when it sees everything."""
    removed = "is deprecated and will be removed in future versions. This hook will be missing some"
    results, inputs = tensors_of(result), tensors_of(args)
    if results is None:
        return (
            "Using non-full backward hooks on a Module that does not return a single Tensor or a tuple of "
            f"Tensors {removed} of the grad_output. {USE_FULL}"
        )
    if inputs is None:
        return (
            "Using non-full backward hooks on a Module that does not take as input a single Tensor or a "
            "tuple of Tensors "
            f"{removed} of the grad_input. {USE_FULL}"
        )
    nodes = {one.grad_fn for one in results if one.grad_fn is not None}
    if not nodes or len(nodes) == 1 and node not in nodes:
        nested = "outputs are nested in python data structure"
        return f"Using a non-full backward hook when {nested} {removed} grad_output."
    if len(nodes) > 1:
        return (
            "Using a non-full backward hook when outputs are generated by different autograd Nodes "
            f"{removed} grad_output. {USE_FULL}"
        )
    if {one.grad_fn for one in inputs if one.grad_fn is not None} != {
        pair[0] for pair in node.next_functions
    }:
        return (
            "Using a non-full backward hook when the forward contains multiple autograd Nodes "
            f"{removed} grad_input. {USE_FULL}"
        )
    return ""


# The call ---------------------------------------------------------------------------------------------------


class Call:
    """One call of a module that has hooks; its state outlives an error, for hooks that are always called."""

    def __init__(self, module: Any, args: tuple, kwargs: dict):
        self.module = module
        self.args = args
        self.kwargs = kwargs
        self.result: Any = None
        self.ran: set[int] = set()

    def run(self) -> Any:
        """Run the hooks around the module's `forward`."""
        try:
            self.before()
            full, old, pre = self.backward_hooks()
            around = BackwardHook(self.module, full, pre) if full or pre else None
            if around is not None:
                self.args = around.enter(self.args)
            self.result = self.module.forward(*self.args, **self.kwargs)
            self.after()
            if around is not None:
                if not isinstance(self.result, (Tensor, tuple)):
                    warnings.warn(
                        "For backward hooks to be called, module output should be a Tensor or a tuple of "
                        f"Tensors but received {type(self.result)}",
                        stacklevel=4,
                    )
                self.result = around.leave(self.result)
            if old:
                register_old_hooks(self.module, old, self.args, self.result)
            return self.result
        except Exception:
            self.run_always_called()
            raise

    def before(self) -> None:
        """Run the forward pre-hooks, which may replace the arguments."""
        module = self.module
        for key, hook in [*everywhere.forward_pre.items(), *module._forward_pre_hooks.items()]:
            if key in module._forward_pre_hooks_with_kwargs:
                changed = hook(module, self.args, self.kwargs)
                if changed is not None:
                    if not (isinstance(changed, tuple) and len(changed) == 2):
                        raise RuntimeError(
                            "forward pre-hook must return None or a tuple of (new_args, new_kwargs), "
                            f"but got {changed}."
                        )
                    self.args, self.kwargs = changed
            else:
                changed = hook(module, self.args)
                if changed is not None:
                    self.args = changed if isinstance(changed, tuple) else (changed,)

    def after(self) -> None:
        """Run the forward hooks, which may replace the result."""
        for key, hook in [*everywhere.forward.items(), *self.module._forward_hooks.items()]:
            self.ran.add(key)
            changed = self.run_forward_hook(key, hook)
            if changed is not None:
                self.result = changed

    def run_forward_hook(self, key: int, hook: Callable) -> Any:
        """Call one forward hook with what it asked for."""
        if key in self.module._forward_hooks_with_kwargs or key in everywhere.with_kwargs:
            return hook(self.module, self.args, self.kwargs, self.result)
        return hook(self.module, self.args, self.result)

    def backward_hooks(self) -> tuple[list, list, list]:
        """The full backward hooks, the old ones and the backward pre-hooks, those of all modules first."""
        own = self.module
        pre = [*everywhere.backward_pre.values(), *own._backward_pre_hooks.values()]
        found: dict[bool, list] = {True: [], False: []}
        if everywhere.backward_is_full is not None:
            found[everywhere.backward_is_full] += everywhere.backward.values()
        if own._is_full_backward_hook is not None:
            found[own._is_full_backward_hook] += own._backward_hooks.values()
        return found[True], found[False], pre

    def run_always_called(self) -> None:
        """After an error: run the forward hooks that asked for it and did not run."""
        own = self.module._forward_hooks
        for owner, hooks, always in (
            ("global module forward hook", everywhere.forward, everywhere.always_called),
            ("module forward hook", own, self.module._forward_hooks_always_called),
        ):
            for key, hook in hooks.items():
                if key in always and key not in self.ran:
                    try:
                        changed = self.run_forward_hook(key, hook)
                        self.result = self.result if changed is None else changed
                    except Exception as error:
                        warnings.warn(
                            f"{owner} with ``always_call=True`` raised an exception that was silenced as "
                            f"another error was raised in forward: {error}",
                            stacklevel=4,
                        )


class Hooked:
    """The part of `Module` that registers hooks and is called."""

    _is_full_backward_hook: bool | None

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        own = self.__dict__
        if (
            own["_forward_pre_hooks"]
            or own["_forward_hooks"]
            or own["_backward_hooks"]
            or own["_backward_pre_hooks"]
            or everywhere.any_for_calls()
        ):
            return Call(self, args, kwargs).run()
        return self.forward(*args, **kwargs)

    def register_forward_pre_hook(
        self, hook: Callable, *, prepend: bool = False, with_kwargs: bool = False
    ) -> RemovableHandle:
        """Call `hook(module, args)` before `forward`; what it returns, unless None, replaces `args`."""
        handle = add(self._forward_pre_hooks, hook, prepend)
        if with_kwargs:
            self._forward_pre_hooks_with_kwargs[handle.id] = True
        return handle

    def register_forward_hook(
        self, hook: Callable, *, prepend: bool = False, with_kwargs: bool = False, always_call: bool = False
    ) -> RemovableHandle:
        """Call `hook(module, args, output)` after `forward`; unless None, its result replaces the output."""
        handle = add(self._forward_hooks, hook, prepend)
        if with_kwargs:
            self._forward_hooks_with_kwargs[handle.id] = True
        if always_call:
            self._forward_hooks_always_called[handle.id] = True
        return handle

    def register_full_backward_pre_hook(self, hook: Callable, prepend: bool = False) -> RemovableHandle:
        """Call `hook(module, grad_output)` before the module's backward; a tuple replaces `grad_output`."""
        return add(self._backward_pre_hooks, hook, prepend)

    def register_full_backward_hook(self, hook: Callable, prepend: bool = False) -> RemovableHandle:
        """Call `hook(module, grad_input, grad_output)` after the module's backward; a returned tuple replaces
        `grad_input`.

        Raises:
            RuntimeError: the module has a hook of `register_backward_hook`.
        """
        if self._is_full_backward_hook is False:
            raise RuntimeError(EXCLUSIVE)
        self._is_full_backward_hook = True
        return add(self._backward_hooks, hook, prepend)

    def register_backward_hook(self, hook: Callable) -> RemovableHandle:
        """The deprecated kind of backward hook: it hangs on the node of the first output.

        Raises:
            RuntimeError: the module has a hook of `register_full_backward_hook`.
        """
        if self._is_full_backward_hook is True:
            raise RuntimeError(EXCLUSIVE)
        self._is_full_backward_hook = False
        return add(self._backward_hooks, hook)
