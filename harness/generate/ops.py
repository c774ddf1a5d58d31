"""The op pool of generated programs: texts, which tensors are saved, result shapes and bounds.

Templates are filled with operand names by `%`. Everything that depends on a shape is cached by shape: a
generator asks the same few questions all the time. Adding an op is one row.
"""

from functools import cache
from typing import NamedTuple

from harness.generate.values import MAX_NUMEL, Shape, bits, contiguous, is_contiguous, is_power_of_two, numel


class Unary(NamedTuple):
    """An elementwise op: y is bounded by 2**(k*hi + up), and is a multiple of 2**(k*lo - down)."""

    text: str
    saves: str = ""  # "s": the operand, "r": the result, "sr": both, "w": a wrapped number
    depends: bool = False  # its gradient involves the operand
    k: int = 1
    up: int = 0
    down: int = 0
    kinked: bool = False  # not continuous or not differentiable somewhere: needs equal bits in every engine
    max_hi: int = 64
    once: bool = False  # PyTorch 2.13 leaves an immutable zero tensor in `.grad` after a second derivative
    shift: bool = False  # adds a constant, so the derivative is one


EXACT_UNARY: tuple[Unary, ...] = (
    Unary("-%s"),
    Unary("%s.neg()"),
    Unary("%s.abs()", "s", True, kinked=True, once=True),
    Unary("torch.relu(%s)", "r", True, kinked=True),
    Unary("%s.relu()", "r", True, kinked=True),
    Unary("F.relu(%s)", "r", True, kinked=True),
    Unary("F.leaky_relu(%s, 0.5)", "s", True, down=1, kinked=True),
    Unary("%s.square()", "s", True, k=2),
    Unary("%s ** 2", "s", True, k=2),
    Unary("%s.pow(3)", "s", True, k=3, up=1),
    Unary("%s.clamp(-1.0, 1.0)", "s", kinked=True),
    Unary("%s.clamp(min=0.0)", "s", kinked=True),
    Unary("torch.clamp(%s, max=2.0)", "s", kinked=True),
    Unary("%s.clone()"),
    Unary("+%s.clone()"),
)

SMOOTH_UNARY: tuple[Unary, ...] = (
    Unary("%s.exp()", "r", True, k=0, up=5, max_hi=1),
    Unary("torch.sin(%s)", "s", True, k=0),
    Unary("%s.sin()", "s", True, k=0),
    Unary("%s.cos()", "s", True, k=0),
    Unary("torch.tanh(%s)", "r", True, k=0),
    Unary("%s.sigmoid()", "r", True, k=0),
    Unary("(%s.square() + 1.0).log()", "s", True, up=1),
    Unary("(%s.square() + 1.0).sqrt()", "sr", True, up=1),
    Unary("F.gelu(%s)", "s", True, up=1),
    Unary("F.softplus(%s)", "s", True, up=1),
    Unary("1.0 / (%s.square() + 1.0)", "sr", True, k=0),
    Unary("%s / 3.0", "w"),
)

SCALAR: tuple[Unary, ...] = (
    Unary("%s * 2.0", "w", up=1),
    Unary("%s + 1.0", up=1, shift=True),
    Unary("1.0 - %s", up=1, shift=True),
    Unary("%s / 2.0", "w", down=1),
    Unary("%s - 0.5", up=1, down=1, shift=True),
    Unary("0.5 * %s", "w", down=1),
    Unary("%s * -1.0", "w"),
    Unary("torch.mul(%s, 2.0)", "w", up=1),
    Unary("%s.sub(1.0)", up=1, shift=True),
    Unary("%s.add(1.0)", up=1, shift=True),
)

INTEGER_SCALAR: tuple[Unary, ...] = (
    Unary("%s * 2", "w", up=1),
    Unary("%s + 1", up=1, shift=True),
    Unary("3 - %s", up=2, shift=True),
    Unary("-%s"),
    Unary("%s.abs()", "s", True, kinked=True, once=True),
    Unary("%s * -1", "w"),
    Unary("%s.clone()"),
)

# In place: the text of a whole statement. "s" here means that a clone of the old value is saved.
EXACT_INPLACE: tuple[Unary, ...] = (
    Unary("%s.add_(1.0)", up=1, shift=True),
    Unary("%s.mul_(2.0)", "w", up=1),
    Unary("%s.neg_()"),
    Unary("%s.relu_()", "r", True, kinked=True),
    Unary("%s.sub_(0.5)", up=1, down=1, shift=True),
    Unary("%s.abs_()", "s", True, kinked=True, once=True),
    Unary("%s.clamp_(min=0.0)", "s", kinked=True),
    Unary("%s.square_()", "s", True, k=2),
    Unary("%s *= 2.0", "w", up=1),
    Unary("%s += 1.0", up=1, shift=True),
    Unary("%s.div_(2.0)", "w", down=1),
    Unary("%s -= 0.5", up=1, down=1, shift=True),
    Unary("%s.clamp_(-1.0, 1.0)", "s", kinked=True),
)

