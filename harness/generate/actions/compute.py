"""Steps that compute: ops, reductions, products, copies, indexing."""

from harness.generate import ops, values
from harness.generate.intents import action
from harness.generate.model import Memory, Node, edge, floating, fresh, record, requires, saved, usable
from harness.generate.values import DTYPES, FLOATS, MAX_NUMEL, bits, broadcast, numel, promoted

# Ops


def elementwise(scope, op, source, dtype=""):
    """Emit one unary op, when it is in bounds."""
    memory = scope.elementwise(op, source.memory)
    if memory is None:
        return
    result = scope.result(source.shape, memory, source, dtype=dtype)
    if scope.grad and requires(source) and result.dtype in FLOATS:
        entries: tuple = ()
        if "s" in op.saves:
            entries = (saved(source),)
        if "r" in op.saves:
            entries += ((None, result.version, 0),)
        result.node = Node((edge(source),), entries, op.saves != "", (op.depends,))
        if op.once:
            result.node.second_fault = "uncertain"
    scope.make(op.text % source.name, result)


@action("ops", 5)
def unary(scope, p):
    """An elementwise function of one tensor, with or without a scalar."""
    source = scope.pick(p[0], numeric) if p[0] % 4 == 0 else None
    source = source or scope.pick_float(p[0])
    if source.dtype not in FLOATS:
        elementwise(scope, ops.INTEGER_SCALAR[p[1] % len(ops.INTEGER_SCALAR)], source)
        return
    table = ops.EXACT_UNARY if p[2] < 8 else ops.SCALAR
    if not scope.exact and p[2] % 2:
        table = ops.SMOOTH_UNARY
    elementwise(scope, table[p[1] % len(table)], source)


def numeric(tensor):
    """Anything but bool."""
    return tensor.dtype != "b" and usable(tensor)


def partner(scope, number, one, fits=numeric):
    """A tensor that broadcasts with this one (itself, if need be)."""
    shape = one.shape
    return scope.pick(number, lambda other: broadcast(shape, other.shape) is not None and fits(other)) or one


