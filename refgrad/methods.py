"""Methods and properties of `Tensor` that are no ops: leaving the graph, Python's protocols, conversion to
Python.
"""

import copy
import warnings
from collections import OrderedDict
from copyreg import _slotnames
from typing import Any

import numpy as np

from refgrad import dtypes, duals, errors, modes
from refgrad.binding import Parser
from refgrad.edges import set_edge
from refgrad.layout import root_of
from refgrad.lazy import LazyArray
from refgrad.modes import warn_once
from refgrad.op import calls
from refgrad.printing import tensor_repr
from refgrad.samples import stop_at_wrapper
from refgrad.storage import INFERENCE, DetachedInference, cell_of_detached, data_ptr, version_cell, version_of
from refgrad.tensor import AutogradMeta, Tensor, alias, wrap

TO_SCALAR = (
    "Converting a tensor with requires_grad=True to a scalar may lead to unexpected behavior.\n"
    "Consider using tensor.detach() first."
)
DETACH_VIEW = (
    "Can't detach views in-place. Use detach() instead. If you are using DistributedDataParallel (DDP) for "
    "training, and gradient_as_bucket_view is set as True, gradients are views of DDP buckets, and hence "
    "detach_() cannot be called on these gradients. To fix this error, please refer to the "
    "Optimizer.zero_grad() function in torch/optim/optimizer.py as the solution."
)
DEEPCOPY = (
    "Only Tensors created explicitly by the user (graph leaves) support the deepcopy protocol at the "
    "moment.  If you were attempting to deepcopy a module, this may be because of a "
    "torch.nn.utils.weight_norm usage, see https://github.com/pytorch/pytorch/pull/103001"
)


DEEPCOPY_SUBCLASS = (
    "The default implementation of __deepcopy__() for non-wrapper subclasses only works for subclass types "
    "that implement new_empty() and for which that function returns another instance of the same subclass. "
    "You should either properly implement new_empty() for your subclass or override __deepcopy__() if it is "
    "intended behavior for new_empty() to return an instance of a different type."
)
DEEPCOPY_EMPTY = (
    "The default implementation of __deepcopy__() for wrapper subclasses only works for subclass types that "
    "implement clone() and for which cloning returns another instance of the same subclass. You should "
    "either properly implement clone() for your subclass or override __deepcopy__() if it is intended "
    "behavior for clone() to return an instance of a different type."
)


def attach(function: Any) -> Any:
    """Make a function a method of `Tensor`."""
    function.__qualname__ = f"Tensor.{function.__name__}"  # Python's own errors name it
    setattr(Tensor, function.__name__, function)
    return function


# Leaving the graph ------------------------------------------------------------------------------------------


@attach
def detach(self: Tensor) -> Tensor:
    """The same memory outside the graph; writes to it count for this tensor too."""
    stop_at_wrapper(self)
    cell = cell_of_detached(self)
    made = alias(self, version_cell(self) if cell is None else cell)
    if modes.DUALS:
        duals.after_detach(self, made)
    return made


@attach
def detach_(self: Tensor) -> Tensor:
    """Take this tensor itself out of the graph.

    Raises:
        RuntimeError: it is a view.
    """
    if self.is_inference() or modes.inference_enabled():
        return self  # without effect, as in PyTorch
    if self._is_view():
        raise RuntimeError(DETACH_VIEW)
    set_edge(self, None)
    if self._meta is not None:
        self._meta.requires_grad, self._meta.tangent = False, None
    self._edge = None
    return self


IN_TRANSFORM = errors.IN_TRANSFORM.format(
    "requires_grad_", "(or perhaps using torch.autograd.functional.* APIs) "
)


REQUIRES_GRAD = Parser("requires_grad_", ["requires_grad_(bool requires_grad=True)"], method=True)


@attach
def requires_grad_(self: Tensor, *args: Any, **kwargs: Any) -> Tensor:
    """Set whether this leaf requires grad (`requires_grad`, True if not given); on a non-leaf, True is no
    change.

    Raises:
        TypeError: the argument is no bool, or there are others.
        RuntimeError: it is a non-leaf and the flag is False, or its type is not differentiable.
    """
    plain = not kwargs and len(args) == 1 and args[0].__class__ is bool
    requires_grad = args[0] if plain else REQUIRES_GRAD.bind(args, kwargs)[1][0]
    if modes.state.transforms:
        raise RuntimeError(IN_TRANSFORM)
    if not self.is_leaf:
        if not requires_grad:
            raise RuntimeError(errors.NON_LEAF_FLAG)
        return self
    if requires_grad and not self._can_require_grad():
        raise RuntimeError("only Tensors of floating point dtype can require gradients")
    self._set_requires_grad(requires_grad)
    return self


