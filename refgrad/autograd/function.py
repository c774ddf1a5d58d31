"""Custom Functions: `Function`, its context, and the node that runs its backward.

*Context* (`ctx`): what `forward` and `backward` share; it is the node itself. *Dirty*: an input that
`forward` wrote to. Source of the rules: "Extending torch.autograd" and `torch.autograd.Function` in PyTorch's
docs.
"""

import functools
import inspect
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from refgrad import call, errors, modes, views
from refgrad.graph import DelayedError, Node, Packed, make_edge, start
from refgrad.storage import count_write, version_cell, version_of
from refgrad.tensor import Tensor, accumulator, alias, edge_of, set_edge, type_name, wrap

NOT_RETURNED = (
    "Some elements marked as dirty during the forward method were not returned as output. The inputs that "
    "are modified "
    "inplace must all be outputs of the Function."
)
NOT_AN_INPUT = (
    "ctx.mark_dirty() received a tensor that was not an input. Only input Tensors that have been mutated should be "
    "passed to ctx.mark_dirty()."
)
ONE_OUTPUT = (
    "If your Function modifies inplace an input that is a view of another Tensor, your Function cannot "
    "return more than "
    "one Tensor. This is not supported by the current autograd engine. You should either make sure the "
    "input is not a "
    "view (using .clone() for example) or make your Function only return one Tensor (potentially splitting "
    "it into two "
    "Functions: one doing the inplace that returns a single Tensor and a second one that does the other "
    "operations). You "
    "can ask on the forum https://discuss.pytorch.org/ if you need help to do this change."
)
ONCE = (
    "saved_tensors can only be accessed once when clear_saved_tensors_on_access=True is set on the "
    "autograd.Function. "
    "Either access saved_tensors only once, or set clear_saved_tensors_on_access=False."
)


class SavedResult:
    """An output that was saved by its own Function: memory and counter only, so that no cycle arises."""

    __slots__ = ("array", "cell", "number")

    def __init__(self, tensor: Tensor):
        self.array = tensor._array
        self.cell = version_cell(tensor)
        self.number = tensor.output_nr


class FunctionCtx:
    """What `forward` may tell about its inputs and outputs."""

    def save_for_backward(self, *tensors: Any) -> None:
        """Keep tensors (or None) for backward, where `saved_tensors` gives them back; the last call counts."""
        self.to_save = tensors

    def save_for_forward(self, *tensors: Any) -> None:
        """Keep tensors for `jvp`."""
        self.saved_for_forward = tensors

    def mark_dirty(self, *args: Any) -> None:
        """Say which inputs `forward` wrote to; each must be returned."""
        self.dirty_tensors = args

    def mark_non_differentiable(self, *args: Any) -> None:
        """Say which outputs are no part of the graph."""
        self.non_differentiable = args

    def mark_shared_storage(self, *pairs: Any) -> None:
        """Deprecated, without effect."""
        warnings.warn(
            "`mark_shared_storage` is deprecated. Tensors with shared storages are automatically tracked. "
            "Note that "
            "calls to `set_()` are not tracked",
            FutureWarning,
            stacklevel=2,
        )

    def set_materialize_grads(self, value: bool) -> None:
        """Choose whether backward gets zeros (the default) or None for outputs without a gradient."""
        if not isinstance(value, bool):
            raise TypeError(
                "set_materialize_grads received an invalid combination of arguments - got (), but expected "
                "(bool)"
            )
        self._materialize = value


