"""Shapes, strides, dtypes and literal data that generated programs are made of.

A *shape family* is a handful of shapes that broadcast or multiply with each other, so that two tensors
picked at random can usually meet in an op. Data are small dyadic numbers written as literals: exact in
every float dtype. Everything here is a pure function of small arguments and is cached: a generator sees
few shapes, many times.
"""

from functools import cache

Shape = tuple[int, ...]

FAMILIES: tuple[tuple[Shape, ...], ...] = (
    ((3,), (3,), (1,), (), (2, 3)),
    ((2, 2), (2, 2), (2,), (1, 2), ()),
    ((2, 3), (2, 3), (3,), (2, 1), (3, 2), ()),
    ((4,), (4,), (1,), (), (2, 4)),
    ((2, 2, 2), (2, 2), (2, 1, 2), (2,), ()),
    ((2,), (2,), (), (1,), (2, 2), (0,)),
    ((2, 3), (1, 3), (0, 3), (3,), (2, 3), (3, 3)),
)

NAMES = "abcdefkmn"
RESERVE = "pqrstu"  # for steps of several statements, so that none of their operands loses its name

# Dtypes by one letter; the letter is what the model keeps.
DTYPES = {
    "f": "torch.float32",
    "d": "torch.float64",
    "l": "torch.int64",
    "i": "torch.int32",
    "b": "torch.bool",
}
FLOATS = frozenset("fd")
_RANK = {"b": 0, "i": 1, "l": 2, "f": 3, "d": 4}
_CATEGORY = {"b": 0, "i": 1, "l": 1, "f": 2, "d": 2}

# Ties, zeros and sign changes are frequent on purpose; every number is a multiple of one half.
_DATA = (1.0, -2.0, 0.5, 3.0, 0.0, 2.0, -1.0, 1.5, 1.0, -0.5, 2.0, 0.0, -3.0, 1.0, 2.5, -1.5)
_SMALL = (0, 1, 2, -1, 3, 1, -2, 2)
MAX_NUMEL = 24


@cache
def numel(shape: Shape) -> int:
    """The number of elements of a shape."""
    count = 1
    for size in shape:
        count *= size
    return count


@cache
def bits(count: int) -> int:
    """The smallest b with 2**b >= count: by how many bits a sum of so many terms can grow."""
    return max(count - 1, 0).bit_length()


def is_power_of_two(count: int) -> bool:
    """Whether dividing by the count is exact."""
    return count > 0 and count & (count - 1) == 0


@cache
def contiguous(shape: Shape) -> tuple[int, ...]:
    """The strides of a freshly made tensor of this shape."""
    strides, step = [], 1
    for size in reversed(shape):
        strides.append(step)
        step *= max(size, 1)
    return tuple(reversed(strides))


@cache
def is_contiguous(shape: Shape, strides: tuple[int, ...]) -> bool:
    """Whether a view of another shape is certainly possible (sizes of one have any stride)."""
    step = 1
    for size, stride in zip(reversed(shape), reversed(strides), strict=True):
        if size == 0:
            return True
        if size != 1:
            if stride != step:
                return False
            step *= size
    return True


@cache
def overlaps(shape: Shape, strides: tuple[int, ...]) -> bool:
    """Whether some elements share memory, as after expand."""
    return any(stride == 0 and size > 1 for size, stride in zip(shape, strides, strict=True))


@cache
def broadcast(one: Shape, other: Shape) -> Shape | None:
    """The common shape of two operands, None when they do not broadcast or the result would be large."""
    if one == other:
        return one
    if len(one) < len(other):
        one = (1,) * (len(other) - len(one)) + one
    other = (1,) * (len(one) - len(other)) + other
    sizes = []
    for m, n in zip(one, other, strict=True):
        if m != n and m != 1 and n != 1:
            return None
        sizes.append(n if m == 1 else m)
    shape = tuple(sizes)
    return shape if numel(shape) <= MAX_NUMEL else None


@cache
def promoted(one: str, one_dim: bool, other: str, other_dim: bool) -> str:
    """PyTorch's result dtype: a 0-dim operand counts only when its category is higher."""
    if one_dim != other_dim and _CATEGORY[one] != _CATEGORY[other]:
        return one if _CATEGORY[one] > _CATEGORY[other] else other
    if one_dim != other_dim:
        return one if one_dim else other
    return one if _RANK[one] >= _RANK[other] else other


def _nested(shape: Shape, numbers: list[str]) -> str:
    if not shape:
        return numbers.pop(0)
    return "[" + ", ".join(_nested(shape[1:], numbers) for _ in range(shape[0])) + "]"


@cache
def literal(shape: Shape, pattern: int, dtype: str) -> str:
    """A nested list of dyadic numbers; few patterns, so that equal statements recur and stay compiled."""
    start = pattern % 3 * 3
    if dtype == "b":
        numbers = [str((start + i) % 3 != 1) for i in range(numel(shape))]
    elif dtype in FLOATS:
        numbers = [str(_DATA[(start + i) % 16]) for i in range(numel(shape))]
    else:
        numbers = [str(_SMALL[(start + i) % 8]) for i in range(numel(shape))]
    return _nested(shape, numbers)


@cache
def tensor_text(shape: Shape, pattern: int, dtype: str, requires_grad: bool) -> str:
    """A `torch.tensor(...)` call; float32, int64 and bool need no dtype when there is an element to tell."""
    text = f"torch.tensor({literal(shape, pattern, dtype)}"
    if numel(shape) == 0:
        text = f"torch.zeros({shape}"
    if dtype in "di" or (dtype in "lb" and numel(shape) == 0):
        text += f", dtype={DTYPES[dtype]}"
    return text + (", requires_grad=True)" if requires_grad else ")")


@cache
def index_text(shape: Shape, bound: int, pattern: int) -> str:
    """An int64 tensor of indices below the bound, with repeats."""
    numbers = [str((pattern + i * (1 + pattern % 2)) % bound) for i in range(numel(shape))]
    return f"torch.tensor({_nested(shape, numbers)})"


@cache
def seed_text(shape: Shape, pattern: int, dtype: str) -> str:
    """What stands for `gradient=`: ones, or numbers that tell elements apart."""
    suffix = ", dtype=torch.float64" if dtype == "d" else ""
    if pattern % 2 and numel(shape):
        numbers = [str(float(1 + (i + pattern) % 3)) for i in range(numel(shape))]
        return f"torch.tensor({_nested(shape, numbers)}{suffix})"
    return f"torch.ones({shape}{suffix})" if shape else f"torch.tensor(1.0{suffix})"
