"""What is observed of a tensor, one function a fact, each with its rule for agreement.

A fact reads a live tensor and returns plain Python data. It never changes what it reads, may raise (the
caller records that), and knows nothing of the engine: every engine offers PyTorch's own attributes. Facts
marked `strict` belong to PyTorch's implementation more than to the meaning of a program; other engines are
asked for them only with `--strict`. Those marked `dear` cost more than a statement: full looks only.

To add an observation, write one function here.
"""

import marshal
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol
from weakref import WeakKeyDictionary

GRAPH_LIMIT = 64  # nodes of a graph that are named

# PyTorch's default tolerances per dtype: relative, absolute.
TOLERANCES = {
    "float16": (1e-3, 1e-5),
    "bfloat16": (1.6e-2, 1e-5),
    "float32": (1.3e-6, 1e-5),
    "float64": (1e-7, 1e-7),
    "complex64": (1.3e-6, 1e-5),
    "complex128": (1e-7, 1e-7),
}
LOOSEST = (1.3e-6, 1e-5)  # for numbers whose dtype is unknown: Python floats and printed text


class Scope(Protocol):
    """The live variables, as far as facts need them."""

    memory_of: Callable[[Any], int]  # a number that tensors with one storage have in common, 0 for no memory

    def sharing(self, memory: int, subject: str) -> tuple[str, ...]:
        """The other live subjects (tensors and their grads) that use this memory."""

    def same(self, tensor: Any, subject: str) -> tuple[str, ...]:
        """The other live subjects that are this very object."""

    def name_of(self, tensor: Any) -> str | None:
        """The first live subject that is this very object."""


Reader = Callable[[Any, Scope, str], Any]
Rule = Callable[[Any, Any, bool], bool]  # expected, actual, whether the program is in the exact lane


@dataclass(frozen=True, slots=True)
class Fact:
    name: str
    read: Reader
    agrees: Rule
    is_strict: bool
    is_dear: bool
    doc: str


FACTS: dict[str, Fact] = {}


def same(expected: Any, actual: Any, is_exact: bool) -> bool:
    return expected == actual


def fact(agrees: Rule = same, strict: bool = False, dear: bool = False) -> Callable[[Reader], Reader]:
    """Register a function as a fact; its name is the fact's name, its docstring what a report shows."""

    def register(read: Reader) -> Reader:
        FACTS[read.__name__] = Fact(read.__name__, read, agrees, strict, dear, read.__doc__ or "")
        return read

    return register


# How numbers agree ---------------------------------------------------------------------------------


def close_number(expected: Any, actual: Any, tolerance: tuple[float, float] | None) -> bool:
    """Whether two numbers agree; NaN equals NaN; signed zeros and infinities are exact."""
    if isinstance(expected, complex) or isinstance(actual, complex):
        a, b = complex(expected), complex(actual)
        if a.real == b.real or a.imag == b.imag or tolerance is None or not (finite(a) and finite(b)):
            return close_number(a.real, b.real, tolerance) and close_number(a.imag, b.imag, tolerance)
        return abs(a - b) <= tolerance[1] + tolerance[0] * abs(a)
    if isinstance(expected, bool) or isinstance(actual, bool):
        return expected is actual
    if expected == actual:
        return expected != 0 or math.copysign(1, expected) == math.copysign(1, actual)
    if math.isnan(expected) or math.isnan(actual):
        return math.isnan(expected) and math.isnan(actual)
    if tolerance is None or math.isinf(expected) or math.isinf(actual) or is_int(expected, actual):
        return False
    return abs(actual - expected) <= tolerance[1] + tolerance[0] * abs(expected)


def finite(number: complex) -> bool:
    return math.isfinite(number.real) and math.isfinite(number.imag)


def is_int(*numbers: Any) -> bool:
    return all(isinstance(number, int) for number in numbers)


def close(expected: Any, actual: Any, tolerance: tuple[float, float] | None) -> bool:
    """Whether nested data agree; lists and tuples are alike, everything but numbers must be equal."""
    if isinstance(expected, (list, tuple)) and isinstance(actual, (list, tuple)):
        return len(expected) == len(actual) and all(map(close, expected, actual, [tolerance] * len(expected)))
    if isinstance(expected, dict) and isinstance(actual, dict):
        return list(expected) == list(actual) and all(
            close(expected[k], actual[k], tolerance) for k in expected
        )
    if isinstance(expected, (int, float, complex)) and isinstance(actual, (int, float, complex)):
        return close_number(expected, actual, tolerance)
    return type(expected) is type(actual) and expected == actual


