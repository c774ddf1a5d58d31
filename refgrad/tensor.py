"""`Tensor`: a window on memory, a version counter, and the edge along which its gradient flows.

Ops are attached to it by the layers above; here stand its data and its autograd metadata. `AutogradMeta`
holds what most tensors do not have (a `.grad`, hooks, a base), so that an intermediate result costs five
stores.
"""

import warnings
import weakref
from collections import OrderedDict
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from refgrad import dtypes, errors, modes
from refgrad.graph import INPUT_METADATA, PENDING, Node, node_hooks, split_edge
from refgrad.handles import RemovableHandle, add_hook
from refgrad.layout import Size, layout_of, strides_of
from refgrad.metaclass import TensorMeta
from refgrad.storage import INFERENCE, UntypedStorage, data_ptr, is_inference, version_of
from refgrad.types import CPU, Device, TensorLayout, strided

NOT_LEAF_GRAD = (
    "The .grad attribute of a Tensor that is not a leaf Tensor is being accessed. Its .grad attribute "
    "won't be populated during autograd.backward(). If you indeed want the .grad field to be populated "
    "for a non-leaf Tensor, use .retain_grad() on the non-leaf Tensor. If you access the non-leaf Tensor "
    "by mistake, make sure you access the leaf Tensor instead. See github.com/pytorch/pytorch/pull/30531 "
    "for more information."
)
GRAD_DTYPE = (
    "The gradient must match the tensor's grad_dtype (defaults to the tensor's dtype). You can set the "
    "tensor's grad_dtype attribute with a specific dtype, or None to allow any dtype. Set grad_dtype "
    "with caution. Diverging the dtypes of a tensor and its gradient may break downstream systems that "
    "assume they match."
)
SAME_DTYPE = object()  # the default of grad_dtype: whatever the tensor has


class InputMetadata:
    """What a node knows of one output of its forward."""

    __slots__ = ("device", "dtype", "is_cpp_nested_tensor", "is_nested_tensor", "is_tensor_subclass", "shape")

    def __init__(self, shape: tuple = (), dtype: np.dtype = dtypes.float32.numpy):
        self.shape = list(shape)
        self.dtype = dtypes.OF_NUMPY[dtype]
        self.device = CPU
        self.is_nested_tensor = self.is_cpp_nested_tensor = self.is_tensor_subclass = False


InputMetadata.__name__ = InputMetadata.__qualname__ = "_InputMetadata"
InputMetadata.__module__ = "torch._C._autograd"
INPUT_METADATA.append(InputMetadata)


class AutogradMeta:
    """What a tensor needs beyond memory, counter and edge; class attributes are the defaults."""

    requires_grad = False  # the tensor's own flag
    grad: "Tensor | None" = None
    grad_dtype: object = SAME_DTYPE
    accumulator: "weakref.ref | None" = None
    backward_hooks: "OrderedDict | None" = None
    post_accumulate_hooks: "OrderedDict | None" = None
    retains_grad = False
    # of views only
    base: Any = None  # the Tensor that it shows
    edge: Any = None  # the view's own place in the graph
    creation: Any = None  # how it was made, see views.py
    seen_version = 0  # the counter when `edge` was made
    replay: "Callable | None" = None  # makes the view from its base anew, where as_strided cannot
    # in forward mode only, see duals.py
    tangent: "Tensor | None" = None
    whole: Any = None  # of whose tangent a view's is a view, where that is not the base