def get_data(self: Tensor) -> Tensor:
    """The same memory outside the graph, with a version counter of its own."""
    return alias(self, cell_of_detached(self))


def set_data(self: Tensor, value: Any) -> None:
    """Show other memory from now on; graph, flag and version counter stay."""
    if not isinstance(value, Tensor):
        raise TypeError(f"Variable data has to be a tensor, but got {type(value).__name__}")
    if self.requires_grad and value.dtype.category < dtypes.FLOATING:
        raise RuntimeError(
            "data set to a tensor that requires gradients must be floating point or complex dtype"
        )
    if self._meta is not None and self._array.dtype != value._array.dtype:
        self._meta.accumulator = None  # which goes by the type; the shape it noted stays, even a wrong one
    self._array = value._array
    if value.is_inference() and not self.is_inference():
        self._version_cell = DetachedInference(version_of(self))


def del_data(self: Tensor) -> None:
    """Refused."""
    raise RuntimeError("Deleting tensor data is not allowed. Delete tensor instead!")


Tensor.data = property(get_data, set_data, del_data)


def set_grad_fn(self: Tensor, value: None) -> None:
    """Take the tensor out of the graph; the old way of `detach_`."""
    if value is not None:
        raise RuntimeError("_grad_fn can be only set to None")
    self.detach_()


def del_grad_fn(self: Tensor) -> None:
    """Refused."""
    raise RuntimeError("Deletion of _grad_fn not allowed. Detach tensor instead!")


Tensor._grad = property(*[getattr(Tensor.grad, each) for each in ("fget", "fset", "fdel")])
Tensor._grad_fn = property(lambda self: self.grad_fn, set_grad_fn, del_grad_fn)


# Conversion to Python ---------------------------------------------------------------------------------------


@attach
def item(self: Tensor) -> Any:
    """The one element as a Python number.

    Raises:
        RuntimeError: there is not exactly one.
    """
    if self._array.size != 1:
        raise RuntimeError(f"a Tensor with {self._array.size} elements cannot be converted to Scalar")
    return self._array.item()


@attach
def tolist(self: Tensor) -> Any:
    """The elements as nested lists; of a 0-dim tensor, the number."""
    return self._array.tolist()


@attach
def numpy(self: Tensor, *, force: bool = False) -> np.ndarray:
    """The elements as an array over the same memory.

    Raises:
        RuntimeError: the tensor requires grad and `force` is not set.
        TypeError: NumPy has no such type.
    """
    if not force and self.requires_grad and modes.grad_enabled():
        raise RuntimeError(
            "Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead."
        )
    if self._array.__class__ is not np.ndarray:
        bit, resolve = ("conjugate", "resolve_conj") if self.is_conj() else ("negative", "resolve_neg")
        if not force:
            raise RuntimeError(
                f"Can't call numpy() on Tensor that has {bit} bit set. "
                f"Use tensor.{resolve}().numpy() instead."
            )
        return self._array.plain()
    if self._array.dtype.kind == "V":
        raise TypeError(f"Got unsupported ScalarType {self.dtype.scalar_type}")
    return self._array.view()


def array_protocol(self: Tensor, dtype: Any = None) -> np.ndarray:
    """What NumPy asks for when it meets a tensor; as in PyTorch without `copy`, of which NumPy warns."""
    array = numpy(self)
    return array if dtype is None else array.astype(dtype, copy=False)


def one_element(self: Tensor) -> Any:
    """The one element, for Python's conversions.

    Raises:
        ValueError: there is not exactly one.
    """
    if self._array.size != 1:
        raise ValueError("only one element tensors can be converted to Python scalars")
    return self._array.item()


def warn_scalar(self: Tensor) -> None:
    """Warn that a conversion leaves the graph."""
    if self._edge is not None and self.requires_grad and modes.grad_enabled():
        warn_once(TO_SCALAR)


def to_float(self: Tensor) -> float:
    """`float(tensor)`."""
    warn_scalar(self)
    value = one_element(self)
    if isinstance(value, complex):
        if value.imag:
            raise RuntimeError("value cannot be converted to type double without overflow")
        value = value.real
    return float(value)


def to_complex(self: Tensor) -> complex:
    """`complex(tensor)`."""
    warn_scalar(self)
    return complex(one_element(self))


def to_int(self: Tensor) -> int:
    """`int(tensor)`."""
    value = one_element(self)
    return int(value.real if isinstance(value, complex) else value)


