"""Modules and parameters in sequences and under keys."""

import operator
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import Any

from refgrad.nn.modules.module import Module, indented
from refgrad.nn.parameter import Parameter, typename
from refgrad.tensor import Tensor


def wrapped_index(container: Any, index: Any) -> int:
    """An index counted from the front.

    Raises:
        IndexError: it is out of range.
    """
    index, size = operator.index(index), len(container)
    if not -size <= index < size:
        raise IndexError(f"index {index} is out of range")
    return index % size


class _Numbered(Module):
    """Modules in a row, under the names "0", "1" and so on."""

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[Module]:
        return iter(self._modules.values())

    def _key(self, index: Any) -> str:
        return list(self._modules)[wrapped_index(self, index)]

    def __setitem__(self, idx: int, module: Module) -> None:
        setattr(self, self._key(idx), module)

    def __delitem__(self, idx: Any) -> None:
        for key in list(self._modules)[idx] if isinstance(idx, slice) else [self._key(idx)]:
            delattr(self, key)
        self._modules = OrderedDict((str(i), module) for i, module in enumerate(self._modules.values()))

    def append(self, module: Module) -> Any:
        """Add a module at the end."""
        self.add_module(str(len(self)), module)
        return self

    def pop(self, key: Any) -> Any:
        """Take a module, or a slice of modules, out."""
        taken = self[key]  # type: ignore[index]
        del self[key]
        return taken

    def _move_in(self, index: int, module: Module) -> None:
        for place in range(len(self._modules), index, -1):
            self._modules[str(place)] = self._modules[str(place - 1)]
        self._modules[str(index)] = module


class Sequential(_Numbered):
    """Modules called one after the other, given in order or in an `OrderedDict`."""

    def __init__(self, *args: Any) -> None:
        super().__init__()
        named = args[0].items() if len(args) == 1 and isinstance(args[0], OrderedDict) else enumerate(args)
        for name, module in named:
            self.add_module(name if isinstance(name, str) else str(name), module)

    def __getitem__(self, idx: Any) -> Any:
        if isinstance(idx, slice):
            return type(self)(OrderedDict(list(self._modules.items())[idx]))
        return self._modules[self._key(idx)]

    def __add__(self, other: Any) -> "Sequential":
        check_sequential(other)
        result = Sequential()
        for module in chain(self, other):
            result.append(module)
        return result

    def __iadd__(self, other: Any) -> "Sequential":
        check_sequential(other)
        return self.extend(other)

    def __mul__(self, other: int) -> "Sequential":
        check_factor(self, other)
        result = Sequential()
        for module in list(self) * other:
            result.append(module)
        return result

    __rmul__ = __mul__

    def __imul__(self, other: int) -> "Sequential":
        check_factor(self, other)
        return self.extend(list(self) * (other - 1))

    def extend(self, sequential: Iterable[Module]) -> "Sequential":
        """Add modules at the end."""
        for module in sequential:
            self.append(module)
        return self

    def insert(self, index: int, module: Module) -> "Sequential":
        """Put a module before the one at `index`."""
        if not isinstance(module, Module):
            raise AssertionError(f"module should be of type: {Module}")
        count = len(self._modules)
        if not -count <= index <= count:
            raise IndexError(f"Index out of range: {index}")
        self._move_in(index + count if index < 0 else index, module)
        return self

    def forward(self, input: Any) -> Any:
        for module in self:
            input = module(input)
        return input


def check_sequential(other: Any) -> None:
    """Refuse what cannot be added to a `Sequential`.

    Raises:
        ValueError: it is no `Sequential`.
    """
    if not isinstance(other, Sequential):
        raise ValueError(
            f"add operator supports only objects of Sequential class, but {type(other)} is given."
        )


def check_factor(container: Any, factor: Any) -> None:
    """Refuse what a `Sequential` cannot be multiplied by.

    Raises:
        TypeError: it is no int.
        ValueError: it is not positive.
    """
    if not isinstance(factor, int):
        raise TypeError(f"unsupported operand type(s) for *: {type(container)} and {type(factor)}")
    if factor <= 0:
        raise ValueError(f"Non-positive multiplication factor {factor} for {type(container)}")


