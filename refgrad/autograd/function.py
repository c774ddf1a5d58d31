"""Custom Functions: `Function`, its context, and the node that runs its backward.

*Context* (`ctx`): what `forward` and `backward` share; it is the node itself. *Dirty*: an input that
`forward` wrote to. Source of the rules: "Extending torch.autograd" and `torch.autograd.Function` in PyTorch's
docs.
"""

import functools
import inspect
import warnings
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import numpy as np

from refgrad import call, errors, modes
from refgrad.autograd.function_outputs import unpack, wrap_outputs
from refgrad.edges import accumulator, edge_of
from refgrad.graph import FREED, DelayedError, Node, Packed, ReadOnly, make_edge, start
from refgrad.handles import add_hook
from refgrad.saved import RawSaved
from refgrad.storage import version_cell
from refgrad.tensor import Tensor, alias, type_name, wrap

ONCE = (
    "saved_tensors can only be accessed once when clear_saved_tensors_on_access=True is set on the "
    "autograd.Function. Either access saved_tensors only once, or set clear_saved_tensors_on_access=False."
)


IN_TRANSFORM: list[tuple] = []  # func/custom.py puts the function here that applies a Function in a transform


class FunctionCtx:
    """What `forward` may tell about its inputs and outputs."""

    to_save: Any
    dirty_tensors: Any
    non_differentiable: Any
    saved_for_forward: Any
    _kept_values: Any

    def save_for_backward(self, *tensors: Any) -> None:
        """Keep tensors (or None) for backward, as its `saved_tensors`; the last call counts."""
        self.to_save = tensors

    def save_for_forward(self, *tensors: Any) -> None:
        """Keep tensors (or None) for `jvp`, as its `saved_tensors`.

        Raises:
            AssertionError: one is neither.
        """
        if not all(tensor is None or isinstance(tensor, Tensor) for tensor in tensors):
            raise AssertionError(
                "save_for_forward expects all arguments to be tensors; you should save non-tensors as "
                "attributes on ctx."
            )
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
            "Note that calls to `set_()` are not tracked",
            FutureWarning,
            stacklevel=2,
        )

    def set_materialize_grads(self, value: bool) -> None:
        """Choose whether backward gets zeros (the default) or None for outputs without a gradient."""
        if not isinstance(value, bool):
            raise TypeError(
                "set_materialize_grads received an invalid combination of arguments - got (), "
                "but expected (bool)"
            )
        self._fills_in_zeros = value


class _HookMixin:
    """The old way to hang hooks into a dict of one's own."""

    @staticmethod
    def _register_hook(backward_hooks: OrderedDict | None, hook: Callable) -> tuple:
        backward_hooks = OrderedDict() if backward_hooks is None else backward_hooks
        return backward_hooks, add_hook(backward_hooks, hook)


# Note [The context is the node]
# The `ctx` of forward, the `ctx` of backward and the result's `grad_fn` are one object. It has its number and
# its edges before forward runs; its outputs, marks and saved tensors are settled when forward has returned.
# What users set on it stays theirs: it is neither checked for writes nor freed, as what `save_for_backward`
# keeps is.


class FunctionBase(FunctionCtx, _HookMixin, Node):
    """What a context and an instance of a Function have: a node's place, marks, saved tensors.

    Attributes that users set have the instance's dict to themselves.
    """

    IS_FUNCTION = True
    __slots__ = (
        "needs_input_grad",
        "to_save",
        "dirty_tensors",
        "non_differentiable",
        "saved_for_forward",
        "_fills_in_zeros",
        "_fills_in_everywhere",
        "_result_pairs",
        "_kept_values",
        "_is_freed",
        "_is_tensor_argument",
        "_has_setup",
    )
    _forward_cls: Any = None

    def _begin(self, edges: tuple, needs: tuple | None, is_tensor: tuple) -> None:
        """Take a place in the order of nodes, before `forward` makes any."""
        start(self, edges)
        self.needs_input_grad = needs
        self.to_save = self.dirty_tensors = self.non_differentiable = self.saved_for_forward = None
        self._fills_in_zeros = self._fills_in_everywhere = True
        self._result_pairs = self._kept_values = ()
        self._is_freed = False
        self._is_tensor_argument = is_tensor

    @ReadOnly
    def saved_tensors(self) -> tuple:
        """What `save_for_backward` kept, checked for writes.

        Raises:
            RuntimeError: it was freed, or written since.
        """
        if self.saved_for_forward is not None:
            return tuple(self.saved_for_forward)
        if self._kept_values is ONCE:
            raise RuntimeError(ONCE)
        if self._is_freed:
            raise RuntimeError(errors.FREED)
        found = tuple(unpack(self, saved) for saved in self._kept_values)
        if self._kept_values and self._forward_cls.clear_saved_tensors_on_access:
            self._kept_values = ONCE
        return found

    @ReadOnly
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

    @materialize_grads.setter
    def materialize_grads(self, value: bool) -> None:
        self.set_materialize_grads(value)

    @property
    def _materialize_non_diff_grads(self) -> bool:
        return self._fills_in_everywhere

    @_materialize_non_diff_grads.setter
    def _materialize_non_diff_grads(self, value: bool) -> None:
        if not isinstance(value, bool):
            raise TypeError(
                "set_materialize_non_diff_grads received an invalid combination of arguments - got (), but "
                "expected (bool)"
            )
        self._fills_in_everywhere = value

    @ReadOnly
    def _raw_saved_tensors(self) -> tuple:
        if self._is_freed:
            raise RuntimeError(errors.FREED)
        if self._kept_values is ONCE:
            return ()
        return tuple([SavedByFunction.of(self, "tensors", index) for index in range(len(self._kept_values))])

    def release_saved(self) -> None:
        """Let go of the saved tensors; attributes that users set stay."""
        self._is_freed = True
        if self._kept_values is not ONCE:
            self._kept_values = ()

    def _register_hook_dict(self, tensor: Any) -> None:
        if not isinstance(tensor, Tensor):
            raise RuntimeError("_register_hook_dict expected a Tensor")
        super()._register_hook_dict(tensor)

    def maybe_clear_saved_tensors(self) -> None:
        """Let go of the saved tensors now, if the run under way does not keep its graph."""
        if modes.state.task is not None and not modes.state.task.keep_graph:
            self.release_saved()