class Tensor(metaclass=TensorMeta):
    """A multi-dimensional array that autograd can follow, with PyTorch's interface."""

    __slots__ = ("_array", "_version_cell", "_edge", "_meta", "__dict__", "__weakref__")
    IS_ORDINARY = True  # told from subclasses before the class has its name

    if TYPE_CHECKING:  # slots, and what operators.py and namespaces.py attach
        _array: np.ndarray
        _version_cell: Any
        _edge: Any
        _meta: Any  # AutogradMeta, or None
        ATTACHED = cast(Any, None)
        __add__ = __radd__ = __iadd__ = __sub__ = __rsub__ = __isub__ = ATTACHED
        __mul__ = __rmul__ = __imul__ = ATTACHED
        __truediv__ = __rtruediv__ = __itruediv__ = __floordiv__ = __rfloordiv__ = __ifloordiv__ = ATTACHED
        __mod__ = __rmod__ = __imod__ = __pow__ = __rpow__ = __ipow__ = __matmul__ = __rmatmul__ = ATTACHED
        __and__ = __rand__ = __iand__ = __or__ = __ror__ = __ior__ = __xor__ = __rxor__ = __ixor__ = ATTACHED
        __lt__ = __le__ = __gt__ = __ge__ = __eq__ = __ne__ = __neg__ = __abs__ = __invert__ = ATTACHED
        __getitem__ = __setitem__ = __len__ = __iter__ = __bool__ = __int__ = __float__ = ATTACHED
        __complex__ = __index__ = __contains__ = __array__ = ATTACHED

        def __getattr__(self, name: str) -> Any: ...

    # Data ---------------------------------------------------------------------------------------------------

    @property
    def dtype(self) -> dtypes.DType:
        """The element type."""
        return dtypes.OF_NUMPY[self._array.dtype]

    @property
    def shape(self) -> Size:
        """The sizes of the dimensions."""
        return Size(self._array.shape)

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return self._array.ndim

    @property
    def layout(self) -> TensorLayout:
        """Always strided here."""
        return strided

    @property
    def device(self) -> Device:
        """Always the CPU."""
        return CPU

    @property
    def itemsize(self) -> int:
        """Bytes per element."""
        return self._array.itemsize

    @property
    def nbytes(self) -> int:
        """Bytes of all elements."""
        return self._array.nbytes

    def dim(self) -> int:
        """The number of dimensions."""
        return self._array.ndim

    ndimension = dim

    def numel(self) -> int:
        """The number of elements."""
        return self._array.size

    nelement = numel

    def size(self, dim: int | None = None) -> Any:
        """All sizes, or one."""
        if dim is None:
            return Size(self._array.shape)
        return self._array.shape[layout_of(self._array).wrap_dim(dim)]

    def stride(self, dim: int | None = None) -> Any:
        """Steps between elements, counted in elements; all, or that of one dimension."""
        strides = strides_of(self._array)
        return strides if dim is None else strides[layout_of(self._array).wrap_dim(dim)]

    def storage_offset(self) -> int:
        """Where the first element lies in the storage, counted in elements."""
        array = self._array
        return 0 if array.base is None else layout_of(array).offset

    def data_ptr(self) -> int:
        """The address of the first element."""
        return data_ptr(self._array)

    def untyped_storage(self) -> UntypedStorage:
        """The memory that this tensor shares with its views."""
        return UntypedStorage(self._array)

    def element_size(self) -> int:
        """Bytes per element."""
        return self._array.itemsize

    def is_floating_point(self) -> bool:
        """Whether the elements are real floating-point numbers."""
        return self.dtype.is_floating_point

    def is_complex(self) -> bool:
        """Whether the elements are complex numbers."""
        return self.dtype.is_complex

    def is_inference(self) -> bool:
        """Whether it was made in inference mode."""
        return is_inference(self)

    @property
    def is_cpu(self) -> bool:
        """Always True here."""
        return True

    @property
    def _version(self) -> int:
        if self._version_cell is INFERENCE:
            raise RuntimeError("Inference tensors do not track version counter.")
        return version_of(self)

    # Place in the graph -------------------------------------------------------------------------------------

    @property
    def requires_grad(self) -> bool:
        """Whether gradients flow into this tensor: own flag, own node, or a base that requires grad."""
        if self._edge is not PENDING:
            return self._edge is not None
        meta = self._meta
        if meta.requires_grad or meta.edge is not None:
            return True
        return meta.base is not None and meta.base.requires_grad

    @requires_grad.setter
    def requires_grad(self, value: bool) -> None:
        if not isinstance(value, bool):
            raise RuntimeError("requires_grad must be a bool")
        if not self.is_leaf:
            if not value:
                raise RuntimeError(errors.NON_LEAF_FLAG)
            raise RuntimeError("you can only change requires_grad flags of leaf variables.")
        if value and not self._can_require_grad():
            raise RuntimeError("only Tensors of floating point and complex dtype can require gradients")
        self._set_requires_grad(value)

    @requires_grad.deleter
    def requires_grad(self) -> None:
        raise RuntimeError("requires_grad must be a bool")

    def _can_require_grad(self) -> bool:
        return self.dtype.category >= dtypes.FLOATING

    def _set_requires_grad(self, value: bool) -> None:
        """Set the own flag, unchecked but for inference tensors."""
        if value and is_inference(self) and not modes.inference_enabled():
            raise RuntimeError(errors.INFERENCE_FLAG)
        meta = self._meta
        if meta is None:
            if not value:
                return
            meta = self._meta = AutogradMeta()
        meta.requires_grad = value
        if meta.base is None:
            self._edge = PENDING if value else None

    @property
    def is_leaf(self) -> bool:
        """Whether no node made it."""
        return self.grad_fn is None

    @property
    def output_nr(self) -> int:
        """Which output of its node it is."""
        edge = self._edge
        if edge is PENDING:
            edge = self._meta.edge
        return 0 if edge is None else split_edge(edge)[1]

    @property
    def grad_fn(self) -> Node | None:
        """The node that made it; that of a stale view is made anew."""
        edge = self._edge
        if edge is PENDING:
            if self._meta.base is None:
                return None
            edge = REFRESH[0](self)
        return None if edge is None else split_edge(edge)[0]

    @property
    def volatile(self) -> bool:
        """A flag of long ago, always False."""
        warnings.warn("volatile was removed (Variable.volatile is always False)", UserWarning, stacklevel=2)
        return False

    @volatile.setter
    def volatile(self, value: object = None) -> None:
        warnings.warn(
            "volatile was removed and now has no effect. Use `with torch.no_grad():` instead.",
            UserWarning,
            stacklevel=2,
        )

    def _is_view(self) -> bool:
        return self._meta is not None and self._meta.base is not None

    @property
    def _base(self) -> "Tensor | None":
        return None if self._meta is None else self._meta.base

    # Gradient -----------------------------------------------------------------------------------------------

    @property
    def grad(self) -> "Tensor | None":
        """What backward accumulated here; None before the first time."""
        meta = self._meta
        grad = None if meta is None else meta.grad
        if (
            grad is None
            and self._edge is not None
            and not (meta is not None and meta.retains_grad)
            and self.requires_grad
            and not self.is_leaf
        ):
            warnings.warn(NOT_LEAF_GRAD, UserWarning, stacklevel=2)
        return grad

    @grad.setter
    def grad(self, value: object) -> None:
        if value is None:
            if self._meta is not None:
                self._meta.grad = None
            return
        if not isinstance(value, Tensor):
            raise TypeError(
                f"assigned grad expected to be a Tensor or None but got grad of type {type_name(value)}"
            )
        if value is self:
            raise RuntimeError("can't assign Variable as its own grad")
        expected = (
            self.dtype if self._meta is None or self._meta.grad_dtype is SAME_DTYPE else self._meta.grad_dtype
        )
        if expected is not None and value.dtype is not expected:
            raise RuntimeError(
                f"attempting to assign a gradient with dtype '{value.dtype.cpp_name}' to a tensor with "
                f"grad_dtype '{expected.scalar_type}'. {GRAD_DTYPE}"
            )
        if value._array.shape != self._array.shape:
            raise RuntimeError(
                f"attempting to assign a gradient of size '{list(value._array.shape)}' to a tensor of "
                f"size '{list(self._array.shape)}'. Please ensure that the gradient and the tensor are "
                "the same size"
            )
        meta_of(self).grad = value

    @grad.deleter
    def grad(self) -> None:
        self.grad = None

    @property
    def grad_dtype(self) -> object:
        """The dtype that gradients are cast to before they accumulate; None accepts any."""
        if not self.is_leaf:
            raise RuntimeError("grad_dtype can only be accessed on leaf tensors.")
        own = SAME_DTYPE if self._meta is None else self._meta.grad_dtype
        return self.dtype if own is SAME_DTYPE else own

    @grad_dtype.setter
    def grad_dtype(self, value: object) -> None:
        if value is not None and not isinstance(value, dtypes.DType):
            raise RuntimeError(f"grad_dtype must be a torch.dtype or None, but got {type_name(value)}")
        if not self.is_leaf:
            raise RuntimeError("grad_dtype can only be set on leaf tensors.")
        held = None if self._meta is None else self._meta.grad
        if held is not None and value is not None and held.dtype is not value:
            raise RuntimeError(
                f"Cannot set grad_dtype to '{value.scalar_type}' because there is already a gradient with "
                f"dtype '{held.dtype.cpp_name}'. Please clear the gradient (.grad = None) before changing "
                "grad_dtype, or ensure the new grad_dtype matches the existing gradient's dtype."
            )
        meta_of(self).grad_dtype = value

    def retain_grad(self) -> None:
        """Keep the gradient of this non-leaf in `.grad` too.

        Raises:
            RuntimeError: the tensor does not require grad, or a transform is running.
        """
        if not self.requires_grad:
            raise RuntimeError("can't retain_grad on Tensor that has requires_grad=False")
        if modes.state.transforms:
            raise RuntimeError(errors.IN_TRANSFORM.format("retain_grad", ""))
        node = self.grad_fn
        if node is None or self._meta is not None and self._meta.retains_grad:
            return
        meta_of(self).retains_grad = True
        node_hooks(node).retained[self.output_nr] = weakref.ref(self)

    @property
    def retains_grad(self) -> bool:
        """Whether `retain_grad` was called on this non-leaf."""
        return self._meta is not None and self._meta.retains_grad

    def register_hook(self, hook: Callable) -> RemovableHandle:
        """Call `hook(grad)` with each gradient of this tensor; what it returns, unless None, replaces the
        gradient.

        Raises:
            RuntimeError: the tensor does not require grad.
        """
        if not self.requires_grad:
            raise RuntimeError("cannot register a hook on a tensor that doesn't require gradient")
        node = self.grad_fn
        meta = meta_of(self)
        if meta.backward_hooks is None:
            meta.backward_hooks = OrderedDict()
            if node is not None:
                node_hooks(node).tensor.append((self.output_nr, meta.backward_hooks))
        return add_hook(meta.backward_hooks, hook)

    def register_post_accumulate_grad_hook(self, hook: Callable) -> RemovableHandle:
        """Call `hook(tensor)` after a gradient was accumulated into this leaf.

        Raises:
            RuntimeError: the tensor does not require grad or is no leaf.
        """
        if not self.requires_grad:
            raise RuntimeError("cannot register a hook on a tensor that doesn't require gradient")
        if self.grad_fn is not None:
            raise RuntimeError("post accumulate grad hooks cannot be registered on non-leaf tensors")
        meta = meta_of(self)
        if meta.post_accumulate_hooks is None:
            meta.post_accumulate_hooks = OrderedDict()
        return add_hook(meta.post_accumulate_hooks, hook)

    @property
    def _backward_hooks(self) -> OrderedDict | None:
        return None if self._meta is None else self._meta.backward_hooks

    @_backward_hooks.setter
    def _backward_hooks(self, hooks: Any) -> None:
        meta_of(self).backward_hooks = hooks

    @_backward_hooks.deleter
    def _backward_hooks(self) -> None:
        raise RuntimeError("Deletion of _backwards_hooks not allowed!")

    @property
    def _post_accumulate_grad_hooks(self) -> OrderedDict | None:
        return None if self._meta is None else self._meta.post_accumulate_hooks