class ModuleList(_Numbered):
    """Modules in a list; it has no `forward`."""

    def __init__(self, modules: Iterable[Module] | None = None) -> None:
        super().__init__()
        if modules is not None:
            self.extend(modules)

    def __getitem__(self, idx: Any) -> Any:
        if isinstance(idx, slice):
            return type(self)(list(self._modules.values())[idx])
        return self._modules[self._key(idx)]

    def __iadd__(self, modules: Iterable[Module]) -> "ModuleList":
        return self.extend(modules)

    def __add__(self, other: Iterable[Module]) -> "ModuleList":
        return ModuleList(chain(self, other))

    def extend(self, modules: Iterable[Module]) -> "ModuleList":
        """Add modules at the end.

        Raises:
            TypeError: `modules` cannot be iterated.
        """
        if not isinstance(modules, Iterable):
            raise TypeError(
                f"ModuleList.extend should be called with an iterable, but got {type(modules).__name__}"
            )
        offset = len(self)
        for i, module in enumerate(modules):
            self.add_module(str(offset + i), module)
        return self

    def insert(self, index: int, module: Module) -> None:
        """Put a module before the one at `index`."""
        self._move_in(index, module)

    def __repr__(self) -> str:
        runs: list[list] = []  # first place, last place, text
        for i, text in enumerate(map(repr, self)):
            if runs and runs[-1][2] == text:
                runs[-1][1] = i
            else:
                runs.append([i, i, text])
        if not runs:
            return self._get_name() + "()"
        lines = []
        for first, last, text in runs:
            where = f"({first}): " if first == last else f"({first}-{last}): {last - first + 1} x "
            lines.append(indented(where + text))
        return f"{self._get_name()}(\n  " + "\n  ".join(lines) + "\n)"


class ModuleDict(Module):
    """Modules under keys; it has no `forward`."""

    def __init__(self, modules: Any = None) -> None:
        super().__init__()
        if modules is not None:
            self.update(modules)

    def __getitem__(self, key: str) -> Any:
        return self._modules[key]

    def __setitem__(self, key: str, module: Module) -> None:
        self.add_module(key, module)

    def __delitem__(self, key: str) -> None:
        del self._modules[key]

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[str]:
        return iter(self._modules)

    def __contains__(self, key: str) -> bool:
        return key in self._modules

    def clear(self) -> None:
        """Remove all modules."""
        self._modules.clear()

    def pop(self, key: str) -> Any:
        """Take a module out."""
        return self._modules.pop(key)

    def keys(self) -> Any:
        """The keys."""
        return self._modules.keys()

    def items(self) -> Any:
        """Keys and modules."""
        return self._modules.items()

    def values(self) -> Any:
        """The modules."""
        return self._modules.values()

    def update(self, modules: Any) -> None:
        """Add modules from a mapping or from pairs.

        Raises:
            TypeError: it is neither.
            ValueError: a pair has another length than 2.
        """
        for key, module in pairs_of(modules, "ModuleDict"):
            self[key] = module


def pairs_of(entries: Any, owner: str) -> list:
    """Keys and values of a mapping, a container, or pairs."""
    if not isinstance(entries, Iterable):
        raise TypeError(
            f"{owner.replace('Parameter', 'Parameters')}.update should be called with an iterable of "
            f"key/value pairs, but got {type(entries).__name__}"
        )
    if isinstance(entries, (Mapping, ModuleDict, ParameterDict)):
        return list(entries.items())
    found = []
    for place, pair in enumerate(entries):
        if not isinstance(pair, Iterable):
            raise TypeError(
                f"{owner} update sequence element #{place} should be Iterable; is{type(pair).__name__}"
            )
        values = list(pair)
        if len(values) != 2:
            raise ValueError(
                f"{owner} update sequence element #{place} has length {len(values)}; 2 is required"
            )
        found.append((values[0], values[1]))
    return found


def as_parameter(value: Any) -> Any:
    """A tensor as a parameter, anything else as it is."""
    return Parameter(value) if isinstance(value, Tensor) and not isinstance(value, Parameter) else value


def described(value: Any, kind_of: Any) -> str:
    """How containers of parameters show an element; `kind_of` names the type of a tensor."""
    if not isinstance(value, Tensor):
        return f"Object of type: {type(value).__name__}"
    kind = "Parameter" if isinstance(value, Parameter) else "Tensor"
    return f"{kind} containing: [{kind_of(value)} of size {'x'.join(map(str, value.shape))}]"


def dtype_of(tensor: Tensor) -> Any:
    """The dtype of a tensor."""
    return tensor.dtype