FunctionBase.__name__ = FunctionBase.__qualname__ = "_FunctionBase"


class BackwardCFunction(FunctionBase):
    """The node of a custom Function, and the context that its methods see."""

    __slots__ = ()

    def __init__(self, edges: tuple, needs: tuple[bool, ...], is_tensor: tuple[bool, ...]):
        self._begin(edges, needs, is_tensor)

    def apply(self, grads: list, create_graph: bool, needed: object) -> tuple | list:
        """Run the user's backward in the given grad mode, and check number and kind of what it returns."""
        before = modes.state.grad, modes.state.node
        modes.set_grad(create_graph)
        modes.state.node = self
        try:
            filled = self._filled(grads)
            # Boxed gradients come in one list, which the function may empty to let go of them.
            given = [list(filled)] if self._forward_cls.boxed_grads_call else filled
            results = self._get_user_fn()(self, *given)
        finally:
            modes.set_grad(before[0])
            modes.state.node = before[1]
        return self._per_tensor(results if isinstance(results, tuple) else (results,))

    def _get_user_fn(self) -> Callable:
        function = self._forward_cls
        backward, vjp = function.backward, function.vjp
        if vjp is not Function.vjp:
            if backward is not Function.backward:
                raise RuntimeError(
                    "Implementing both 'backward' and 'vjp' for a custom Function is not allowed. You "
                    "should only implement one of them."
                )
            return vjp
        return backward

    def _filled(self, grads: list) -> list:
        # See note [Undefined gradients].
        if not self._fills_in_zeros:
            return grads
        filled = []
        output: Any
        for gradient, output, place in zip(grads, self._result_pairs, self.forward_outputs, strict=True):
            wanted = output is not None and (place is not None or self._fills_in_everywhere)
            if gradient is None and wanted:
                shape, dtype = output
                gradient = wrap(np.zeros(shape, dtype))
                gradient._version_cell = [1]  # PyTorch writes the zeros, and counts it
            filled.append(gradient)
        return filled

    def _per_tensor(self, results: tuple) -> list:
        """The gradients of the tensor arguments, one per edge."""
        expected = len(self._is_tensor_argument)
        if len(results) > expected and all(result is None for result in results[expected:]):
            results = results[:expected]
        if len(results) != expected:
            raise RuntimeError(
                f"function {self.name()} returned an incorrect number of gradients (expected "
                f"{expected}, got {len(results)})"
            )
        gradients = []
        for position, (result, is_tensor) in enumerate(
            zip(results, self._is_tensor_argument, strict=True), 1
        ):
            if not is_tensor:
                if result is not None:
                    raise RuntimeError(
                        f"function {self.name()} returned a gradient different than None at position "
                        f"{position}, but the corresponding forward input was not a Variable"
                    )
            elif result is None or isinstance(result, Tensor):
                gradients.append(result)
            else:
                raise RuntimeError(f"expected Variable or None (got {type_name(result)})")
        return gradients

    def __call__(self, *grads: object, **options: object) -> object:
        raise TypeError(f"'{type(self).__name__}' object is not callable")

    def __repr__(self) -> str:
        return f"<torch.autograd.function.{type(self).__name__} object at {id(self):#x}>"


class SavedByFunction(RawSaved):
    """Handle on one of the tensors that a custom Function saved."""

    index: int

    __slots__ = ()

    def _held(self) -> Any:
        values = self.node._kept_values
        return FREED if self.node._is_freed or values is ONCE else values[self.index]

    def _shown(self) -> Any:
        return unpack(self.node, self._held())

    def _replace(self, packed: Packed) -> None:
        saved = list(self.node._kept_values)
        saved[self.index] = packed
        self.node._kept_values = tuple(saved)