def refuse_writes() -> None:
    """Give each property that users cannot set or delete PyTorch's refusals, once all are attached."""
    for name, value in vars(Tensor).copy().items():
        if isinstance(value, property) and value.fset is None:
            setattr(Tensor, name, value.setter(refusal(name)).deleter(refusal(name)))


def refusal(name: str) -> Callable:
    """The setter and deleter of an attribute that users can only read."""

    def refuse(tensor: Tensor, value: object = None) -> None:
        raise AttributeError(f"attribute '{name}' of 'torch._C.TensorBase' objects is not writable")

    return refuse


Tensor.__module__ = "torch"  # shown by `type`

REMEMBER: list[Callable] = []  # call.py puts the function here that notes where a node was made
REFRESH: list[Callable] = []  # views.py puts the function here that brings a view's edge up to date


def type_name(value: object) -> str:
    """The name of a value's type as C++ messages give it."""
    kind = type(value)
    return (
        kind.__name__
        if kind is Tensor or kind.__module__ == "builtins"
        else f"{kind.__module__}.{kind.__name__}"
    )


def meta_of(tensor: Tensor) -> AutogradMeta:
    """The tensor's metadata, made on first use."""
    meta = tensor._meta
    if meta is None:
        meta = tensor._meta = AutogradMeta()
    return meta


