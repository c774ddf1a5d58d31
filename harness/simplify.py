"""Simpler texts for a statement: blocks opened, expressions cut down to a part, arguments left out.

Nothing here knows what a statement means; every text is only a proposal, to be tried. A proposal is a list
of statement texts that stand for the one, more drastic ones first, always with fewer syntax nodes, so that
trying them again and again comes to an end.
"""

import ast
import re
from collections.abc import Iterator, Sequence
from typing import Any, TypeGuard

from harness.finding import PLAIN_KINDS, TensorSeen
from harness.program import called_in, words

MODULES = frozenset(("torch", "F", "nn", "np", "math", "copy"))
BLOCKS = (ast.With, ast.For, ast.While, ast.If, ast.Try)
MAKERS = words(
    "tensor zeros ones full empty arange linspace logspace eye rand randn randint randperm zeros_like"
    " ones_like full_like rand_like randn_like empty_like as_tensor from_numpy scalar_tensor complex"
)
NUMBERS_SHOWN = 24  # a larger tensor is filled with one number

Place = tuple[ast.AST, str, int | None]


def proposals(text: str) -> Iterator[list[str]]:
    """Texts to try instead of a statement."""
    try:
        tree = ast.parse(text)
    except SyntaxError:
        return
    size = count(tree)
    seen = {text}
    for texts in (*opened(tree), *([variant] for variant in variants(tree))):
        joined = "\n".join(texts)
        if joined not in seen and is_simpler(joined, size):
            seen.add(joined)
            yield texts


def is_simpler(text: str, size: int) -> bool:
    try:
        return count(ast.parse(text)) < size
    except SyntaxError:
        return False


def count(tree: ast.AST) -> int:
    return sum(1 for _ in ast.walk(tree))


def opened(tree: ast.Module) -> Iterator[list[str]]:
    """The statements inside of a block, in its place."""
    node = tree.body[0] if tree.body else None
    if isinstance(node, BLOCKS):
        yield [ast.unparse(inner) for inner in node.body]
        if isinstance(node, ast.Try):
            yield [ast.unparse(inner) for inner in (*node.body, *node.finalbody)]


def variants(tree: ast.Module) -> Iterator[str]:
    """The statement with one node of it replaced or left out, the outermost first."""
    for holder, name, at in list(places(tree)):
        value = getattr(holder, name)
        node = value if at is None else value[at]
        if at is not None and isinstance(value, list) and may_lose(holder, name, value, node):
            kept = value[:]
            del value[at]
            yield ast.unparse(tree)
            value[:] = kept
        for other in replacements(node, holder, name):
            put(holder, name, at, other)
            yield ast.unparse(tree)
            put(holder, name, at, node)


def put(holder: ast.AST, name: str, at: int | None, node: ast.AST | list[ast.stmt]) -> None:
    """Set a field, or the place of one node in a list; a list of statements takes its place in the list."""
    if at is None:
        setattr(holder, name, node)
    else:
        getattr(holder, name)[at] = node


def places(tree: ast.AST) -> Iterator[Place]:
    """Where each node stands, breadth first; what is inside of literal data is data, not structure."""
    queue: list[ast.AST] = [tree]
    for holder in queue:
        if isinstance(holder, (ast.List, ast.Tuple)) and is_data(holder):
            continue
        for name, value in ast.iter_fields(holder):
            if isinstance(value, ast.AST):
                yield holder, name, None
                queue.append(value)
            elif isinstance(value, list):
                for at, node in enumerate(value):
                    if isinstance(node, ast.AST):
                        yield holder, name, at
                        queue.append(node)


def is_data(node: ast.AST) -> bool:
    """A literal of numbers, nested or not."""
    if isinstance(node, (ast.List, ast.Tuple)):
        return all(map(is_data, node.elts))
    if isinstance(node, ast.UnaryOp):
        return is_data(node.operand)
    return isinstance(node, ast.Constant) and not isinstance(node.value, str)


def may_lose(holder: ast.AST, name: str, value: list, node: ast.AST) -> bool:
    """Whether a list of nodes makes sense without this one."""
    if isinstance(holder, ast.Call):
        return name in ("args", "keywords")
    if name == "body" and isinstance(node, ast.stmt):
        return len(value) > 1 and not isinstance(holder, ast.Module)
    if name in ("items", "handlers"):
        return len(value) > 1
    if isinstance(holder, (ast.Tuple, ast.List)) and name == "elts":
        return len(value) > 1 and isinstance(holder.ctx, ast.Load)
    if name == "decorator_list":
        return not (isinstance(node, ast.Name) and node.id in ("staticmethod", "classmethod"))
    return name in ("orelse", "finalbody") and not isinstance(holder, ast.Try)


def replacements(node: ast.AST, holder: ast.AST, name: str) -> Iterator[ast.AST]:
    """Nodes that can stand where this one does."""
    if isinstance(node, ast.stmt):
        if isinstance(node, BLOCKS) and not isinstance(holder, ast.Module):
            yield ast.If(ast.Constant(True), node.body, []) if len(node.body) > 1 else node.body[0]
        elif name == "body" and not isinstance(holder, ast.Module) and not isinstance(node, ast.Pass):
            yield ast.Pass()
        return
    if not isinstance(node, ast.expr) or is_target(node):
        return
    if isinstance(node, ast.Call):
        if isinstance(node.func, ast.Attribute) and not is_module(node.func.value):
            yield node.func.value
        yield from (argument for argument in node.args if not is_literal(argument))
    elif isinstance(node, ast.BinOp):
        yield from (part for part in (node.left, node.right) if not is_literal(part))
    elif isinstance(node, ast.UnaryOp) and not is_literal(node.operand):
        yield node.operand
    elif isinstance(node, (ast.Subscript, ast.Starred)):
        yield node.value
    elif isinstance(node, ast.IfExp):
        yield from (node.body, node.orelse)
    elif isinstance(node, ast.Lambda) and not isinstance(node.body, ast.Constant):
        yield ast.Lambda(node.args, ast.Constant(None))
    elif isinstance(node, (ast.Tuple, ast.List)) and len(node.elts) == 1 and not is_data(node):
        yield node.elts[0]