SavedByFunction.__name__ = SavedByFunction.__qualname__ = "SavedTensor"
SavedByFunction.__module__ = "torch._C._autograd"


class FunctionMeta(type):
    """Gives each Function its own class of nodes."""

    def __init__(cls, name: str, bases: tuple, attributes: dict):
        cls._backward_cls = type(f"{name}Backward", (BackwardCFunction,), {"_forward_cls": cls})
        cls._backward_cls.__module__ = "torch.autograd.function"
        super().__init__(name, bases, attributes)


class Function(FunctionBase, metaclass=FunctionMeta):
    """Base of custom differentiable functions: static `forward` and `backward`, called through `apply`.

    An instance, which old code makes, has a context's attributes and leads nowhere.
    """

    boxed_grads_call = False
    clear_saved_tensors_on_access = False
    generate_vmap_rule = False
    is_generated = False  # whether it stands for another one in a transform

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        made = object.__new__(cls)
        made._begin((), None, ())
        return made

    def __init__(self, *args: Any, **kwargs: Any):
        warnings.warn(
            f"{type(self)} should not be instantiated. Methods on autograd functions are all static, so you "
            "should invoke them on the class itself. Instantiating an autograd function will raise an "
            "error in a future version of PyTorch.",
            DeprecationWarning,
            stacklevel=2,
        )

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise RuntimeError(
            "Legacy autograd function with non-static forward method is deprecated. Please use new-style "
            "autograd function with static forward method. (Example: "
            "https://pytorch.org/docs/stable/autograd.html#torch.autograd.Function)"
        )

    __repr__ = object.__repr__

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
            "it with backward mode AD."
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
            "To use autograd.Function with vmap, you must either override the vmap staticmethod "
            "or set generate_vmap_rule=True."
        )

    @classmethod
    def apply(cls, *args: Any, **kwargs: Any) -> Any:
        """Run `forward` outside the graph and record one node for it."""
        if modes.state.transforms and not cls.is_generated:
            transform, unhandled = IN_TRANSFORM[0]
            result = transform(cls, args)
            if result is not unhandled:
                return result
        with_setup = cls.setup_context is not Function.setup_context
        if with_setup:
            bound = inspect.signature(cls.forward).bind(*args, **kwargs)
            bound.apply_defaults()
            args, kwargs = bound.args, bound.kwargs
        if kwargs:
            args = all_positional(cls.forward, args, kwargs, 0 if with_setup else 1)
        is_tensor = tuple(isinstance(arg, Tensor) for arg in args)
        needs = tuple(isinstance(arg, Tensor) and arg.requires_grad for arg in args)
        recorded = any(needs) and modes.grad_enabled() and not modes.inference_enabled()
        tensors = [arg for arg in args if isinstance(arg, Tensor)]
        edges = tuple(edge_of(tensor) for tensor in tensors) if recorded else ()
        ctx = cls._backward_cls(edges, needs, is_tensor)
        if modes.RARE and modes.state.rare.anomaly:
            call.remember_forward(ctx)
        ctx._has_setup = with_setup
        before = modes.state.grad
        carry = None
        if modes.DUALS:
            from refgrad.autograd import function_tangents

            carry = function_tangents.prepare(ctx, args)
        modes.set_grad(False)
        forward, modes.state.forward = modes.state.forward, False
        try:
            if with_setup:
                output = cls.forward(*args)
                cls.setup_context(ctx, args, output)
            else:
                output = cls.forward(ctx, *args)
        finally:
            modes.set_grad(before)
            modes.state.forward = forward
        return wrap_outputs(ctx, output, tensors, recorded, carry)


def all_positional(forward: Callable, args: tuple, kwargs: dict, skipped: int) -> tuple:
    """The arguments in the order in which `forward` names them; keyword-only ones are none of them.

    Raises:
        TypeError: a keyword is unknown, or given twice, or leaves a gap: defaults do not fill it.
    """
    code = forward.__code__
    names = code.co_varnames[skipped : code.co_argcount]
    for name in kwargs:
        if name not in names:
            raise TypeError(f"forward() got an unexpected keyword argument '{name}'")
        if name in names[: len(args)]:
            raise TypeError(f"forward() got multiple values for argument '{name}'")
    last = max(names.index(name) for name in kwargs)
    for position in range(len(args), last + 1):
        if names[position] not in kwargs:
            raise TypeError(f"forward() missing required argument: '{names[position]}' (position {position})")
    return (*args, *[kwargs[name] for name in names[len(args) : last + 1]])


def once_differentiable(function: Callable) -> Callable:
    """Marks a backward that cannot be differentiated: it runs outside the graph, its results refuse."""

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
    """The old base of Functions with nested arguments; calling an instance fails, as in PyTorch."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return super()._do_forward(*args)  # type: ignore[misc]