SMOOTH_INPLACE: tuple[Unary, ...] = (
    Unary("%s.exp_()", "r", True, k=0, up=5, max_hi=1),
    Unary("%s.sin_()", "s", True, k=0),
    Unary("%s.tanh_()", "r", True, k=0),
    Unary("%s.sigmoid_()", "r", True, k=0),
    Unary("%s.cos_()", "s", True, k=0),
)

INTEGER_INPLACE: tuple[Unary, ...] = (
    Unary("%s.add_(1)", up=1, shift=True),
    Unary("%s.mul_(2)", up=1),
    Unary("%s += 1", up=1, shift=True),
    Unary("%s.neg_()"),
)

FILL = ("%s.zero_()", "%s.fill_(1.0)", "%s.fill_(2.0)", "%s[...] = 0.5")


class Binary(NamedTuple):
    """An op of two tensors that broadcast."""

    text: str
    rule: str  # "add", "mul" or "max": what is saved and how bounds grow
    up: int = 0


BINARY = (
    Binary("%s * %s", "mul"),
    Binary("%s + %s", "add"),
    Binary("%s - %s", "add"),
    Binary("%s.mul(%s)", "mul"),
    Binary("torch.add(%s, %s)", "add"),
    Binary("torch.add(%s, %s, alpha=2.0)", "add", 1),
    Binary("%s.sub(%s)", "add"),
    Binary("torch.maximum(%s, %s)", "max"),
    Binary("torch.minimum(%s, %s)", "max"),
    Binary("torch.where(%s > 0.0, {0}, %s)", "where"),
)

INPLACE_BINARY = (
    Binary("%s.add_(%s)", "add"),
    Binary("%s.mul_(%s)", "mul"),
    Binary("%s.sub_(%s)", "add"),
    Binary("%s += %s", "add"),
    Binary("%s *= %s", "mul"),
    Binary("%s.copy_(%s)", "copy"),
    Binary("%s -= %s", "add"),
    Binary("%s.add_(%s, alpha=2.0)", "add", 1),
)

COMPARISON = (
    "%s > %s",
    "%s <= %s",
    "%s == %s",
    "torch.lt(%s, %s)",
    "%s.ge(%s)",
    "%s != %s",
)


class View(NamedTuple):
    """A view: what follows the operand's name, and the new geometry; fanout is the bits of expand."""

    text: str
    shape: Shape
    strides: tuple[int, ...] | None
    fanout: int = 0


def _permuted(shape, strides, order):
    picked = None if strides is None else tuple(strides[i] for i in order)
    return tuple(shape[i] for i in order), picked


def _without(values, dim):
    return None if values is None else values[:dim] + values[dim + 1 :]


@cache
def views(shape: Shape, strides: tuple[int, ...] | None) -> tuple[View, ...]:
    """Every single-output view of the pool that a tensor of this geometry allows."""
    found = [View("[...]", shape, strides), View(".view_as(%s)", shape, strides)]
    ndim = len(shape)
    if ndim <= 2:
        order = tuple(reversed(range(ndim)))
        found += [View(".t()", *_permuted(shape, strides, order))] * 2
    if ndim >= 2:
        swapped = (1, 0, *range(2, ndim))
        found.append(View(".transpose(0, 1)", *_permuted(shape, strides, swapped)))
        found.append(
            View(".transpose(-2, -1)", *_permuted(shape, strides, (*range(ndim - 2), ndim - 1, ndim - 2)))
        )
        order = (ndim - 1, *range(ndim - 1))
        found.append(View(f".permute({', '.join(map(str, order))})", *_permuted(shape, strides, order)))
    if ndim < 3:
        for dim in (0, ndim):
            unit = (
                None
                if strides is None
                else (*strides[:dim], _new_stride(shape, strides, dim), *strides[dim:])
            )
            found.append(
                View(f".unsqueeze({dim if dim == 0 else -1})", (*shape[:dim], 1, *shape[dim:]), unit)
            )
    for dim in range(ndim):
        found += _views_of_dim(shape, strides, dim)
    if strides is not None and is_contiguous(shape, strides):
        found += _reshapes(shape)
    if 1 in shape:
        kept = [i for i in range(ndim) if shape[i] != 1]
        found.append(View(".squeeze()", *_permuted(shape, strides, kept)))
    found += _expansions(shape, strides)
    return tuple(found)


