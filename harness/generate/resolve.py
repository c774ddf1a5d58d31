"""Intents to statements: a scope knows what is alive at each point, so every list of intents is a valid
program.

A pick is a small number that knows nothing of the state: it counts back from the newest tensor, modulo
what is alive, and goes on to the next tensor that fits. Deleting any intent therefore leaves a valid
program.
"""

from collections.abc import Callable, Iterable
from typing import NamedTuple

from harness.generate.intents import ACTIONS, Step
from harness.generate.model import (
    DEFAULT,
    DERIVATIVE_BITS,
    MAYBE,
    NO_GRAD,
    TOLERANCE_HI,
    VALUE_BITS,
    Live,
    Memory,
    Node,
    accumulate,
    edge,
    floating,
    free,
    fresh,
    leaf,
    obstacle,
    reached,
    refresh,
    requires,
    tracked,
)
from harness.generate.values import FAMILIES, NAMES, Shape, contiguous, is_contiguous, tensor_text
from harness.program import Program

# Recent tensors are picked more often: graphs grow deep, and equal statements recur, so that their compiled
# form is in the cache.
KEPT_LEAVES = 3  # leaves that keep their names as long as others can be given up
RECENT = (0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 3, 4, 5, 7)


class Settings(NamedTuple):
    """What holds for a whole program: the lane, the family of shapes, the main float dtype."""

    exact: bool = True
    family: int = 0
    dtype: str = "f"


class Plan(NamedTuple):
    """A backward run that is known to succeed: what it visits, and which leaves it fills."""

    nodes: dict
    leaves: dict
    memory: Memory
    roots: list