class BackwardCFunction(FunctionCtx, Node):
    """The node of a custom Function, and the context that its methods see."""

    IS_FUNCTION = True
    _forward_cls: Any = None

    def __init__(self, needs: tuple[bool, ...], is_tensor: tuple[bool, ...]):
        own = self.__dict__
        own.update(needs_input_grad=needs, to_save=None, dirty_tensors=None, non_differentiable=None)
        own.update(saved_for_forward=None, _materialize=True, _saved=(), _freed=False, _is_tensor=is_tensor)

    @property
    def saved_tensors(self) -> tuple:
        """What `save_for_backward` kept, checked for writes.

        Raises:
            RuntimeError: it was freed, or written since.
        """
        if self._freed:
            raise RuntimeError(errors.FREED)
        if self._saved is ONCE:
            raise RuntimeError(ONCE)
        found = tuple(unpack(self, saved) for saved in self._saved)
        if self._forward_cls.clear_saved_tensors_on_access and self._saved:
            self.__dict__["_saved"] = ONCE
        return found

    @property
    def saved_variables(self) -> tuple:
        """The old name of `saved_tensors`."""
        warnings.warn(
            "'saved_variables' is deprecated; use 'saved_tensors'", DeprecationWarning, stacklevel=2
        )
        return self.saved_tensors

    @property
    def materialize_grads(self) -> bool:
        """Write only, as in PyTorch."""
        raise AttributeError(
            "attribute 'materialize_grads' of 'torch._C._FunctionBase' objects is not readable"
        )

    @property
    def _raw_saved_tensors(self) -> tuple:
        if self._freed:
            raise RuntimeError(errors.FREED)
        return tuple(self._saved)

    def __setattr__(self, name: str, value: Any) -> None:
        if name in ("saved_tensors", "saved_variables", "next_functions", "metadata", "_raw_saved_tensors"):
            raise AttributeError(f"attribute '{name}' of 'torch._C._FunctionBase' objects is not writable")
        if name == "materialize_grads":
            name = "_materialize"
        object.__setattr__(self, name, value)

    def release(self) -> None:
        """Let go of the saved tensors; attributes that users set stay."""
        self.__dict__.update(_freed=True, _saved=())

    def apply(self, grads: list, create_graph: bool, needed: object) -> tuple | list:
        """Run the user's backward in the given grad mode and check how many values of which kind it returns."""
        before = modes.state.grad, modes.state.node
        modes.set_grad(create_graph)
        modes.state.node = self
        try:
            results = self._user_backward()(self, *self._filled(grads))
        finally:
            modes.set_grad(before[0])
            modes.state.node = before[1]
        return self._per_tensor(results if isinstance(results, tuple) else (results,))

    def _user_backward(self) -> Callable:
        function = self._forward_cls
        backward, vjp = function.backward, function.vjp
        if vjp is not Function.vjp:
            if backward is not Function.backward:
                raise RuntimeError(
                    "Implementing both 'backward' and 'vjp' for a custom Function is not allowed. You "
                    "should only "
                    "implement one of them."
                )
            return vjp
        return backward

    def _filled(self, grads: list) -> list:
        if not self._materialize:
            return grads
        filled = []
        for gradient, output in zip(grads, self.outputs, strict=True):
            if gradient is None and output is not None:
                shape, dtype = output
                gradient = wrap(np.zeros(shape, dtype))
                gradient._version_cell = [1]  # PyTorch writes the zeros, and counts it
            filled.append(gradient)
        return filled

    def _per_tensor(self, results: tuple) -> list:
        """The gradients of the tensor arguments, one per edge."""
        expected = len(self._is_tensor)
        if len(results) > expected and all(result is None for result in results[expected:]):
            results = results[:expected]
        if len(results) != expected:
            raise RuntimeError(
                f"function {self.name()} returned an incorrect number of gradients (expected {expected}, got "
                f"{len(results)})"
            )
        gradients = []
        for position, (result, is_tensor) in enumerate(zip(results, self._is_tensor, strict=True), 1):
            if not is_tensor:
                if result is not None:
                    raise RuntimeError(
                        f"function {self.name()} returned a gradient different than None at position "
                        f"{position}, but "
                        "the corresponding forward input was not a Variable"
                    )
            elif result is None or isinstance(result, Tensor):
                gradients.append(result)
            else:
                raise RuntimeError(f"expected Variable or None (got {type_name(result)})")
        return gradients

    def __call__(self, *grads: object) -> object:
        raise TypeError(f"'{type(self).__name__}' object is not callable")

    def __repr__(self) -> str:
        return f"<torch.autograd.function.{type(self).__name__} object at {id(self):#x}>"