def close_tensor(expected: Any, actual: Any, is_exact: bool) -> bool:
    """Agreement of (dtype, shape, data, rest): the data within the dtype's tolerance, the others exactly."""
    if not (is_tensor_data(expected) and is_tensor_data(actual)):
        return expected == actual
    if expected[0] != actual[0] or list(expected[1]) != list(actual[1]) or expected[3:] != actual[3:]:
        return False
    return close(expected[2], actual[2], None if is_exact else TOLERANCES.get(expected[0]))


def is_tensor_data(value: Any) -> bool:
    return isinstance(value, (tuple, list)) and len(value) >= 3 and isinstance(value[1], (tuple, list))


# The facts -----------------------------------------------------------------------------------------


class DtypeNames(dict):
    """Names of dtypes without their module, remembered because asking is dear."""

    def __missing__(self, dtype: Any) -> str:
        name = self[dtype] = str(dtype).rpartition(".")[2]
        return name


DTYPE_NAMES = DtypeNames()


def data(tensor: Any) -> Any:
    try:
        return tensor.tolist()
    except AttributeError:  # an engine that is thinner than torch
        return tensor.numpy().tolist()
    except RuntimeError:
        if not tensor._is_zerotensor():
            raise
        return tensor.clone().tolist()  # zeros that PyTorch keeps without memory


@fact(agrees=close_tensor)
def value(tensor: Any, scope: Scope, subject: str) -> Any:
    """dtype, shape and numbers"""
    return DTYPE_NAMES[tensor.dtype], (*tensor.shape,), data(tensor)


@fact()
def requires_grad(tensor: Any, scope: Scope, subject: str) -> Any:
    """whether gradients are wanted for it"""
    return tensor.requires_grad


@fact()
def is_leaf(tensor: Any, scope: Scope, subject: str) -> Any:
    """whether it stands at the beginning of the graph"""
    return tensor.is_leaf


@fact(strict=True)
def retains_grad(tensor: Any, scope: Scope, subject: str) -> Any:
    """whether retain_grad() was called on it"""
    return tensor.retains_grad


@fact(agrees=close_tensor)
def grad(tensor: Any, scope: Scope, subject: str) -> Any:
    """what accumulated in .grad: None (which is not zeros), or dtype, shape, numbers and requires_grad"""
    if not (tensor.is_leaf or tensor.retains_grad):  # reading it would warn
        return None
    gradient = tensor.grad
    if gradient is None:
        return None
    return DTYPE_NAMES[gradient.dtype], (*gradient.shape,), data(gradient), gradient.requires_grad


@fact(strict=True)
def grad_details(tensor: Any, scope: Scope, subject: str) -> Any:
    """strides, version and grad_fn of .grad, and with whom it shares its memory"""
    if not (tensor.is_leaf or tensor.retains_grad):
        return None
    gradient = tensor.grad
    if gradient is None:
        return None
    return (
        (*gradient.stride(),),
        gradient._version,
        node_name(gradient.grad_fn),
        scope.sharing(scope.memory_of(gradient), subject + ".grad"),
    )


@fact(strict=True)
def is_view(tensor: Any, scope: Scope, subject: str) -> Any:
    """whether it is a view, and of which live variable (None: of one that has no name)"""
    if not tensor._is_view():
        return False
    return True, scope.name_of(tensor._base)


@fact(strict=True)
def shares(tensor: Any, scope: Scope, subject: str) -> Any:
    """the live variables that share its memory"""
    return scope.sharing(scope.memory_of(tensor), subject)


@fact(strict=True)
def same_as(tensor: Any, scope: Scope, subject: str) -> Any:
    """the live variables that are the same object"""
    return scope.same(tensor, subject)


@fact(strict=True)
def grad_fn(tensor: Any, scope: Scope, subject: str) -> Any:
    """the name of the node that made it"""
    return node_name(tensor.grad_fn)


@fact(strict=True)
def output_nr(tensor: Any, scope: Scope, subject: str) -> Any:
    """which output of its node it is"""
    return tensor.output_nr