class ParameterList(Module):
    """Parameters in a list; tensors become parameters, other objects stay."""

    def __init__(self, values: Iterable[Any] | None = None) -> None:
        super().__init__()
        self._size = 0
        if values is not None:
            self.extend(values)

    def __getitem__(self, idx: Any) -> Any:
        if isinstance(idx, slice):
            return type(self)([self[i] for i in range(*idx.indices(len(self)))])
        return getattr(self, str(wrapped_index(self, idx)))

    def __setitem__(self, idx: int, param: Any) -> None:
        setattr(self, str(wrapped_index(self, idx)), as_parameter(param))

    def __len__(self) -> int:
        return self._size

    def __iter__(self) -> Iterator[Any]:
        return iter([self[i] for i in range(len(self))])

    def __iadd__(self, parameters: Iterable[Any]) -> "ParameterList":
        return self.extend(parameters)

    def append(self, value: Any) -> "ParameterList":
        """Add a value at the end."""
        self._size += 1
        self[self._size - 1] = value
        return self

    def extend(self, values: Iterable[Any]) -> "ParameterList":
        """Add values at the end.

        Raises:
            TypeError: `values` cannot be iterated, or is a tensor.
        """
        if not isinstance(values, Iterable) or isinstance(values, Tensor):
            raise TypeError(
                f"ParameterList.extend should be called with an iterable, but got {type(values).__name__}"
            )
        for value in values:
            self.append(value)
        return self

    def extra_repr(self) -> str:
        return "\n".join(f"  ({i}): {described(value, dtype_of)}" for i, value in enumerate(self))

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise RuntimeError("ParameterList should not be called.")


class ParameterDict(Module):
    """Parameters under keys; tensors become parameters, other objects stay."""

    def __init__(self, parameters: Any = None) -> None:
        super().__init__()
        self._keys: dict[str, None] = {}
        if parameters is not None:
            self.update(parameters)

    def __getitem__(self, key: str) -> Any:
        return getattr(self, string_key(key))

    def __setitem__(self, key: str, value: Any) -> None:
        self._keys[key] = None
        setattr(self, string_key(key), as_parameter(value))

    def __delitem__(self, key: str) -> None:
        del self._keys[key]
        delattr(self, key)

    def __len__(self) -> int:
        return len(self._keys)

    def __iter__(self) -> Iterator[str]:
        return iter(self._keys)

    def __reversed__(self) -> Iterator[str]:
        return reversed(list(self._keys))

    def __contains__(self, key: str) -> bool:
        return key in self._keys

    def __or__(self, other: "ParameterDict") -> "ParameterDict":
        result = self.copy()
        result.update(other)
        return result

    def __ror__(self, other: "ParameterDict") -> "ParameterDict":
        result = other.copy()
        result.update(self)
        return result

    def __ior__(self, other: "ParameterDict") -> "ParameterDict":
        self.update(other)
        return self

    def copy(self) -> "ParameterDict":
        """Another container of the same parameters."""
        return ParameterDict(OrderedDict(self.items()))

    def get(self, key: str, default: Any = None) -> Any:
        """The value under a key, or a default."""
        return getattr(self, key) if key in self else default

    def setdefault(self, key: str, default: Any = None) -> Any:
        """The value under a key, which is set to the default if it is missing."""
        if key not in self:
            self[key] = default
        return self[key]

    def pop(self, key: str) -> Any:
        """Take a value out."""
        value = self[key]
        del self[key]
        return value

    def popitem(self) -> tuple[str, Any]:
        """Take out what was added last."""
        key = list(self._keys)[-1]
        return key, self.pop(key)

    def clear(self) -> None:
        """Remove everything."""
        for key in list(self._keys):
            del self[key]

    def keys(self) -> Any:
        """The keys."""
        return self._keys.keys()

    def items(self) -> Any:
        """Keys and values."""
        return ((key, self[key]) for key in self._keys)

    def values(self) -> Any:
        """The values."""
        return (self[key] for key in self._keys)

    def update(self, parameters: Any) -> None:
        """Add values from a mapping (a plain one by sorted keys) or from pairs.

        Raises:
            TypeError: it is neither.
            ValueError: a pair has another length than 2.
        """
        entries = pairs_of(parameters, "ParameterDict")
        plain = isinstance(parameters, Mapping) and not isinstance(parameters, OrderedDict)
        for key, value in sorted(entries) if plain else entries:
            self[key] = value

    def extra_repr(self) -> str:
        return "\n".join(f"  ({key}): {described(value, typename)}" for key, value in self.items())

    def __call__(self, input: Any) -> Any:
        raise RuntimeError("ParameterDict should not be called.")


def string_key(key: Any) -> str:
    """A key of a `ParameterDict`.

    Raises:
        TypeError: it is no string.
    """
    if not isinstance(key, str):
        raise TypeError(
            "Index given to ParameterDict cannot be used as a key as it is not a string (type is "
            f"'{type(key).__name__}'). Open an issue on github if you need non-string keys."
        )
    return key
