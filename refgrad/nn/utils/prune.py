"""`torch.nn.utils.prune`: parameters of which a mask leaves a part.

*Pruned*: a parameter `name` that became `name_orig`, beside a buffer `name_mask` and a plain attribute
`name`, their product, which a hook computes before each call. *Method*: what makes the mask. Another method
on a pruned parameter goes on from the mask that is there; a `PruningContainer` holds both.
"""

import numbers
from abc import ABC, abstractmethod
from collections.abc import Iterable
from importlib import import_module
from typing import Any

from refgrad.nn.utils import parameters_to_vector

torch: Any = import_module("refgrad")


class BasePruningMethod(ABC):
    """Base of methods, which are the hooks too: a subclass makes masks of one `PRUNING_TYPE`."""

    PRUNING_TYPE: str
    _tensor_name: str

    def __call__(self, module: Any, inputs: Any) -> None:
        setattr(module, self._tensor_name, self.apply_mask(module))

    @abstractmethod
    def compute_mask(self, t: Any, default_mask: Any) -> Any:
        """The mask for scores `t`, on top of the mask that is there."""

    def apply_mask(self, module: Any) -> Any:
        """The product of mask and parameter.

        Raises:
            AssertionError: the method prunes nothing.
        """
        if self._tensor_name is None:
            raise AssertionError(f"Module {module} has to be pruned")
        original = getattr(module, self._tensor_name + "_orig")
        return getattr(module, self._tensor_name + "_mask").to(dtype=original.dtype) * original

    @classmethod
    def apply(cls, module: Any, name: str, *args: Any, importance_scores: Any = None, **kwargs: Any) -> Any:
        """Prune a parameter of a module, by its own size or by the scores given; returns the method.

        Raises:
            AssertionError: the scores have another shape.
        """
        method = joined(module, name, cls(*args, **kwargs))
        original = getattr(module, name)
        scores = original if importance_scores is None else importance_scores
        if scores.shape != original.shape:
            raise AssertionError(
                f"importance_scores should have the same shape as parameter {name} of {module}, "
                f"got {scores.shape} vs {original.shape}"
            )
        is_first = not isinstance(method, PruningContainer)
        if is_first:
            module.register_parameter(name + "_orig", original)
            del module._parameters[name]
            mask = torch.ones_like(original)
        else:
            mask = getattr(module, name + "_mask").detach().clone(memory_format=torch.contiguous_format)
        try:
            module.register_buffer(name + "_mask", method.compute_mask(scores, default_mask=mask))
            setattr(module, name, method.apply_mask(module))
            module.register_forward_pre_hook(method)
        except Exception:
            if is_first:
                module.register_parameter(name, getattr(module, name + "_orig"))
                del module._parameters[name + "_orig"]
            raise
        return method

    def prune(self, t: Any, default_mask: Any = None, importance_scores: Any = None) -> Any:
        """What the method leaves of a tensor.

        Raises:
            AssertionError: the scores have another shape.
        """
        scores = t if importance_scores is None else importance_scores
        if scores.shape != t.shape:
            raise AssertionError(
                f"importance_scores should have the same shape as tensor t, got {scores.shape} vs {t.shape}"
            )
        mask = torch.ones_like(t) if default_mask is None else default_mask
        return t * self.compute_mask(scores, default_mask=mask)

    def remove(self, module: Any) -> None:
        """Make the pruned values the parameter's own.

        Raises:
            AssertionError: the method prunes nothing.
        """
        name = self._tensor_name
        if name is None:
            raise AssertionError(f"Module {module} has to be pruned before pruning can be removed")
        weight = self.apply_mask(module)
        if hasattr(module, name):
            delattr(module, name)
        original = module._parameters[name + "_orig"]
        original.data = weight.data
        del module._parameters[name + "_orig"]
        del module._buffers[name + "_mask"]
        setattr(module, name, original)


def joined(module: Any, name: str, method: Any) -> Any:
    """A method, joined with the one that prunes the parameter already.

    Raises:
        AssertionError: several do.
    """
    hooks = {
        key: hook
        for key, hook in module._forward_pre_hooks.items()
        if isinstance(hook, BasePruningMethod) and hook._tensor_name == name
    }
    if len(hooks) > 1:
        raise AssertionError(
            f"Avoid adding multiple pruning hooks to the same tensor {name} of module {module}. Use a "
            "PruningContainer."
        )
    method._tensor_name = name
    for key, before in hooks.items():
        del module._forward_pre_hooks[key]
        container = before if isinstance(before, PruningContainer) else PruningContainer(before)
        container.add_pruning_method(method)
        return container
    return method