@fact(strict=True)
def version(tensor: Any, scope: Scope, subject: str) -> Any:
    """how often its memory was written in place"""
    return tensor._version


@fact(strict=True)
def strides(tensor: Any, scope: Scope, subject: str) -> Any:
    """steps in memory per dimension"""
    return (*tensor.stride(),)


@fact(strict=True)
def storage_offset(tensor: Any, scope: Scope, subject: str) -> Any:
    """where in its storage it begins"""
    return tensor.storage_offset()


@fact(strict=True)
def is_inference(tensor: Any, scope: Scope, subject: str) -> Any:
    """whether it was made in inference mode"""
    return tensor.is_inference()


@fact(strict=True, dear=True)
def graph(tensor: Any, scope: Scope, subject: str) -> Any:
    """the nodes reachable from it: (name, edges), an edge being (number of the node, output number)"""
    root = tensor.grad_fn
    if root is None:
        return None
    nodes, numbers, described = [root], {id(root): 0}, []
    for node in nodes:
        edges: list[tuple[int, int] | None] = []
        for target, index in node.next_functions:
            if target is None:
                edges.append(None)
                continue
            if id(target) not in numbers and len(nodes) < GRAPH_LIMIT:
                numbers[id(target)] = len(nodes)
                nodes.append(target)
            edges.append((numbers.get(id(target), -1), index))
        described.append((type(node).__name__, tuple(edges)))
    return tuple(described)


@fact(strict=True, dear=True)
def saved(tensor: Any, scope: Scope, subject: str) -> Any:
    """what became of the tensors its node saved: kept, freed or modified; None where it saved none"""
    node = tensor.grad_fn
    attribute = saved_attribute(type(node))
    if node is None or attribute is None:
        return None
    try:
        getattr(node, attribute)
    except RuntimeError as error:
        return "modified" if "inplace operation" in str(error) else "freed"
    return "kept"


def node_name(node: Any) -> str | None:
    return None if node is None else type(node).__name__


SAVED_ATTRIBUTES: WeakKeyDictionary[type, str | None] = WeakKeyDictionary()


def saved_attribute(node_type: type) -> str | None:
    """The name under which a node of this type shows its first saved tensor, if it saves any."""
    if node_type not in SAVED_ATTRIBUTES:
        raw = sorted(name for name in dir(node_type) if name.startswith("_raw_saved_"))
        if raw == ["_raw_saved_tensors"]:  # a custom Function
            SAVED_ATTRIBUTES[node_type] = raw[0]
        else:
            SAVED_ATTRIBUTES[node_type] = "_" + raw[0].removeprefix("_raw_") if raw else None
    return SAVED_ATTRIBUTES[node_type]


# Reading them --------------------------------------------------------------------------------------

# What `in_one_breath` reads, in its order.
AT_ONCE = (
    *(
        "value",
        "requires_grad",
        "is_leaf",
        "retains_grad",
        "grad",
        "grad_details",
        "is_view",
        "shares",
        "same_as",
    ),
    *("grad_fn", "output_nr", "version", "strides", "storage_offset", "is_inference"),
)


def place(fact: Fact) -> tuple[bool, int]:
    """Where a fact stands in a record: the cheap ones first, and of them those that are read at once."""
    return fact.is_dear, AT_ONCE.index(fact.name) if fact.name in AT_ONCE else len(AT_ONCE)


FACTS = {fact.name: fact for fact in sorted(FACTS.values(), key=place)}
NAMES: tuple[str, ...] = tuple(FACTS)
CHEAP_READERS = tuple(f.read for f in FACTS.values() if not f.is_dear)
DEAR = tuple(f for f in FACTS.values() if f.is_dear)
NOT_READ = ...  # in a record, instead of a fact that this look did not read
LATER_READERS = CHEAP_READERS[len(AT_ONCE) :]
UNREAD_DEAR = (NOT_READ,) * len(DEAR)
POSITION = {name: position for position, name in enumerate(NAMES)}
GRAD = POSITION["grad"]


def snapshot(tensor: Any, scope: Scope, subject: str) -> tuple:
    """Every cheap fact of a tensor, in the order of NAMES; the dear ones are marked as not read."""
    try:
        return in_one_breath(tensor, scope, subject)
    except Exception:
        return (*[guarded(read, tensor, scope, subject) for read in CHEAP_READERS], *UNREAD_DEAR)


