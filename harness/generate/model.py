"""What a generated program has alive, as far as the rules of autograd need it: no data, only bookkeeping.

*Memory* is a storage; with it go the bounds of the values in it. *Live* is a tensor. *Node* stands for
all graph nodes that one statement made. Bounds are powers of two: values are multiples of 2**lo below
2**hi, and the sum of the absolute derivatives of this tensor by any earlier element is a multiple of
2**dlo below 2**dhi. In the exact lane both widths stay below the bits of a float32, so no sum or product
rounds, in whatever order it is computed.

Where the model cannot know (a graph half freed by an error, gradients of gradients) it says so: `MAYBE`,
`freed = 2`.
"""

from harness.generate.values import FLOATS, Shape, contiguous

VALUE_BITS = 20  # a float32 has 24; the rest is room for accumulated `.grad`s and hooks
DERIVATIVE_BITS = 16
TOLERANCE_HI = 5  # magnitudes in the tolerance lane: cancellation stays below the absolute tolerance
CUT = 2
DEFAULT, NO_GRAD, MULTI, FUNCTION = range(4)  # creation kinds of views


class Memory:
    """A storage: bounds of its values and derivatives; rough when engines may differ in the last bit."""

    __slots__ = ("dhi", "dlo", "hi", "lo", "rough")

    def __init__(self, hi: int = 2, lo: int = -1, dhi: int = 0, dlo: int = 0, rough: bool = False):
        self.hi = hi
        self.lo = lo
        self.dhi = dhi
        self.dlo = dlo
        self.rough = rough

    def include(self, other: "Memory") -> None:
        """Widen the bounds by what is written into this storage."""
        self.hi = max(self.hi, other.hi)
        self.lo = min(self.lo, other.lo)
        self.dhi = max(self.dhi, other.dhi)
        self.dlo = min(self.dlo, other.dlo)
        self.rough = self.rough or other.rough


class Node:
    """The graph nodes of one statement: edges go to nodes, to leaves, or nowhere (None)."""

    __slots__ = ("depends", "edges", "fault", "freed", "frees", "gives", "saved", "second_fault")

    def __init__(self, edges, saved=(), frees=False, depends=()):
        self.edges = edges
        self.saved = saved  # (tensor or None, version cell, version when saved)
        self.frees = frees or bool(saved)
        self.freed = 0  # 1: certainly, 2: perhaps
        self.gives = True  # False: perhaps nothing arrives below
        # Per edge: the gradient involves a tensor that requires grad (True), only the incoming gradient
        # (False), or is fresh zeros (CUT).
        self.depends = depends
        self.fault = ""  # the kind of error its backward raises
        self.second_fault = ""  # the kind of error differentiating its backward raises


class Live:
    """A tensor that the program can name."""

    __slots__ = (
        "base",
        "dtype",
        "flag",
        "grad",
        "kind",
        "memory",
        "name",
        "node",
        "output",
        "retains",
        "seen",
        "shape",
        "strides",
        "version",
        "was_leaf",
    )

    def __init__(self, shape: Shape, dtype: str, memory: Memory, strides=()):
        self.name = ""
        self.shape = shape
        self.dtype = dtype
        self.memory = memory
        self.strides = strides  # None when the layout is not known
        self.version = [0]  # one cell, shared by views and detached tensors
        self.flag = False  # requires_grad as set on a leaf
        self.node: Node | None = None
        self.base: Live | None = None
        self.kind = DEFAULT
        self.seen = 0  # the version for which a view's node was made
        self.grad: Live | None = None  # None, MAYBE or the Live that `.grad` is
        self.retains = False
        self.was_leaf = False  # a graph may still end in it, so it must not become interior
        self.output = 0


MAYBE = Live((), "f", Memory())  # a `.grad` of which the model does not know whether it is there


def fresh(shape: Shape, dtype: str, memory: Memory) -> Live:
    """A contiguous tensor in its own storage."""
    return Live(shape, dtype, memory, contiguous(shape))