class PruningContainer(BasePruningMethod):
    """Methods that prune one parameter, one after the other."""

    def __init__(self, *args: Any) -> None:
        self._pruning_methods: tuple = ()
        if len(args) == 1:
            self._tensor_name = args[0]._tensor_name
        for method in args:
            self.add_pruning_method(method)

    def add_pruning_method(self, method: Any) -> None:
        """Add a method at the end.

        Raises:
            TypeError: it is none.
            ValueError: it prunes another parameter.
        """
        if not isinstance(method, BasePruningMethod) and method is not None:
            raise TypeError(f"{type(method)} is not a BasePruningMethod subclass")
        if method is not None and self._tensor_name != method._tensor_name:
            raise ValueError(
                "Can only add pruning methods acting on the parameter named "
                f"'{self._tensor_name}' to PruningContainer {self}. Found '{method._tensor_name}'"
            )
        self._pruning_methods += (method,)

    def __len__(self) -> int:
        return len(self._pruning_methods)

    def __iter__(self) -> Any:
        return iter(self._pruning_methods)

    def __getitem__(self, idx: Any) -> Any:
        return self._pruning_methods[idx]

    def compute_mask(self, t: Any, default_mask: Any) -> Any:
        """The mask of the last method, computed where the mask that is there leaves something."""
        method = self._pruning_methods[-1]
        mask = default_mask.to(dtype=t.dtype)
        left = part_left(method, t, default_mask)
        mask[left] = method.compute_mask(t[left], default_mask=default_mask[left]).to(dtype=mask.dtype)
        return mask


def part_left(method: Any, t: Any, mask: Any) -> Any:
    """The index of the part of a tensor that a method may prune.

    Raises:
        AttributeError: a structured method has no dimension.
        IndexError: the tensor has not that dimension.
        ValueError: the method's type is none.
    """
    if method.PRUNING_TYPE == "unstructured":
        return mask == 1
    everything: list[Any] = [slice(None)] * t.dim()
    if method.PRUNING_TYPE == "global":
        return tuple(everything)
    if method.PRUNING_TYPE != "structured":
        raise ValueError(f"Unrecognized PRUNING_TYPE {method.PRUNING_TYPE}")
    if not hasattr(method, "dim"):
        raise AttributeError(
            'Pruning methods of PRUNING_TYPE "structured" need to have the attribute `dim` defined.'
        )
    dim = method.dim + t.dim() if method.dim < 0 else method.dim
    if dim < 0:
        raise IndexError(f"Index is out of bounds for tensor with dimensions {t.dim()}")
    everything[dim] = mask.sum(dim=[other for other in range(t.dim()) if other != dim]) != 0
    return tuple(everything)


# Methods ----------------------------------------------------------------------------------------------------


class Identity(BasePruningMethod):
    """Leaves everything: the names change as if something were pruned."""

    PRUNING_TYPE = "unstructured"

    def compute_mask(self, t: Any, default_mask: Any) -> Any:
        return default_mask

    @classmethod
    def apply(cls, module: Any, name: str) -> Any:  # type: ignore[override]
        return super().apply(module, name)


class Amount(BasePruningMethod):
    """A method that prunes so many elements or channels, or such a share."""

    def __init__(self, amount: Any) -> None:
        check_amount(amount)
        self.amount = amount

    def number_of(self, size: int) -> int:
        """How many of so many are pruned.

        Raises:
            ValueError: more than there are.
        """
        is_count = isinstance(self.amount, numbers.Integral)
        count: int = self.amount if is_count else round(self.amount * size)
        if count > size:
            raise ValueError(
                f"amount={count} should be smaller than the number of parameters to prune={size}"
            )
        return count