def to_bool(self: Tensor) -> bool:
    """`bool(tensor)`.

    Raises:
        RuntimeError: there is not exactly one element.
    """
    if self._array.size != 1:
        many = "more than one value" if self._array.size else "no values"
        raise RuntimeError(f"Boolean value of Tensor with {many} is ambiguous")
    return bool(self._array.item())


def to_index(self: Tensor) -> int:
    """The tensor as an index into a list."""
    if self._array.size != 1 or self.dtype.category > dtypes.INTEGER:
        raise TypeError("only integer tensors of a single element can be converted to an index")
    return int(self._array.item())


def length(self: Tensor) -> int:
    """`len(tensor)`."""
    if not self._array.ndim:
        raise TypeError("len() of a 0-d tensor")
    return self._array.shape[0]


def iterate(self: Tensor) -> Any:
    """Iteration over the first dimension: the pieces of one `unbind`."""
    if not self._array.ndim:
        raise TypeError("iteration over a 0-d tensor")
    return iter(calls.unbind(self, 0))


def contains(self: Tensor, element: Any) -> bool:
    """Whether an element equals the given number or tensor."""
    if not isinstance(element, (Tensor, bool, int, float, complex)):
        raise RuntimeError(
            f"Tensor.__contains__ only supports Tensor or scalar, but you passed in a {type(element)}."
        )
    equal: Any = element == self
    return bool(equal.any().item())


def reverse(self: Tensor) -> Tensor:
    """`reversed(tensor)`: a tensor, not an iterator."""
    return self.flip(0) if self._array.ndim else self


def show(self: Tensor, *, tensor_contents: Any = None) -> str:
    """`repr(tensor)`."""
    return tensor_repr(self, duals.tangent_of(self) if modes.DUALS else None)


def formatted(self: Tensor, spec: str) -> str:
    """`format(tensor, spec)`: that of the number for 0-dim tensors."""
    if not self._array.ndim and type(self) is Tensor:
        return self._array.item().__format__(spec)
    return object.__format__(self, spec)


def same_hash(self: Tensor) -> int:
    """Tensors are hashed by identity."""
    return id(self)


# Copies -----------------------------------------------------------------------------------------------------


def deep_copy(self: Tensor, memo: dict) -> Tensor:
    """`copy.deepcopy`: a leaf with copied memory and `.grad`; storage shared inside one call stays shared.

    Raises:
        RuntimeError: the tensor is no leaf.
    """
    if id(self) in memo:
        return memo[id(self)]
    if not self.is_leaf:
        raise RuntimeError(DEEPCOPY)
    new = shell_for(self)
    root = root_of(self._array)
    copied_root = memo.get(id(root))
    if copied_root is None:
        copied_root = memo[id(root)] = root.copy(order="K")
        memo[id(memo)] = [*memo.get(id(memo), []), root]
    new._array, new._version_cell = window_like(self._array, root, copied_root), cell_of_copy()
    if isinstance(self._array, LazyArray):
        new._array = self._array.plain()
        new._version_cell = INFERENCE if modes.inference_enabled() else None  # nothing was written to it
    memo[id(self)] = new
    if self.requires_grad:
        new._set_requires_grad(True)
    if self._meta is not None and self._meta.grad is not None:
        new._meta = new._meta or AutogradMeta()
        new._meta.grad = copy.deepcopy(self._meta.grad, memo)
    new.__dict__.update(copy.deepcopy(self.__dict__, memo))
    if type(self) is not Tensor and isinstance(state := state_of(self), tuple):
        for name, value in state[1].items():
            setattr(new, name, copy.deepcopy(value, memo))
    return new


def shell_for(tensor: Tensor) -> Any:
    """A tensor of the same class, to be filled by a copy; it is the subclass that makes it.

    Raises:
        RuntimeError: the subclass makes one of another class.
    """
    if type(tensor) is Tensor:
        return wrap(tensor._array)
    new = tensor.new_empty(()) if tensor.data_ptr() else tensor.clone()
    if type(new) is not type(tensor):
        raise RuntimeError(DEEPCOPY_SUBCLASS if tensor.data_ptr() else DEEPCOPY_EMPTY)
    return new


def cell_of_copy() -> list:
    """The counter of a copy, whose filling counts as a write; in inference mode there is none."""
    return INFERENCE if modes.inference_enabled() else [1]


def window_like(array: np.ndarray, root: np.ndarray, copied_root: np.ndarray) -> np.ndarray:
    """The window in `copied_root` that lies where `array` lies in `root`."""
    if array is root:
        return copied_root
    offset = array.__array_interface__["data"][0] - root.__array_interface__["data"][0]
    memory = copied_root if copied_root.flags.c_contiguous else copied_root.ravel(order="K")
    return np.ndarray(array.shape, array.dtype, memory, offset, array.strides)