def unpack(node: BackwardCFunction, saved: Any) -> Any:
    """One saved tensor as users see it."""
    if saved is None:
        return None
    if isinstance(saved, Packed):
        return saved.unpack(Tensor)
    kept, version, had_node = saved
    if isinstance(kept, SavedResult):
        tensor = wrap(kept.array)
        tensor._version_cell = kept.cell
        if kept.cell[0] != version:
            kind = call.type_text(tensor.dtype)
            raise call.version_error(kind, kept.array.shape, node, kept.number, kept.cell[0], version)
        tensor._edge = make_edge(node, kept.number)
        return tensor
    checked = call.check_saved(kept, version)
    if had_node and checked.grad_fn is None:
        raise RuntimeError(
            "Trying to use a saved tensor that has been detached in-place, i.e. with .detach_().This is not "
            "supported, "
            "please use out-of-place `.detach()` instead"
        )
    return checked


class FunctionMeta(type):
    """Gives each Function its own class of nodes."""

    def __init__(cls, name: str, bases: tuple, attributes: dict):
        cls._backward_cls = type(f"{name}Backward", (BackwardCFunction,), {"_forward_cls": cls})
        cls._backward_cls.__module__ = "torch.autograd.function"
        super().__init__(name, bases, attributes)


class Function(FunctionCtx, metaclass=FunctionMeta):
    """Base of custom differentiable functions: static `forward` and `backward`, called through `apply`."""

    clear_saved_tensors_on_access = False
    generate_vmap_rule = False

    def __init__(self, *args: Any, **kwargs: Any):
        warnings.warn(
            f"{type(self)} should not be instantiated. Methods on autograd functions are all static, so you "
            "should "
            "invoke them on the class itself. Instantiating an autograd function will raise an error in a "
            "future version "
            "of PyTorch.",
            DeprecationWarning,
            stacklevel=2,
        )

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise RuntimeError(
            "Legacy autograd function with non-static forward method is deprecated. Please use new-style "
            "autograd "
            "function with static forward method. (Example: "
            "https://pytorch.org/docs/stable/autograd.html#torch.autograd.Function)"
        )

    @staticmethod
    def forward(*args: Any, **kwargs: Any) -> Any:
        """Compute the outputs; to be overridden."""
        raise NotImplementedError("You must implement the forward function for custom autograd.Function.")

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple, output: Any) -> Any:
        """Fill the context after a `forward` without `ctx`; to be overridden."""
        raise NotImplementedError("setup_context is not implemented.")

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any) -> Any:
        """Compute the gradients of the inputs; to be overridden."""
        raise NotImplementedError(
            "You must implement either the backward or vjp method for your custom autograd.Function to use "
            "it with "
            "backward mode AD."
        )

    @staticmethod
    def vjp(ctx: Any, *grad_outputs: Any) -> Any:
        """Another name for `backward`; only one of them may be overridden."""
        return Function.backward(ctx, *grad_outputs)

    @staticmethod
    def jvp(ctx: Any, *grad_inputs: Any) -> Any:
        """Compute the tangents of the outputs; to be overridden."""
        raise NotImplementedError(
            "You must implement the jvp function for custom autograd.Function to use it with forward mode AD."
        )

    @staticmethod
    def vmap(info: Any, in_dims: Any, *args: Any) -> Any:
        """Compute a whole batch; to be overridden."""
        raise NotImplementedError(
            "To use autograd.Function with vmap, you must either override the vmap staticmethod or set "
            "generate_vmap_rule=True."
        )

    @classmethod
    def apply(cls, *args: Any, **kwargs: Any) -> Any:
        """Run `forward` outside the graph and record one node for it."""
        with_setup = cls.setup_context is not Function.setup_context
        if with_setup:
            bound = inspect.signature(cls.forward).bind(*args, **kwargs)
            bound.apply_defaults()
            args, kwargs = bound.args, {}
        for name in kwargs:
            refuse_unknown(cls.forward, name)
        everything = (*args, *kwargs.values())
        is_tensor = tuple(isinstance(arg, Tensor) for arg in everything)
        needs = tuple(isinstance(arg, Tensor) and arg.requires_grad for arg in everything)
        recorded = any(needs) and modes.grad_enabled() and not modes.inference_enabled()
        ctx = cls._backward_cls(needs, is_tensor)
        tensors = [arg for arg in everything if isinstance(arg, Tensor)]
        edges = tuple(edge_of(tensor) for tensor in tensors) if recorded else ()
        before = modes.state.grad
        modes.set_grad(False)
        try:
            if with_setup:
                output = cls.forward(*args)
                cls.setup_context(ctx, args, output)
            else:
                output = cls.forward(ctx, *args, **kwargs)
        finally:
            modes.set_grad(before)
        return wrap_outputs(ctx, output, tensors, edges, recorded)