class RandomUnstructured(Amount):
    """Prunes elements drawn at random."""

    PRUNING_TYPE = "unstructured"

    def compute_mask(self, t: Any, default_mask: Any) -> Any:
        count = self.number_of(t.nelement())
        mask = default_mask.clone(memory_format=torch.contiguous_format)
        if count:
            mask.view(-1)[torch.topk(torch.rand_like(t).view(-1), k=count).indices] = 0
        return mask

    @classmethod
    def apply(cls, module: Any, name: str, amount: Any) -> Any:  # type: ignore[override]
        return super().apply(module, name, amount=amount)


class L1Unstructured(Amount):
    """Prunes the elements of the smallest size."""

    PRUNING_TYPE = "unstructured"

    def compute_mask(self, t: Any, default_mask: Any) -> Any:
        count = self.number_of(t.nelement())
        mask = default_mask.clone(memory_format=torch.contiguous_format)
        if count:
            mask.view(-1)[torch.topk(torch.abs(t).view(-1), k=count, largest=False).indices] = 0
        return mask

    @classmethod
    def apply(cls, module: Any, name: str, amount: Any, importance_scores: Any = None) -> Any:  # type: ignore[override]
        return super().apply(module, name, amount=amount, importance_scores=importance_scores)


class Structured(Amount):
    """A method that prunes whole channels along a dimension."""

    PRUNING_TYPE = "structured"

    def __init__(self, amount: Any, dim: int = -1) -> None:
        super().__init__(amount)
        self.dim = dim

    def channels_of(self, t: Any) -> int:
        """How many channels there are.

        Raises:
            ValueError: the tensor has not several dimensions.
            IndexError: it has not this one.
        """
        if t.dim() <= 1:
            raise ValueError(
                "Structured pruning can only be applied to multidimensional tensors. Found tensor of shape "
                f"{t.shape} with {t.dim()} dims"
            )
        if self.dim >= t.dim():
            raise IndexError(f"Invalid index {self.dim} for tensor of size {t.shape}")
        return int(t.shape[self.dim])

    def mask_of(self, t: Any, kept: Any, default_mask: Any) -> Any:
        """The mask that leaves these channels."""
        mask = torch.zeros_like(t)
        index: list[Any] = [slice(None)] * t.dim()
        index[self.dim] = kept
        mask[tuple(index)] = 1
        mask *= default_mask.to(dtype=mask.dtype)
        return mask


class RandomStructured(Structured):
    """Prunes channels drawn at random."""

    def compute_mask(self, t: Any, default_mask: Any) -> Any:
        channels = self.channels_of(t)
        count = self.number_of(channels)
        if not count:
            return default_mask
        drawn = torch.rand(channels)
        return self.mask_of(t, drawn > torch.kthvalue(drawn, k=count).values, default_mask)

    @classmethod
    def apply(cls, module: Any, name: str, amount: Any, dim: int = -1) -> Any:  # type: ignore[override]
        return super().apply(module, name, amount=amount, dim=dim)


class LnStructured(Structured):
    """Prunes the channels of the smallest norm."""

    def __init__(self, amount: Any, n: Any, dim: int = -1) -> None:
        super().__init__(amount, dim)
        self.n = n

    def compute_mask(self, t: Any, default_mask: Any) -> Any:
        channels = self.channels_of(t)
        count = self.number_of(channels)
        dims = list(range(t.dim()))
        dims.remove(dims[self.dim])
        kept = torch.topk(torch.norm(t, p=self.n, dim=dims), k=channels - count, largest=True).indices
        return self.mask_of(t, kept, default_mask) if count else default_mask

    @classmethod
    def apply(  # type: ignore[override]
        cls, module: Any, name: str, amount: Any, n: Any, dim: int, importance_scores: Any = None
    ) -> Any:
        return super().apply(module, name, amount=amount, n=n, dim=dim, importance_scores=importance_scores)


class CustomFromMask(BasePruningMethod):
    """Prunes what a given mask says."""

    PRUNING_TYPE = "global"

    def __init__(self, mask: Any) -> None:
        self.mask = mask

    def compute_mask(self, t: Any, default_mask: Any) -> Any:
        if default_mask.shape != self.mask.shape:
            raise AssertionError(
                f"default_mask shape {default_mask.shape} must match self.mask shape {self.mask.shape}"
            )
        return default_mask * self.mask.to(dtype=default_mask.dtype)

    @classmethod
    def apply(cls, module: Any, name: str, mask: Any) -> Any:  # type: ignore[override]
        return super().apply(module, name, mask=mask)