def wrap(array: np.ndarray) -> Tensor:
    """A plain tensor over this memory, outside the graph."""
    tensor = object.__new__(Tensor)
    tensor._array = array
    tensor._version_cell = INFERENCE if modes.RARE and modes.state.rare.inference else None
    tensor._edge = None
    tensor._meta = None
    return tensor


def is_wrapper(value: Any) -> bool:
    """Whether a value is a tensor of a transform, see func/wrappers.py: it has no memory of its own."""
    return value.__class__ is not Tensor and getattr(value.__class__, "IS_WRAPPER", False)


def is_batched(value: Any) -> bool:
    """Whether a value is a batched tensor of `vmap`, or wraps one."""
    return is_wrapper(value) and value.is_batch


def alias(tensor: Tensor, cell: list | None = None, kind: type[Tensor] = Tensor) -> Tensor:
    """A tensor over the same memory, outside the graph and no view; its counter is shared when given.

    Of a wrapper, another of the same.
    """
    if tensor.__class__ is not Tensor and is_wrapper(tensor):
        return tensor.again()
    new = object.__new__(kind)
    new._array = tensor._array
    new._version_cell = cell
    new._edge = None
    new._meta = None
    return new


def instance(tensor: Tensor, kind: type) -> Any:
    """What a new tensor holds, as a tensor of a subclass."""
    new: Any = object.__new__(kind)
    new._array, new._version_cell = tensor._array, tensor._version_cell
    new._edge, new._meta = tensor._edge, tensor._meta
    return new