def refuse_unknown(forward: Callable, name: str) -> None:
    """Refuse a keyword that `forward` does not take, in PyTorch's words."""
    parameters = inspect.signature(forward).parameters
    if name not in parameters and not any(p.kind is p.VAR_KEYWORD for p in parameters.values()):
        raise TypeError(f"forward() got an unexpected keyword argument '{name}'")


def wrap_outputs(ctx: Any, output: Any, inputs: list, edges: tuple, recorded: bool) -> Any:
    """Make the outputs of `forward` outputs of the node, then save what `forward` asked to save."""
    is_tuple = isinstance(output, tuple)
    if not is_tuple and not isinstance(output, Tensor):
        finish(ctx, False)
        return output
    raw = output if is_tuple else (output,)
    dirty, fixed = marked(ctx)
    metadata = [(x._array.shape, x._array.dtype) if isinstance(x, Tensor) else None for x in raw]
    if recorded:
        start(ctx, edges, *metadata)
    outputs = []
    for number, tensor in enumerate(raw):
        if isinstance(tensor, Tensor):
            live = recorded and not contains(fixed, tensor) and tensor._can_require_grad()
            tensor = placed(ctx, tensor, number, inputs, dirty, live, len(raw))
        outputs.append(tensor)
    if not all(contains(outputs, tensor) or contains(raw, tensor) for tensor in dirty):
        raise RuntimeError(NOT_RETURNED)
    live_outputs = [x for x in outputs if isinstance(x, Tensor) and x.requires_grad]
    for tensor in outputs if recorded else ():
        if isinstance(tensor, Tensor) and tensor._is_view() and not contains(dirty, tensor):
            multiple = len(live_outputs) > 1
            tensor._meta.creation = views.MULTI_OUTPUT if multiple else views.CUSTOM_FUNCTION
    finish(ctx, recorded)
    return tuple(outputs) if is_tuple else outputs[0]


def contains(tensors: Sequence, tensor: Any) -> bool:
    """Whether this very object is among the others."""
    return any(other is tensor for other in tensors)


def marked(ctx: Any) -> tuple[tuple, tuple]:
    """The tensors marked as dirty, whose writes are counted here, and those marked as not differentiable."""
    dirty = ctx.dirty_tensors or ()
    for tensor in dirty:
        if not isinstance(tensor, Tensor):
            raise RuntimeError("mark_dirty can only accept variables, but argument ")
        count_write(tensor)
    fixed = ctx.non_differentiable or ()
    for tensor in fixed:
        if not isinstance(tensor, Tensor):
            raise RuntimeError("mark_non_differentiable only accepts variable arguments, but got ")
    return dirty, fixed


def placed(
    ctx: Any, tensor: Tensor, number: int, inputs: list, dirty: tuple, live: bool, count: int
) -> Tensor:
    """One output in its place in the graph: detached, rebased, a view of the input it is, or made by the
    node.
    """
    is_input, is_dirty = contains(inputs, tensor), contains(dirty, tensor)
    if not live:
        if not tensor.requires_grad:
            return view_of_itself(tensor) if is_input and not is_dirty else tensor
        if is_input:
            return alias(tensor, version_cell(tensor))
        if not tensor._is_view():
            detach_in_place(tensor)
        return tensor
    if is_dirty:
        return rebased(ctx, tensor, number, is_input, count)
    if is_input:
        tensor = view_of_itself(tensor)
    set_edge(tensor, make_edge(ctx, number))
    return tensor


def rebased(ctx: Any, tensor: Tensor, number: int, is_input: bool, count: int) -> Tensor:
    """A dirty input whose history goes on with the node."""
    if tensor._is_view():
        views.check_inplace(tensor)
        if count > 1:
            raise RuntimeError(ONE_OUTPUT)
    if tensor.is_leaf and tensor.requires_grad:
        raise RuntimeError("a leaf Variable that requires grad has been used in an in-place operation.")
    if not is_input:
        warnings.warn(NOT_AN_INPUT, UserWarning, stacklevel=5)
    if tensor._is_view():
        views.rebase_history(tensor, ctx)
    else:
        set_edge(tensor, make_edge(ctx, number))
    return tensor