def warn_if_has_hooks(tensor: Any) -> None:
    """Warn about the hooks that pickling a tensor drops, but for those marked as unserializable."""
    for hook in (tensor._backward_hooks or {}).values():
        if not hasattr(hook, "__torch_unserializable__"):
            warnings.warn(
                f"backward hook {hook!r} on tensor will not be serialized.  If this is expected, you can "
                "decorate the function with @torch.utils.hooks.unserializable_hook to suppress this warning",
                stacklevel=3,
            )


def reduce(self: Tensor, protocol: Any) -> Any:
    """Pickling and `copy.copy`: a leaf without `.grad`; hooks stay behind, with a warning."""
    warn_if_has_hooks(self)
    array = self._array
    root = root_of(array)
    place = None
    if array is not root:
        offset = data_ptr(array) - data_ptr(root) if array.size else 0
        place = (array.shape, array.dtype, array.strides, offset, type(array))
    plain: tuple = (Memory(root), place, self.requires_grad)
    if type(self) is Tensor:
        return (rebuild, (*plain, dict(self.__dict__)))
    state = type(self).__getstate__(self) if has_own(type(self), "__getstate__") else state_of(self)
    return (rebuild_subclass, (type(self), plain, state))


def state_of(tensor: Any) -> Any:
    """The attributes of a tensor of a subclass: None, a dictionary, or one of those and one of its slots."""
    attributes = dict(tensor.__dict__) or None
    own = [name for name in _slotnames(type(tensor)) if name not in Tensor.__slots__]
    slots = {name: getattr(tensor, name) for name in own if hasattr(tensor, name)}
    return (attributes, slots) if slots else attributes


def has_own(kind: type, name: str) -> bool:
    """Whether a subclass of `Tensor` brings a method along that `Tensor` itself has not, or has another."""
    return next(base for base in kind.__mro__ if name in vars(base)) not in (Tensor, object)


def rebuild_subclass(kind: type, plain: Any, state: Any) -> Any:
    """The tensor of a subclass that `reduce` described: an alias of a leaf."""
    memory, place, requires_grad = plain
    new = rebuild(memory, place, requires_grad, {}).as_subclass(kind)
    if any("__setstate__" in vars(base) for base in kind.__mro__):
        new.__setstate__(state)
    else:
        for part in state if isinstance(state, tuple) else (state,):
            for name, value in (part or {}).items():
                setattr(new, name, value)
    return new


class Memory:
    """The memory of a tensor on its way: `copy.copy` shares it, a pickle copies it for each tensor anew."""

    __slots__ = ("root",)

    def __init__(self, root: np.ndarray):
        self.root = root

    def __reduce__(self) -> Any:
        return (Memory, (self.root.copy(order="K"),))


def rebuild(memory: Memory, place: tuple | None, requires_grad: bool, attributes: dict) -> Tensor:
    """The leaf that `reduce` described; `place`: shape, dtype, strides, offset in bytes, kind of array."""
    new = object.__new__(Tensor)
    array = memory.root
    if place is not None:
        shape, dtype, strides, offset, kind = place
        flat = array if array.flags.c_contiguous else array.ravel(order="K")
        array = np.ndarray(shape, dtype, flat, offset, strides).view(kind)
    dtypes.in_use(array.dtype)
    new._array = array
    new._version_cell, new._edge, new._meta = cell_of_copy(), None, None
    if requires_grad:
        new._set_requires_grad(True)
    new.__dict__.update(attributes)
    new._backward_hooks = OrderedDict()  # which PyTorch brings along empty
    return new


# Pickled by a name of the package, so that unpickling in a fresh process loads the functions.
# Named as in PyTorch, since NumPy reads the text of the refusal of `copy`.
array_protocol.__name__, array_protocol.__qualname__ = "__array__", "Tensor.__array__"
for rebuilds, name in ((rebuild, "_rebuild_tensor_v2"), (rebuild_subclass, "_rebuild_from_type_v2")):
    rebuilds.__module__, rebuilds.__qualname__, rebuilds.__name__ = "refgrad", name, name

for protocol, function in {
    "__array__": array_protocol,
    "__float__": to_float,
    "__complex__": to_complex,
    "__int__": to_int,
    "__bool__": to_bool,
    "__index__": to_index,
    "__len__": length,
    "__iter__": iterate,
    "__contains__": contains,
    "__reversed__": reverse,
    "__repr__": show,
    "__format__": formatted,
    "__hash__": same_hash,
    "__deepcopy__": deep_copy,
    "__reduce_ex__": reduce,
}.items():
    setattr(Tensor, protocol, function)
Tensor.__array_priority__ = 1000