def in_one_breath(tensor: Any, scope: Scope, subject: str) -> tuple:
    """The cheap facts read one after the other, without a call for each: in half the time.

    A test holds it to the facts above; facts that it does not know yet are read behind the others.
    """
    is_leaf, retains_grad = tensor.is_leaf, tensor.retains_grad
    gradient = tensor.grad if is_leaf or retains_grad else None
    node = tensor.grad_fn
    return (
        (DTYPE_NAMES[tensor.dtype], (*tensor.shape,), tensor.tolist()),
        tensor.requires_grad,
        is_leaf,
        retains_grad,
        None if gradient is None else grad(tensor, scope, subject),
        None if gradient is None else grad_details(tensor, scope, subject),
        (True, scope.name_of(tensor._base)) if tensor._is_view() else False,
        scope.sharing(scope.memory_of(tensor), subject),
        scope.same(tensor, subject),
        None if node is None else type(node).__name__,
        tensor.output_nr,
        tensor._version,
        (*tensor.stride(),),
        tensor.storage_offset(),
        tensor.is_inference(),
    ) + (later_facts(tensor, scope, subject) if LATER_READERS else UNREAD_DEAR)


def later_facts(tensor: Any, scope: Scope, subject: str) -> tuple:
    return (*[read(tensor, scope, subject) for read in LATER_READERS], *UNREAD_DEAR)


def with_fresh_grad(record: tuple, tensor: Any, scope: Scope, subject: str) -> tuple:
    """A record of a tensor of which nothing but its grad can have changed."""
    try:
        fresh = grad(tensor, scope, subject), grad_details(tensor, scope, subject)
    except Exception:
        return snapshot(tensor, scope, subject)
    return record[:GRAD] + fresh + record[GRAD + 2 :]


def full_snapshot(tensor: Any, scope: Scope, subject: str, with_saved: bool = True) -> tuple:
    """Every fact of a tensor; `with_saved` is False where unpacking would call the program's hooks."""
    cheap = snapshot(tensor, scope, subject)[: len(CHEAP_READERS)]
    dear = [
        NOT_READ if f.name == "saved" and not with_saved else guarded(f.read, tensor, scope, subject)
        for f in DEAR
    ]
    return (*cheap, *dear)


def guarded(read: Reader, tensor: Any, scope: Scope, subject: str) -> Any:
    """A fact, or ("raises", type, message) of what reading it raised, or ("missing", name)."""
    try:
        return read(tensor, scope, subject)
    except AttributeError as error:
        return "missing", error.name or str(error)
    except Exception as error:
        return "raises", type(error).__name__, str(error)


def is_missing(value: Any) -> bool:
    """Whether a fact could not be read because the engine has no such attribute."""
    return isinstance(value, (tuple, list)) and len(value) == 2 and value[0] == "missing"


# Other variables -----------------------------------------------------------------------------------

SKIP = object()  # a variable that is no plain value: functions, modules, handles, optimizers
PLAIN_TYPES = (bool, int, float, complex, str, type(None))


def plain(value: Any, depth: int = 3) -> Any:
    """A variable that is no tensor as plain data, or SKIP."""
    kind = type(value)
    if kind in PLAIN_TYPES:
        return value
    if isinstance(value, (tuple, list)) and depth and len(value) <= 100:
        items = [plain(item, depth - 1) for item in value]
        return SKIP if any(item is SKIP for item in items) else tuple(items)
    if isinstance(value, dict) and depth and len(value) <= 100:
        pairs = [(str(key), plain(item, depth - 1)) for key, item in value.items()]
        return SKIP if any(item is SKIP for _, item in pairs) else tuple(pairs)
    if isinstance(value, (set, frozenset)) and depth and len(value) <= 100:
        items = [plain(item, depth - 1) for item in value]
        return SKIP if any(item is SKIP for item in items) else tuple(sorted(items, key=repr))
    if kind.__name__ in ("dtype", "DType"):
        return DTYPE_NAMES[value]
    return SKIP


def exact_form(record: Any) -> bytes:
    """A record as bytes that differ where anything does: signed zeros and kinds of numbers too."""
    try:
        return marshal.dumps(record, 2)  # version 2 knows no references, so equal data give equal bytes
    except ValueError:
        return repr(record).encode()