def requires(tensor: Live) -> bool:
    """`tensor.requires_grad`: its own flag or node, or its base's."""
    if tensor.flag or tensor.node is not None:
        return True
    base = tensor.base
    return base is not None and (base.flag or base.node is not None)


def is_stale(tensor: Live) -> bool:
    """Whether a view's grad_fn will be made anew when it is read next."""
    return tensor.base is not None and tensor.seen != tensor.version[0] and requires(tensor)


def usable(tensor: Live) -> bool:
    """Whether the grad_fn may be read: not for views of the forbidden kinds once their base was written."""
    base = tensor.base
    if base is None:
        return True
    if tensor.flag:
        return base.node is None and not base.flag
    return tensor.kind == DEFAULT or not is_stale(tensor)


def refresh(tensor: Live) -> Node | None:
    """`tensor.grad_fn`: a stale view gets a new node on top of its base's history."""
    if tensor.base is not None and is_stale(tensor) and not tensor.flag:
        base = tensor.base
        tensor.node = Node((edge(base),), depends=(False,))
        tensor.seen = tensor.version[0]
    return tensor.node


def is_leaf(tensor: Live) -> bool:
    """`tensor.is_leaf`, judged without reading it (reading would make a stale view's node)."""
    return tensor.node is None and not (is_stale(tensor) and not tensor.flag)


def floating(tensor: Live) -> bool:
    """A float tensor that any op may take."""
    return tensor.dtype in FLOATS and usable(tensor)


def tracked(tensor: Live) -> bool:
    """A tensor that requires grad and may be used."""
    return tensor.dtype in FLOATS and requires(tensor) and usable(tensor)


def leaf(tensor: Live) -> bool:
    """A leaf that requires grad by its own flag."""
    return tensor.flag and tensor.node is None and tensor.base is None


def edge(tensor: Live):
    """Where the gradient of an operand goes: its node, the leaf itself, or nowhere.

    Call it where the program uses the operand: it refreshes a stale view.
    """
    node = refresh(tensor)
    if node is not None:
        return node
    return tensor if tensor.flag else None


def peek(tensor: Live):
    """The edge of a tensor that the program does not read now."""
    base = tensor.base
    if base is not None and not tensor.flag and is_stale(tensor):
        return Node((base.node if base.node is not None else base if base.flag else None,), depends=(False,))
    return tensor.node if tensor.node is not None else tensor if tensor.flag else None


def saved(tensor: Live):
    """The entry of a saved tensor; a saved interior tensor also must not be detached in place."""
    return (tensor if tensor.node is not None else None, tensor.version, tensor.version[0])


def record(operands, saves=(), frees=False, depends=None) -> Node | None:
    """The node of an op over these operands, None when none requires grad."""
    for tensor in operands:
        if requires(tensor):
            break
    else:
        return None
    edges = tuple([edge(tensor) if tensor.dtype in FLOATS else None for tensor in operands])
    entries = tuple([saved(tensor) for tensor in saves]) if saves else ()
    return Node(edges, entries, frees, depends or (False,) * len(edges))


def write_refused(target: Live, needs_grad: bool) -> str:
    """The kind of error an in-place call on this tensor raises, "" when it is allowed."""
    if not needs_grad:
        return ""
    base = target.base
    if base is not None and target.kind != DEFAULT:
        return "view-inplace"
    if target.node is None and target.was_leaf or base is not None and base.node is None and base.was_leaf:
        return "leaf-inplace"
    if target.node is None and requires(
        target
    ):  # a stale view counts as a leaf here until its grad_fn is read
        return "leaf-inplace"
    if base is not None and base.node is None and requires(target):
        return "leaf-inplace"
    return ""