def joined(scope, rule, up, one, other, shape):
    """The bounds of a binary op's result, None when out of bounds."""
    a, b = one.memory, other.memory
    wide_a = bits(numel(shape) // max(numel(one.shape), 1))
    wide_b = bits(numel(shape) // max(numel(other.shape), 1))
    rough = a.rough or b.rough
    if rule == "mul":
        dhi = max(a.dhi + b.hi + wide_a, b.dhi + a.hi + wide_b) + 1
        memory = Memory(a.hi + b.hi, a.lo + b.lo, dhi, min(a.dlo + b.lo, b.dlo + a.lo), rough)
    else:
        grows = rule == "add"
        dhi = max(a.dhi + wide_a, b.dhi + wide_b) + up + 1
        memory = Memory(max(a.hi, b.hi) + up + grows, min(a.lo, b.lo), dhi, min(a.dlo, b.dlo) - 1, rough)
        if not grows and rough:
            return None
    return memory if scope.within(memory) else None


def binary_node(rule, one, other):
    """The node of a binary op; multiplication saves a partner only if the other side wants a gradient."""
    if rule == "mul":
        first, second = requires(one), requires(other)
        if not first and not second:
            return None
        saves = ((other,) if first else ()) + ((one,) if second else ())
        return record((one, other), saves, depends=(second, first))
    if rule == "max":
        return record((one, other), (one, other))
    return record((one, other), (), rule == "where")


@action("ops", 6)
def binary(scope, p):
    """An op of two tensors that broadcast, dtypes mixed."""
    one = scope.pick_float(p[0])
    other = partner(scope, p[1], one)
    if p[3] >= 8:
        one, other = other, one
    op = ops.BINARY[p[2] % len(ops.BINARY)]
    dtype = promoted(one.dtype, bool(one.shape), other.dtype, bool(other.shape))
    text, rule = op.text, op.rule
    shape = broadcast(one.shape, other.shape)
    if rule == "where":
        text = f"torch.where(%s > 0.0, {one.name}, %s)"
        if one.dtype not in FLOATS or other.dtype not in FLOATS:
            text, rule = "%s + %s", "add"
    if dtype not in FLOATS:
        text, rule = "%s * %s", "mul"
    memory = joined(scope, rule, op.up, one, other, shape)
    if memory is None:
        return
    result = scope.result(shape, memory, one, other, dtype=dtype)
    if scope.grad and dtype in FLOATS:
        result.node = binary_node(rule, one, other)
    scope.make(text % (one.name, other.name), result)


@action("ops", 1)
def divide(scope, p):
    """A quotient whose denominator cannot be zero (the tolerance lane), or by a power of two."""
    one = scope.pick_float(p[0])
    if scope.exact:
        elementwise(scope, ops.Unary("%s / 4.0", "w", down=2), one)
        return
    other = partner(scope, p[1], one, floating)
    shape = broadcast(one.shape, other.shape)
    memory = joined(scope, "add", 0, one, other, shape)
    if memory is None or memory.hi + memory.dhi > scope.top_hi:
        return
    memory.dhi += one.memory.hi
    memory.rough = True
    if not scope.within(memory):
        return
    result = scope.result(shape, memory, one, other)
    if scope.grad:
        result.node = record((one, other), (one, other), True, (requires(other), True))
    scope.make(f"{one.name} / ({other.name}.square() + 1.0)", result)


@action("ops", 2)
def compare(scope, p):
    """A comparison: a bool tensor without history."""
    one = scope.pick(p[0], lambda tensor: numeric(tensor) and not tensor.memory.rough) or scope.leaf(
        p[0], True
    )
    other = partner(scope, p[1], one, lambda tensor: numeric(tensor) and not tensor.memory.rough)
    text = ops.COMPARISON[p[2] % len(ops.COMPARISON)]
    text = text % (one.name, other.name)
    shape = broadcast(one.shape, other.shape)
    if p[3] < 5:
        text, shape = f"{one.name} > 0", one.shape
    scope.make(text, scope.result(shape, Memory(0, 0), one, other, dtype="b"))


@action("ops", 2)
def where(scope, p):
    """where or masked_fill with a bool tensor, which is saved."""
    mask = scope.pick(p[0], lambda tensor: tensor.dtype == "b")
    if mask is None:
        compare(scope, p)
        return
    one = scope.pick(
        p[1], lambda tensor: floating(tensor) and broadcast(mask.shape, tensor.shape) is not None
    )
    if one is None:
        return
    shape = broadcast(mask.shape, one.shape)
    memory = joined(scope, "add", 0, one, one, shape)
    if memory is None:
        return
    result = scope.result(shape, memory, one, mask)
    if scope.grad:
        result.node = record((one,), (mask,))
    choices = ("torch.where({m}, {a}, 0.0)", "{a}.masked_fill({m}, 2.0)", "torch.where({m}, -1.0, {a})")
    scope.make(choices[p[2] % 3].format(m=mask.name, a=one.name), result)


@action("ops", 2)
def convert(scope, p):
    """A cast to another dtype (in the tolerance lane to the program's float dtype only)."""
    source = scope.pick(p[0], lambda tensor: usable(tensor) and not tensor.memory.rough)
    if source is None:
        return
    target = "fdlf"[p[1] % 4] if scope.exact else scope.dtype
    if target == source.dtype:
        return
    if target == "l" and source.memory.lo < 0 and not scope.exact:
        return
    text = f"{source.name}.to({DTYPES[target]})"
    if target == "d" and p[2] < 5:
        text = f"{source.name}.double()"
    memory = source.memory
    memory = Memory(memory.hi, memory.lo, memory.dhi, memory.dlo, memory.rough)
    result = scope.result(source.shape, memory, source, dtype=target)
    if scope.grad and target in FLOATS and source.dtype in FLOATS:
        result.node = record((source,))
    scope.make(text, result)


# Reductions and products


@action("reductions", 4)
def reduce(scope, p):
    """sum, mean, max, cumsum and, in the tolerance lane, softmax and its kin."""
    source = scope.pick_float(p[0])
    smooth = not scope.exact and p[2] % 2
    table = ops.smooth_reductions(source.shape) if smooth else ops.reductions(source.shape, scope.exact)
    if not table:
        return
    op = table[(p[1] * 16 + p[3]) % len(table)]
    memory = reduced(op, source.memory)
    if memory is None or not scope.within(memory):
        return
    result = scope.result(op.shape, memory, source)
    if scope.grad and requires(source):
        result.node = reduction_node(op.rule, source, result)
    scope.make(source.name + op.text, result)


def reduced(op, old):
    """The bounds of a reduction's result."""
    grown = bits(op.terms)
    if op.rule in ("sum", "scan"):
        wide = grown if op.rule == "scan" else 0
        return Memory(old.hi + grown, old.lo, old.dhi + wide, old.dlo, old.rough)
    if op.rule == "mean":
        return Memory(
            old.hi,
            old.lo - grown,
            old.dhi,
            old.dlo - grown,
            old.rough or not values.is_power_of_two(op.terms),
        )
    if op.rule in ("pick", "tie"):
        return None if old.rough else Memory(old.hi, old.lo, old.dhi, old.dlo - 1, False)
    if op.rule == "prod":
        return Memory(op.terms * old.hi, 0, old.dhi + op.terms * old.hi, 0, True)
    if op.rule == "square":
        return Memory(2 * old.hi + 1, 0, old.dhi + old.hi + 1, 0, True)
    if op.rule == "norm":
        return None if old.rough else Memory(old.hi + grown, 0, old.dhi + 1, 0, True)
    return Memory(0 if op.rule == "squash" else old.hi + grown, 0, old.dhi + 1, 0, True)


def reduction_node(rule, source, result):
    """What the node of a reduction saves."""
    at = (edge(source),)
    if rule in ("sum", "mean", "scan"):
        return Node(at, (), False, (False,))
    if rule == "pick":
        return Node(at, (), True, (False,))
    own = (None, result.version, 0)
    if rule == "tie":
        return Node(at, (saved(source), own), True, (False,))
    return Node(at, (own,) if rule == "squash" else (saved(source), own), True, (True,))


@action("products", 3)
def product(scope, p):
    """The matmul family."""
    one = scope.pick_float(p[0])
    shape, dtype = one.shape, one.dtype
    fits = lambda other: other.dtype == dtype and usable(other) and bool(ops.products(shape, other.shape))
    other = scope.pick(p[1], fits)
    if other is None:
        return
    table = ops.products(shape, other.shape)
    op = table[p[2] % len(table)]
    a, b = one.memory, other.memory
    dhi = max(a.dhi + b.hi + bits(op.columns), b.dhi + a.hi + bits(op.rows)) + 1
    grown = bits(max(op.inner, 1))
    memory = Memory(
        a.hi + b.hi + grown, a.lo + b.lo, dhi, min(a.dlo + b.lo, b.dlo + a.lo), a.rough or b.rough
    )
    if not scope.within(memory):
        return
    result = fresh(op.shape, dtype, memory)
    if scope.grad:
        result.node = binary_node("mul", one, other)
    scope.make(op.text % (one.name, other.name), result)


@action("products", 1)
def loss(scope, p):
    """A loss of two tensors of one shape."""
    one = scope.pick_float(p[0])
    shape, dtype = one.shape, one.dtype
    other = scope.pick(p[1], lambda other: other.shape == shape and other.dtype == dtype and usable(other))
    other = other or one
    count = max(numel(shape), 1)
    exact = scope.exact
    squared = p[2] % 2 or one.memory.rough or other.memory.rough
    if count == 1 and not shape and p[2] > 12:
        return
    reduction = "sum" if exact or p[3] < 8 or not numel(shape) else "mean"
    a, b = one.memory, other.memory
    hi, lo = max(a.hi, b.hi) + 1, min(a.lo, b.lo)
    steep = hi + 1 if squared else 0
    k = 2 if squared else 1
    memory = Memory(
        k * hi + bits(count),
        k * lo,
        max(a.dhi, b.dhi) + steep + 1,
        min(a.dlo, b.dlo) + lo,
        a.rough or b.rough,
    )
    if reduction == "mean" and not values.is_power_of_two(count):
        memory.rough = True
    if not scope.within(memory):
        return
    result = fresh((), dtype, memory)
    if scope.grad:
        result.node = record((one, other), (one, other), True, (True, True))
        if result.node is not None and not squared:
            result.node.second_fault = "uncertain"
    name = "mse_loss" if squared else "l1_loss"
    scope.make(f'F.{name}({one.name}, {other.name}, reduction="{reduction}")', result)


@action("products", 1)
def classify(scope, p):
    """Cross entropy, nll_loss or binary cross entropy with literal targets (the tolerance lane)."""
    if scope.exact:
        product(scope, p)
        return
    one = scope.pick(
        p[0], lambda tensor: len(tensor.shape) == 2 and 0 not in tensor.shape and floating(tensor)
    )
    if one is None:
        return
    old = one.memory
    memory = Memory(old.hi + 2, 0, old.dhi + 1, 0, True)
    if not scope.within(memory):
        return
    rows, classes = one.shape
    target = values.index_text((rows,), classes, p[1])
    choices = (
        f"F.cross_entropy({one.name}, {target})",
        f'F.cross_entropy({one.name}, {target}, reduction="sum")',
        f"F.nll_loss({one.name}.log_softmax(1), {target})",
        f"F.binary_cross_entropy_with_logits({one.name}, torch.ones_like({one.name}))",
    )
    result = fresh((), one.dtype, memory)
    if scope.grad:
        result.node = record((one,), (one,), True, (True,))
    scope.make(choices[p[2] % 4], result)


# Shapes and indexing (copies)


@action("shapes", 3)
def join(scope, p):
    """cat or stack of two tensors of one dtype."""
    one = scope.pick_float(p[0])
    shape, dtype = one.shape, one.dtype
    other = (
        scope.pick(p[1], lambda other: other.shape == shape and other.dtype == dtype and usable(other)) or one
    )
    if 2 * numel(shape) > MAX_NUMEL or len(shape) == 3:
        return
    if p[2] < 7 and shape:
        dim = p[3] % len(shape)
        size = (*shape[:dim], 2 * shape[dim], *shape[dim + 1 :])
        text = f"torch.cat([{one.name}, {other.name}]" + (f", dim={dim})" if dim or p[4] < 8 else ")")
    else:
        dim = p[3] % (len(shape) + 1)
        size = (*shape[:dim], 2, *shape[dim:])
        text = f"torch.stack([{one.name}, {other.name}]" + (f", dim={dim})" if dim else ")")
    memory = joined(scope, "add", 0, one, other, shape)
    if memory is None:
        return
    result = scope.result(size, memory, one, other)
    if scope.grad:
        result.node = record((one, other))
    scope.make(text, result)


@action("shapes", 2)
def copied(scope, p):
    """clone, contiguous, detach-and-clone: copies that keep the shape."""
    source = scope.pick_float(p[0])
    old = source.memory
    result = scope.result(source.shape, Memory(old.hi, old.lo, old.dhi, old.dlo, old.rough), source)
    if p[1] < 4:
        scope.make(f"{source.name}.detach().clone()", result)
        return
    if scope.grad:
        result.node = record((source,))
    strides = source.strides
    if p[1] < 8 and strides is not None and not values.is_contiguous(source.shape, strides):
        result.strides = values.contiguous(source.shape)
        scope.make(f"{source.name}.contiguous()", result)
        return
    scope.make(f"{source.name}.clone()", result)


@action("indexing", 3)
def gathered(scope, p):
    """index_select, gather, scatter or an advanced index, with repeats."""
    source = scope.pick(p[0], lambda tensor: floating(tensor) and tensor.shape and numel(tensor.shape))
    if source is None:
        return
    shape, name = source.shape, source.name
    size = shape[0]
    count = 2 + p[1] % 2
    kind = p[2] % 5
    indices = values.index_text((count,), size, p[3])
    rest = (count, *shape[1:])
    if kind == 0:
        text = f"{name}.index_select(0, {indices})"
    elif kind == 1:
        text = f"{name}[{indices}]"
    elif kind == 2:
        rest, text = (2, *shape[1:]), f"{name}[[0, {p[3] % size}]]"
    elif kind == 3:
        rest = shape
        text = f"{name}.gather(0, {values.index_text(shape, size, p[3])})"
    else:
        rest = shape
        index = values.index_text((1,) * len(shape), size, p[3])
        text = f"{name}.scatter(0, {index}, 2.0)"
    old = source.memory
    memory = Memory(max(old.hi, 1), old.lo, old.dhi + 2, old.dlo, old.rough)
    if numel(rest) > MAX_NUMEL or not scope.within(memory):
        return
    result = scope.result(rest, memory, source)
    result.strides = None if kind == 3 else result.strides
    if scope.grad:
        result.node = record((source,), (source,) if kind == 3 else (), True)
    scope.make(text, result)


@action("random", 2)
def dropout(scope, p):
    """dropout with a scale that is a power of two."""
    source = scope.pick(p[0], lambda tensor: floating(tensor) and numel(tensor.shape))
    if source is None:
        return
    old = source.memory
    memory = Memory(old.hi + 1, old.lo, old.dhi + 1, old.dlo, old.rough)
    if not scope.within(memory):
        return
    result = scope.result(source.shape, memory, source)
    if scope.grad and requires(source):
        result.node = Node((edge(source),), (), True, (False,))
    training = ("", ", training=True")[p[1] % 2]
    scope.make(f"F.dropout({source.name}, 0.5{training})", result)