def _new_stride(shape, strides, dim):
    return 1 if dim == len(shape) else shape[dim] * strides[dim]


def _views_of_dim(shape, strides, dim):
    size = shape[dim]
    slices = "[" + ":, " * dim
    if size == 0:
        return [View(slices + ":]", shape, strides)]
    found = [
        View(f".select({dim}, {size - 1})", _without(shape, dim), _without(strides, dim)),
        View(slices + "0]", _without(shape, dim), _without(strides, dim)),
    ]
    if size > 1:
        shorter = (*shape[:dim], size - 1, *shape[dim + 1 :])
        found.append(View(f".narrow({dim}, 0, {size - 1})", shorter, strides))
        found.append(View(slices + "1:]", shorter, strides))
        found.append(View(slices + f":{size - 1}]", shorter, strides))
        half = (*shape[:dim], (size + 1) // 2, *shape[dim + 1 :])
        doubled = None if strides is None else (*strides[:dim], 2 * strides[dim], *strides[dim + 1 :])
        found.append(View(slices + "::2]", half, doubled))
    else:
        found.append(View(f".squeeze({dim})", _without(shape, dim), _without(strides, dim)))
    return found


def _reshapes(shape):
    count = numel(shape)
    targets = {(count,), (1, count), tuple(reversed(shape))} | (
        {(2, count // 2)} if count % 2 == 0 else set()
    )
    found = []
    for target in sorted(targets - {shape}):
        for method in ("view", "reshape"):
            found.append(View(f".{method}({', '.join(map(str, target))})", target, contiguous(target)))
    if len(shape) > 1:
        found.append(View(".flatten()", (count,), (1,)))
        if count:
            found.append(View(".view(-1)", (count,), (1,)))
    return [view for view in found if view.text not in (".view()", ".reshape()")]


def _expansions(shape, strides):
    found = []
    for target in ((2, *shape), tuple(2 if size == 1 else size for size in shape)):
        if target == shape or len(target) > 3 or numel(target) > MAX_NUMEL or numel(target) == 0:
            continue
        fanout = bits(numel(target) // numel(shape))
        old = None
        if strides is not None:
            old = (0,) * (len(target) - len(shape)) + tuple(
                0 if size == 1 and new == 2 else stride
                for size, stride, new in zip(shape, strides, target[len(target) - len(shape) :], strict=True)
            )
        found.append(View(f".expand({', '.join(map(str, target))})", target, old, fanout))
    return found


@cache
def splits(shape: Shape, strides: tuple[int, ...] | None) -> tuple[tuple[str, tuple[View, ...]], ...]:
    """The multi-output views into two or three parts: what follows the name, and each part's geometry."""
    found = []
    for dim, size in enumerate(shape[:2]):
        rest, stepped = _without(shape, dim), _without(strides, dim)
        if size in (2, 3):
            found.append((f".unbind({dim})", (View("", rest, stepped),) * size))
        if size >= 2:
            first = (size + 1) // 2
            parts = tuple(
                View("", (*shape[:dim], part, *shape[dim + 1 :]), strides) for part in (first, size - first)
            )
            found.append((f".split({first}, {dim})", parts))
            found.append((f".chunk(2, {dim})", parts))
            found.append((f".split([{first}, {size - first}], {dim})", parts))
    return tuple(found)


class Reduction(NamedTuple):
    """What follows the operand's name, the result's shape, how many terms are joined, which rule holds."""

    text: str
    shape: Shape
    terms: int
    rule: str  # sum, mean, pick (one element wins), scan, smooth


@cache
def reductions(shape: Shape, exact: bool) -> tuple[Reduction, ...]:
    """Every reduction that a tensor of this shape allows in the lane."""
    count = numel(shape)
    found = [Reduction(".sum()", (), max(count, 1), "sum")] * 3
    if count and (not exact or is_power_of_two(count)):
        found += [Reduction(".mean()", (), count, "mean")] * 2
    for dim, size in enumerate(shape):
        kept = (*shape[:dim], 1, *shape[dim + 1 :])
        rest = _without(shape, dim)
        negative = dim - len(shape)
        found.append(Reduction(f".sum({dim})", rest, max(size, 1), "sum"))
        found.append(Reduction(f".sum(dim={negative}, keepdim=True)", kept, max(size, 1), "sum"))
        found.append(Reduction(f".cumsum({dim})", shape, max(size, 1), "scan"))
        if not count:
            continue
        if not exact or is_power_of_two(size):
            found.append(Reduction(f".mean({negative})", rest, size, "mean"))
            found.append(Reduction(f".mean({dim}, keepdim=True)", kept, size, "mean"))
        found.append(Reduction(f".max({dim}).values", rest, 1, "pick"))
        found.append(Reduction(f".min({dim}, keepdim=True).values", kept, 1, "pick"))
        if size in (1, 2):
            found.append(Reduction(f".amax({dim})", rest, 1, "tie"))
            found.append(Reduction(f".amin({dim})", rest, 1, "tie"))
    if count in (1, 2):
        found += [Reduction(".max()", (), 1, "tie"), Reduction(".min()", (), 1, "tie")]
    return tuple(found)


@cache
def smooth_reductions(shape: Shape) -> tuple[Reduction, ...]:
    """Reductions whose result is rounded: only for the tolerance lane."""
    count = numel(shape)
    if count == 0:
        return ()
    found = [Reduction(".prod()", (), count, "prod")] if 1 < count <= 3 else []
    for dim, size in enumerate(shape):
        kept = (*shape[:dim], 1, *shape[dim + 1 :])
        rest = _without(shape, dim)
        found.append(Reduction(f".softmax({dim})", shape, size, "squash"))
        found.append(Reduction(f".log_softmax({dim - len(shape)})", shape, size, "log"))
        found.append(Reduction(f".logsumexp({dim})", rest, size, "log"))
        found.append(Reduction(f".logsumexp({dim}, keepdim=True)", kept, size, "log"))
        if size > 1:
            found.append(Reduction(f".var({dim}, unbiased=False)", rest, size, "square"))
    if count > 1:
        found.append(Reduction(".var()", (), count, "square"))
        found.append(Reduction(".std()", (), count, "norm"))
    found.append(Reduction(".norm()", (), count, "norm"))
    return tuple(found)


class Product(NamedTuple):
    """A product of two operands, the result's shape, and the terms summed per result and per gradient."""

    text: str
    shape: Shape
    inner: int
    rows: int
    columns: int


@cache
def products(one: Shape, other: Shape) -> tuple[Product, ...]:
    """Every member of the matmul family that two shapes allow, transposing one where that helps."""
    found: list[Product] = []
    shape: Shape
    if len(one) == 1 and one == other:
        found.append(Product("%s @ %s", (), one[0], 1, 1))
        found.append(Product("torch.dot(%s, %s)", (), one[0], 1, 1))
    if len(one) == 1 and len(other) == 1:
        shape = (one[0], other[0])
        found.append(Product("torch.outer(%s, %s)", shape, 1, one[0], other[0]))
    if len(one) == 2 and len(other) == 1 and one[1] == other[0]:
        found.append(Product("%s @ %s", (one[0],), one[1], one[0], 1))
        found.append(Product("%s.mv(%s)", (one[0],), one[1], one[0], 1))
    if len(one) == 1 and len(other) == 2 and one[0] == other[0]:
        found.append(Product("%s @ %s", (other[1],), one[0], 1, other[1]))
    if len(one) == 2 and len(other) == 2:
        found += _matrix_products(one, other)
    if len(one) == 3 and len(other) == 3 and one[0] == other[0] and one[2] == other[1]:
        shape = (one[0], one[1], other[2])
        found += [Product(text, shape, one[2], one[1], other[2]) for text in ("torch.bmm(%s, %s)", "%s @ %s")]
    if len(one) == 3 and len(other) == 2 and one[2] == other[0]:
        found.append(Product("torch.matmul(%s, %s)", (*one[:2], other[1]), one[2], one[0] * one[1], other[1]))
    return tuple(product for product in found if numel(product.shape) <= MAX_NUMEL)


def _matrix_products(one, other):
    found = []
    if one[1] == other[0]:
        shape = (one[0], other[1])
        for text in ("%s @ %s", "torch.mm(%s, %s)", "%s.matmul(%s)"):
            found.append(Product(text, shape, one[1], *shape))
    if one[1] == other[1]:
        shape = (one[0], other[0])
        found.append(Product("%s @ %s.t()", shape, one[1], *shape))
        found.append(Product("F.linear(%s, %s)", shape, one[1], *shape))
    if one[0] == other[0]:
        shape = (one[1], other[1])
        found.append(Product("%s.t() @ %s", shape, one[0], *shape))
    return found