def check_amount(amount: Any) -> None:
    """Refuse what is no share and no number of elements.

    Raises:
        TypeError: it is no number.
        ValueError: it is out of range.
    """
    if not isinstance(amount, numbers.Real):
        raise TypeError(f"Invalid type for amount: {amount}. Must be int or float.")
    if amount < 0 or not isinstance(amount, numbers.Integral) and amount > 1:  # type: ignore[operator]
        raise ValueError(
            f"amount={amount} should either be a float in the range [0, 1] or a non-negative integer"
        )


# Functions --------------------------------------------------------------------------------------------------


def identity(module: Any, name: str) -> Any:
    """Change the names of a parameter as pruning does, and prune nothing; returns the module."""
    Identity.apply(module, name)
    return module


def random_unstructured(module: Any, name: str, amount: Any) -> Any:
    """Prune elements drawn at random; returns the module."""
    RandomUnstructured.apply(module, name, amount)
    return module


def l1_unstructured(module: Any, name: str, amount: Any, importance_scores: Any = None) -> Any:
    """Prune the elements of the smallest size, or score; returns the module."""
    L1Unstructured.apply(module, name, amount=amount, importance_scores=importance_scores)
    return module


def random_structured(module: Any, name: str, amount: Any, dim: int) -> Any:
    """Prune channels drawn at random; returns the module."""
    RandomStructured.apply(module, name, amount, dim)
    return module


def ln_structured(
    module: Any, name: str, amount: Any, n: Any, dim: int, importance_scores: Any = None
) -> Any:
    """Prune the channels of the smallest norm; returns the module."""
    LnStructured.apply(module, name, amount, n, dim, importance_scores=importance_scores)
    return module


def custom_from_mask(module: Any, name: str, mask: Any) -> Any:
    """Prune what a mask says; returns the module."""
    CustomFromMask.apply(module, name, mask)
    return module


def global_unstructured(
    parameters: Any, pruning_method: Any, importance_scores: Any = None, **kwargs: Any
) -> None:
    """Prune parameters of several modules as if they were one; `parameters` are pairs of module and name.

    Raises:
        TypeError: these are no list, the scores no dict, or the method is not unstructured.
    """
    if not isinstance(parameters, Iterable):
        raise TypeError("global_unstructured(): parameters is not an Iterable")
    scores = {} if importance_scores is None else importance_scores
    if not isinstance(scores, dict):
        raise TypeError("global_unstructured(): importance_scores must be of type dict")
    flat = parameters_to_vector([scores.get((m, name), getattr(m, name)) for m, name in parameters])
    masks = [getattr(m, name + "_mask", torch.ones_like(getattr(m, name))) for m, name in parameters]
    container = PruningContainer()
    method = pruning_method(**kwargs)
    container._tensor_name = method._tensor_name = "temp"
    if method.PRUNING_TYPE != "unstructured":
        raise TypeError(
            'Only "unstructured" PRUNING_TYPE supported for the `pruning_method`. Found method '
            f"{pruning_method} of type {method.PRUNING_TYPE}"
        )
    container.add_pruning_method(method)
    mask = container.compute_mask(flat, parameters_to_vector(masks))
    start = 0
    for module, name in parameters:
        parameter = getattr(module, name)
        end = start + parameter.numel()
        custom_from_mask(module, name, mask=mask[start:end].view_as(parameter))
        start = end


def remove(module: Any, name: str) -> Any:
    """Make the pruned values the parameter's own, and take the hook away; returns the module.

    Raises:
        ValueError: the parameter is not pruned.
    """
    for key, hook in module._forward_pre_hooks.items():
        if isinstance(hook, BasePruningMethod) and hook._tensor_name == name:
            hook.remove(module)
            del module._forward_pre_hooks[key]
            return module
    raise ValueError(f"Parameter '{name}' of module {module} has to be pruned before pruning can be removed")


def is_pruned(module: Any) -> bool:
    """Whether a parameter of this module, or of one inside it, is pruned."""
    return any(
        isinstance(hook, BasePruningMethod)
        for each in module.modules()
        for hook in each._forward_pre_hooks.values()
    )