def view_of_itself(tensor: Tensor) -> Tensor:
    """A view of the whole tensor, made outside the graph."""
    before = modes.state.grad
    modes.set_grad(False)
    try:
        return views.make_view(tensor, tensor._array.view())
    finally:
        modes.set_grad(before)


def detach_in_place(tensor: Tensor) -> None:
    """Take a tensor out of the graph."""
    set_edge(tensor, None)
    tensor._set_requires_grad(False)
    tensor._edge = None


def finish(ctx: Any, recorded: bool) -> None:
    """Save what was asked for, and forget the marks."""
    to_save = ctx.to_save
    own = ctx.__dict__
    own.update(to_save=None, dirty_tensors=None, non_differentiable=None)
    if not recorded:
        return
    saved = []
    for position, tensor in enumerate(to_save or ()):
        if tensor is not None and not isinstance(tensor, Tensor):
            raise TypeError(
                f"save_for_backward can only save variables, but argument {position} is of type "
                f"{type_name(tensor)}"
            )
        saved.append(None if tensor is None else kept(ctx, tensor))
    own["_saved"] = tuple(saved)
    if modes.RARE:
        apply_saved_hooks(ctx)


def kept(ctx: Any, tensor: Tensor) -> tuple:
    """What is kept of a saved tensor: itself, or memory and counter of an output; version; whether it had a
    node.
    """
    node = tensor.grad_fn
    if node is ctx:
        return SavedResult(tensor), version_of(tensor), True
    if tensor._version_cell is views.INFERENCE:
        raise RuntimeError(errors.INFERENCE_SAVE)
    return tensor, version_of(tensor), node is not None


def apply_saved_hooks(ctx: Any) -> None:
    """Pack the saved tensors when saved-tensor hooks are active; note the forward in anomaly mode."""
    rare = modes.state.rare
    if rare.anomaly:
        call.remember_forward(ctx)
    if rare.saved_tensor_hooks:
        pack, unpack_hook = rare.saved_tensor_hooks[-1]
        packed = [None if s is None else Packed(pack, unpack_hook, unpack(ctx, s)) for s in ctx._saved]
        ctx.__dict__["_saved"] = tuple(packed)


def once_differentiable(function: Callable) -> Callable:
    """Marks a backward that cannot itself be differentiated: it runs outside the graph, and its results
    refuse.
    """

    @functools.wraps(function)
    def wrapper(ctx: Any, *args: Any) -> Any:
        before = modes.state.grad
        modes.set_grad(False)
        try:
            outputs = function(ctx, *args)
        finally:
            modes.set_grad(before)
        if not before or not any(isinstance(arg, Tensor) and arg.requires_grad for arg in args):
            return outputs
        return refusing(outputs if isinstance(outputs, tuple) else (outputs,))

    return wrapper


def refusing(outputs: tuple) -> tuple:
    """Aliases of the outputs behind a node that refuses to run."""
    leaves = []
    for output in outputs:
        if output is not None:
            output = alias(output, version_cell(output))
            output._set_requires_grad(True)
        leaves.append(output)
    edges = tuple(None if leaf is None else accumulator(leaf) for leaf in leaves)
    metadata = [None if x is None else (x._array.shape, x._array.dtype) for x in leaves]
    node = start(object.__new__(DelayedError), edges, *metadata)
    node.message = "trying to differentiate twice a function that was marked with @once_differentiable"
    results = []
    for number, leaf in enumerate(leaves):
        result = None if leaf is None else alias(leaf, version_cell(leaf))
        if result is not None:
            result._edge = make_edge(node, number)
        results.append(result)
    return tuple(results)


class InplaceFunction(Function):
    """The old base of Functions with an `inplace` argument."""

    def __init__(self, inplace: bool = False):
        super().__init__()
        self.inplace = inplace


class NestedIOFunction(Function):
    """The old base of Functions whose arguments are nested; calling an instance fails in it, as in PyTorch."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return super()._do_forward(*args)  # type: ignore[misc]