class Scope:
    """The state of a program being written: statements so far, tensors alive, grad mode, open blocks."""

    def __init__(self, settings: Settings):
        self.exact = settings.exact
        self.shapes = FAMILIES[settings.family % len(FAMILIES)]
        self.dtype = settings.dtype
        self.top_hi = TOLERANCE_HI if settings.dtype == "f" else TOLERANCE_HI + 3
        self.lines: list[str] = []
        self.out = self.lines
        self.live: list[Live] = []
        self.names: dict[str, Live] = {}
        self.letters = NAMES
        self.defined: set[str] = set()
        self.blocks: list[tuple] = []
        self.grad = True
        self.handles: list[str] = []
        self.hooked: Live | None = None  # the tensor that got the last hook
        self.doublings = 0
        self.planted = False
        self.forgets = False  # a Function returns no gradient, so a hook may be handed None
        self.hooks_need_gradients = False

    # Statements and names

    def emit(self, text: str) -> None:
        """Add one statement to the program or to the open block."""
        self.out.append(text)

    def fresh_name(self) -> str:
        """The next letter that is free, or the one that was bound longest ago, but for the last few leaves.

        Of a leaf that has no name any more nobody sees the grad.
        """
        names = self.names
        letters = self.letters
        if len(names) < len(letters):
            for name in letters:
                if name not in names:
                    return name
        kept = [name for name, tensor in names.items() if tensor.flag][-KEPT_LEAVES:]
        for name in names:
            if name not in kept:
                return name
        return next(iter(names))

    def bind(self, name: str, tensor: Live) -> None:
        """From here on the name means this tensor."""
        old = self.names.pop(name, None)
        if old is not None and old.name == name and old in self.live:
            self.live.remove(old)
        self.names[name] = tensor
        tensor.name = name
        self.live.append(tensor)

    def make(self, text: str, tensor: Live) -> Live:
        """Assign the value of an expression to a new name."""
        name = self.fresh_name()
        self.out.append(f"{name} = {text}")
        self.bind(name, tensor)
        return tensor

    def define(self, name: str, text: str) -> None:
        """Emit a class or a function once, at the top level."""
        if name not in self.defined:
            self.defined.add(name)
            self.lines.append(text)

    def forget(self, tensor: Live) -> None:
        """The name is gone."""
        self.live.remove(tensor)
        self.names.pop(tensor.name, None)

    # Picking

    def pick(self, number: int, fits: Callable[[Live], bool]) -> Live | None:
        """The tensor that many places back from the newest, or the next older one that fits."""
        live = self.live
        count = len(live)
        at = -1 - RECENT[number & 15] % count if count else 0
        for _ in range(count):
            tensor = live[at]
            if fits(tensor):
                return tensor
            at -= 1
            if at < -count:
                at = -1
        return None

    def pick_float(self, number: int) -> Live:
        """A usable float tensor, mostly one that requires grad; made when there is none."""
        if number & 3:
            return self.pick(number, tracked) or self.pick(number, floating) or self.leaf(number, True)
        return self.pick(number, floating) or self.leaf(number, False)

    def pick_tracked(self, number: int) -> Live:
        """A usable tensor that requires grad; made when there is none."""
        return self.pick(number, tracked) or self.leaf(number, True)

    def pick_leaf(self, number: int) -> Live:
        """A leaf that requires grad; made when there is none."""
        return self.pick(number, leaf) or self.leaf(number, True)

    def leaf(self, number: int, requires_grad: bool, shape: Shape | None = None) -> Live:
        """A new leaf of literal numbers."""
        shape = self.shapes[number % 2] if shape is None else shape
        tensor = fresh(shape, self.dtype, Memory())
        tensor.flag = requires_grad
        return self.make(tensor_text(shape, number, self.dtype, requires_grad), tensor)

    # Blocks

    def open(self, header: str, grad: bool, count: int) -> None:
        """Begin a `with` block around the next so many intents."""
        if len(self.blocks) < 2:
            self.blocks.append((header, self.out, self.grad, [count]))
            self.out = []
            self.grad = grad

    def open_call(self, grad: bool, count: int) -> None:
        """`set_grad_enabled` as a plain call: holds for the next so many intents."""
        if not self.blocks:
            self.emit(f"torch.set_grad_enabled({grad})")
            self.blocks.append(("", self.out, self.grad, [count]))
            self.grad = grad

    def close(self) -> None:
        """End the innermost block; an empty one leaves no trace."""
        header, outer, grad, _ = self.blocks.pop()
        body, self.out = self.out, outer
        if not header:
            self.emit(f"torch.set_grad_enabled({grad})")
        elif body:
            self.emit(header + "".join(["\n    " + text.replace("\n", "\n    ") for text in body]))
        self.grad = grad

    def top_level(self) -> None:
        """Close every block."""
        while self.blocks:
            self.close()

    def tick(self) -> None:
        """One intent is done: count down the open blocks."""
        while self.blocks:
            left = self.blocks[-1][3]
            left[0] -= 1
            if left[0] >= 0:
                return
            self.close()

    # Bounds

    def within(self, memory: Memory) -> bool:
        """Whether results with these bounds are safe in the program's lane; also decides what is rough."""
        width = memory.hi - memory.lo
        if self.exact:
            return width <= VALUE_BITS and memory.dhi - memory.dlo <= DERIVATIVE_BITS
        if width > VALUE_BITS:
            memory.rough = True
        return memory.hi <= self.top_hi and memory.dhi <= self.top_hi

    def elementwise(self, op, memory: Memory) -> Memory | None:
        """The bounds of an elementwise op's result, None when the op is out of bounds there."""
        k = op.k
        if (op.kinked and memory.rough) or memory.hi > op.max_hi:
            return None
        hi = k * memory.hi + op.up
        slope = 0 if op.shift else max(0, (k - 1) * memory.hi + op.up + (k > 1))
        steep = 0 if op.shift or k == 0 else (k - 1) * memory.lo - op.down
        rough = memory.rough or k == 0 or op.depends and not op.kinked and k == 1 and not self.exact
        new = Memory(hi, k * memory.lo - op.down, memory.dhi + slope, memory.dlo + steep, rough)
        return new if self.within(new) else None

    # Results

    def layout(self, shape: Shape, *operands: Live):
        """Contiguous when every operand is, else not known."""
        for operand in operands:
            strides = operand.strides
            if strides is None or not is_contiguous(operand.shape, strides):
                return None
        return contiguous(shape)

    def result(self, shape: Shape, memory: Memory, *operands: Live, dtype: str = "") -> Live:
        """A new tensor in its own storage, computed from operands."""
        return Live(shape, dtype or operands[0].dtype, memory, self.layout(shape, *operands))

    # Backward

    def plan(self, roots: list[Live], targets=None, create_graph: bool = False) -> Plan | None:
        """What running backward from these roots does, None when it would raise or the model cannot tell."""
        nodes, leaves = reached(roots, targets)
        if obstacle(nodes, create_graph):
            return None
        memory = roots[0].memory
        if len(roots) > 1:
            memory = Memory(0, 0)
            for root in roots:
                memory.include(root.memory)
        bound = Memory(memory.dhi + 2, memory.dlo, 2 * memory.dhi, 2 * memory.dlo, not self.exact)
        if create_graph and not self.within(bound):
            return None
        return Plan(nodes, leaves, bound, roots)

    def ran(self, plan: Plan, retain: bool = False, create_graph: bool = False, fill: bool = True) -> None:
        """The run happened: free what it freed and fill `.grad`."""
        nodes, leaves, memory, roots = plan
        for root in roots:
            refresh(root)
        second = Node(tuple(nodes), self._saved(nodes), True, (True,) * len(nodes)) if create_graph else None
        if second is not None:
            second.gives = False
        unsure = any(not node.gives for node in nodes)
        if not retain and not create_graph:
            free(nodes, 2 if unsure else 1)
        if not fill:
            return
        for target, carries in leaves.items():
            if target.flag and target.node is None:
                if unsure and target.grad is None:
                    target.grad = MAYBE
                else:
                    accumulate(target, memory, create_graph, second if carries else None)
        for tensor in self.live:
            if tensor.retains and tensor.node in nodes:
                if tensor.base is not None or unsure or tensor.output:
                    tensor.grad = MAYBE
                else:
                    tensor.grad = None
                    accumulate(tensor, memory, create_graph, second if nodes[tensor.node] else None)

    @staticmethod
    def _saved(nodes):
        return tuple([entry for node in nodes for entry in node.saved])

    def gradient_node(self, plan: Plan) -> Node:
        """The history of a gradient taken with create_graph."""
        nodes = plan.nodes
        node = Node(tuple(nodes), self._saved(nodes), True, (True,) * len(nodes))
        node.gives = False
        return node

    def broken(self, roots: list[Live]) -> None:
        """A run from these roots raised: what it had done by then is not known."""
        for root in roots:
            refresh(root)
        nodes, leaves = reached(roots)
        free(nodes, 2)
        for target in leaves:
            if target.grad is None:
                target.grad = MAYBE
        for tensor in self.live:
            if tensor.retains and tensor.node in nodes:
                tensor.grad = MAYBE

    # Views

    def view(
        self, source: Live, shape: Shape, strides, kind: int = DEFAULT, node: Node | None = None
    ) -> Live:
        """A view of a tensor: shares its storage and version; a view of a view has the root as base."""
        tensor = Live(shape, source.dtype, source.memory, strides)
        tensor.version = source.version
        tensor.base = source.base if source.base is not None else source
        if not self.grad:
            kind = NO_GRAD
        elif source.base is not None and source.kind != DEFAULT:
            kind = source.kind
        if self.grad and requires(source):
            at = edge(source)
            tensor.node = node or Node((at,), depends=(False,))
        tensor.kind = kind
        tensor.seen = source.version[0]
        return tensor

    def finish(self) -> list[str]:
        """The statements of the program."""
        self.top_level()
        imports = ["import torch"]
        if any("F." in line for line in self.lines):
            imports.append("import torch.nn.functional as F")
        return imports + self.lines


def resolve(intents: Iterable[Step], settings: Settings) -> list[str]:
    """The statements that a list of intents comes to."""
    scope = Scope(settings)
    for action, picks in intents:
        ACTIONS[action].apply(scope, picks)
        if scope.blocks:
            scope.tick()
    return scope.finish()


def written_by(intents: Iterable[Step], settings: Settings) -> list[str]:
    """The actions among a program's intents that wrote something (a block counts as soon as it is open)."""
    scope = Scope(settings)
    names = []
    for action, picks in intents:
        before = len(scope.lines), len(scope.out), len(scope.blocks)
        ACTIONS[action].apply(scope, picks)
        if before != (len(scope.lines), len(scope.out), len(scope.blocks)):
            names.append(action)
        if scope.blocks:
            scope.tick()
    return names


def program(intents: Iterable[Step], settings: Settings, id: str) -> Program:
    """The program that a list of intents comes to."""
    return Program.from_statements(resolve(intents, settings), id, is_exact=settings.exact)