def is_target(node: ast.expr) -> bool:
    return not isinstance(getattr(node, "ctx", ast.Load()), ast.Load)


def is_module(node: ast.expr) -> bool:
    """Whether a dotted name begins with a module: `torch.autograd`."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, ast.Name) and node.id in MODULES


def is_literal(node: ast.expr) -> bool:
    return is_data(node) or isinstance(node, ast.Constant)


# Plain ops ---------------------------------------------------------------------------------------------

PLAIN, PLAIN_SAVING, PLAIN_VIEW, PLAIN_INPLACE = PLAIN_KINDS
VIEWS = words(
    "view view_as reshape t transpose permute expand expand_as squeeze unsqueeze select narrow flatten"
    " unflatten diagonal swapaxes movedim as_strided unfold split chunk unbind real imag detach T mT H"
)


def plainer(text: str, operands: Sequence[str]) -> Iterator[str]:
    """A statement that does the plainest thing of its sort to one of its operands: where that keeps what is
    found, the op of the statement has nothing to do with it."""
    try:
        node = ast.parse(text).body[0]
    except (SyntaxError, IndexError):
        return
    names = [name for name in operands if re.search(rf"(?<![\w.]){name}\b", text)]
    if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
        calls = called_in(text)
        if calls in ([PLAIN], [PLAIN_VIEW]):
            return
        target = node.targets[0].id
        for name in names:
            yield f"{target} = {name}.{PLAIN}()"
            if calls != [PLAIN_SAVING]:
                yield f"{target} = {name}.{PLAIN_SAVING}()"
            if VIEWS.intersection(calls) or isinstance(node.value, (ast.Subscript, ast.Attribute)):
                yield f"{target} = {name}.{PLAIN_VIEW}({name})"
    elif isinstance(node, (ast.Expr, ast.AugAssign, ast.Assign)) and writes_in_place(node):
        for name in names:
            if text != (plain := f"{name}.{PLAIN_INPLACE}(2.0)"):
                yield plain


def writes_in_place(node: ast.stmt) -> bool:
    """Whether a statement is an in-place call, an augmented assignment or an index assignment."""
    if isinstance(node, ast.AugAssign):
        return True
    if isinstance(node, ast.Assign):
        return isinstance(node.targets[0], ast.Subscript)
    value = node.value if isinstance(node, ast.Expr) else None
    return is_method(value) and value.func.attr.endswith("_") and value.func.attr != "requires_grad_"


# Leaves --------------------------------------------------------------------------------------------


def leaf_text(seen: TensorSeen, data: object = None) -> str:
    """A call that makes a tensor of this dtype, shape, data and requires_grad."""
    data = seen.data if data is None else data
    wanted = [] if seen.dtype in ("float32", "int64", "bool") else [f"dtype=torch.{seen.dtype}"]
    elements = numel(seen.shape)
    if 0 < elements <= NUMBERS_SHOWN:
        call = f"torch.tensor({literal(data)}"
    else:
        call = f"torch.ones({', '.join(map(str, seen.shape))}"
        wanted = [] if seen.dtype == "float32" else [f"dtype=torch.{seen.dtype}"]
    if seen.requires_grad:
        wanted.append("requires_grad=True")
    return ", ".join([call, *wanted]) + ")"


def literal(data: object) -> str:
    """Nested data as Python text."""
    if isinstance(data, (list, tuple)):
        return "[" + ", ".join(map(literal, data)) + "]"
    text = repr(data)
    return f'float("{text}")' if text in ("inf", "-inf", "nan") else text


def numel(shape: tuple[int, ...]) -> int:
    product = 1
    for size in shape:
        product *= size
    return product


def plain_data(dtype: str, shape: tuple[int, ...], start: int = 0) -> object:
    """Small numbers that tell elements apart: 1, 2, 3, ..."""
    if not shape:
        number = start + 1
        if dtype == "bool":
            return number % 2 == 1
        return number if "int" in dtype else float(number)
    step = numel(shape[1:])
    return [plain_data(dtype, shape[1:], start + i * step) for i in range(shape[0])]


def is_made(text: str) -> str | None:
    """The variable that a statement makes from nothing but literals; None for any other statement."""
    try:
        node = ast.parse(text).body[0]
    except (SyntaxError, IndexError):
        return None
    if not (isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)):
        return None
    names = {inner.id for inner in ast.walk(node.value) if isinstance(inner, ast.Name)}
    calls = {inner.func.attr for inner in ast.walk(node.value) if is_method(inner)}
    return node.targets[0].id if names == {"torch"} and calls and calls <= MAKERS else None


def is_method(node: ast.AST | None) -> TypeGuard[Any]:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)


# Names ---------------------------------------------------------------------------------------------


def renamed(text: str, old: str, new: str) -> str:
    """The text with a variable under another name."""
    return re.sub(rf"(?<![\w.\"']){re.escape(old)}(?![\w\"'])(?!\s*=[^=])", new, text)