def written(target: Live, others=(), saves=(), frees=False, depends=None, needs_grad=False) -> None:
    """An in-place call: bump the version; when it is recorded, splice it into the base's history."""
    if not needs_grad:
        target.version[0] += 1
        return
    base = target.base
    old = edge(target) if base is None else edge(base)
    edges = (old, *[edge(tensor) if tensor.dtype in FLOATS else None for tensor in others])
    entries = tuple([saved(tensor) for tensor in saves if tensor is not target])
    target.version[0] += 1
    if target in saves:
        entries += ((None, target.version, target.version[0]),)
    depends = depends or (False,) * len(edges)
    node = Node(edges, entries, frees or base is not None, depends)
    if base is None:
        target.node = node
        target.flag = False
    else:
        base.node = node
        base.flag = False
        target.node = Node((node,), depends=(False,))
        target.seen = target.version[0]


def reached(roots, targets=None) -> tuple[dict, dict]:
    """The nodes that a run from these roots visits and the leaves it fills.

    Each maps to whether its gradient would require grad under create_graph. With targets (`inputs=`), only
    what leads to one of them.
    """
    edges = [peek(root) for root in roots]
    wanted = None if targets is None else _leading_to(edges, targets)
    nodes: dict = {}
    leaves: dict = {}
    stack = [(at, False) for at in edges]
    while stack:
        at, carries = stack.pop()
        if at is None:
            continue
        if at.__class__ is Live:
            if wanted is None or at in wanted:
                leaves[at] = carries or leaves.get(at, False)
            continue
        if wanted is not None and at not in wanted:
            continue
        if at in nodes and (nodes[at] or not carries):
            continue
        nodes[at] = carries
        for below, depends in zip(at.edges, at.depends, strict=True):
            if below is not None:
                stack.append((below, depends != CUT and (carries or depends)))
    return nodes, leaves


def _leading_to(edges, targets) -> dict:
    """What a run to these targets visits; a target's own node only if something below it is asked."""
    wanted: dict = {}
    marks = set(targets)

    def visit(at) -> bool:
        if at in wanted:
            return wanted[at] or at in marks
        if at.__class__ is Live:
            wanted[at] = at in marks
            return wanted[at]
        below = [visit(child) for child in at.edges if child is not None]
        wanted[at] = any(below)
        return wanted[at] or at in marks

    for at in edges:
        if at is not None:
            visit(at)
    return {at: True for at, leads in wanted.items() if leads}


def obstacle(nodes, create_graph: bool = False) -> str:
    """The kind of error a run over these nodes raises, "" for none, "uncertain" if the model cannot tell."""
    kinds = set()
    for node in nodes:
        if node.fault:
            kinds.add(node.fault)
        if node.second_fault and create_graph:
            kinds.add("uncertain")
        if node.freed and node.frees:
            kinds.add("freed-graph" if node.freed == 1 else "uncertain")
        for tensor, cell, version in node.saved:
            if cell[0] != version:
                kinds.add("version-mismatch")
            elif tensor is not None and tensor.node is None:
                kinds.add("saved-tensor")
    return "" if not kinds else kinds.pop() if len(kinds) == 1 else "uncertain"


def free(nodes, certain: int = 1) -> None:
    """A run without retain_graph went over these nodes."""
    for node in nodes:
        if node.freed != 1:
            node.freed = certain


def accumulate(leaf: Live, memory: Memory, create_graph: bool, node: Node | None) -> None:
    """A gradient arrives at `.grad`: the first is stored, later ones are added (in place or not)."""
    old = leaf.grad
    if old is MAYBE:
        return
    if old is not None and not create_graph:
        old.version[0] += 1
        old.memory.include(memory)
        old.memory.hi += 1
        return
    bounds = Memory(memory.hi + (old is not None), memory.lo, memory.dhi, memory.dlo, memory.rough)
    if old is not None:
        bounds.include(old.memory)
    new = fresh(leaf.shape, leaf.dtype, bounds)
    new.strides = leaf.strides if leaf.strides is not None and 0 not in leaf.strides else None
    new.node = node
    leaf.grad = new
