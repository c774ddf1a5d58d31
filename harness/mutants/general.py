"""General mutants: whatever small change the operators of Cosmic Ray can make in a module of refgrad.

The mutants of the classes were thought of by somebody; these were not. Where one survives every program and
every case, `survivors.toml` says why: it names the changed line in the function that it stands in, as it is
and as it becomes, so that an entry holds while lines move. Annotations are left alone: nothing reads them.
"""

import ast
import importlib.util
import re
import tomllib
from collections.abc import Iterator
from difflib import SequenceMatcher
from functools import cache
from pathlib import Path
from typing import NamedTuple

from harness.mutants import TITLES, Mutant

BLANKS = re.compile(r"(?<=[\[(]) +| +(?=[\])])")
REASONS = Path(__file__).with_name("survivors.toml")
NEGATIONS = {"Eq": "NotEq", "Lt": "GtE", "Gt": "LtE", "Is": "IsNot"}
ONE_WAY = {getattr(ast, one): getattr(ast, other) for one, other in NEGATIONS.items()}
OPPOSITES = ONE_WAY | {other: one for one, other in ONE_WAY.items()}
OPERATORS = (
    "AddNot",
    "ReplaceUnaryOperator_Delete_Not",
    "ReplaceUnaryOperator_USub_UAdd",
    "ReplaceTrueWithFalse",
    "ReplaceFalseWithTrue",
    "ReplaceAndWithOr",
    "ReplaceOrWithAnd",
    *(f"ReplaceComparisonOperator_{one}_{other}" for one, other in NEGATIONS.items()),
    *(f"ReplaceComparisonOperator_{other}_{one}" for one, other in NEGATIONS.items()),
    "ReplaceBinaryOperator_Add_Sub",
    "ReplaceBinaryOperator_Sub_Add",
    "ReplaceBinaryOperator_BitOr_BitAnd",
    "NumberReplacer",
    "ZeroIterationForLoop",
    "ReplaceBreakWithContinue",
    "ReplaceContinueWithBreak",
)


class Change(NamedTuple):
    """What names a general mutant: the function, and the changed lines before and after."""

    module: str
    function: str
    before: str
    after: str


class NoOperators(Exception):
    """Cosmic Ray is not installed."""


def general_mutants(module: str) -> list[Mutant]:
    """The mutants of a module, `engine` or `autograd.function`, each change once.

    Raises:
        NoOperators: Cosmic Ray is not installed.
        ModuleNotFoundError: there is no such module.
    """
    spec = importlib.util.find_spec(f"refgrad.{module}")
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError(f"there is no module refgrad.{module}")
    source = Path(spec.origin).read_text(encoding="utf-8")
    group = f"refgrad/{module.replace('.', '/')}.py"
    TITLES[group] = group
    found: list[Mutant] = []
    known = {None, meaning(source)}
    for text in mutated(source):
        if (does := meaning(text)) not in known:
            known.add(does)
            change = change_between(module, source, text)
            name = f"{module}-{len(found) + 1}"
            wrong = f"In `{change.function}`, `{change.before}` becomes `{change.after}`."
            found.append(Mutant(name, group, wrong, module, source, text, reasons().get(change, "")))
    return found


def mutated(source: str) -> Iterator[str]:
    """The texts that one application of one operator gives."""
    try:
        from cosmic_ray.ast import ast_nodes, get_ast
        from cosmic_ray.mutating import mutate_code
        from cosmic_ray.plugins import get_operator
    except ImportError:
        raise NoOperators("general mutants need Cosmic Ray: pip install 'refgrad[mutation]'") from None
    nodes = list(ast_nodes(get_ast(source)))
    for name in OPERATORS:
        operator = get_operator(f"core/{name}")()
        places = sum(len(list(operator.mutation_positions(node))) for node in nodes)
        for occurrence in range(places):
            text = mutate_code(source, operator, occurrence)
            if text is not None:
                yield text


class Plain(ast.NodeTransformer):
    """Writes the negation of a comparison as the opposite comparison: two operators make one mutant of it."""

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        self.generic_visit(node)
        inner = node.operand
        if isinstance(node.op, ast.Not) and isinstance(inner, ast.Compare) and len(inner.ops) == 1:
            opposite = OPPOSITES.get(type(inner.ops[0]))
            if opposite is not None:
                return ast.copy_location(ast.Compare(inner.left, [opposite()], inner.comparators), node)
        return node


@cache
def meaning(source: str) -> str | None:
    """What a text does, annotations apart, `not a == b` being `a != b`; None when it is no Python."""
    try:
        tree = Plain().visit(ast.parse(source))
    except SyntaxError:
        return None
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            node.returns = None
        elif isinstance(node, (ast.arg, ast.AnnAssign)):
            node.annotation = None
    return ast.dump(tree)


def change_between(module: str, source: str, text: str) -> Change:
    """The changed lines, and the innermost function around them."""
    old, new = source.splitlines(), text.splitlines()
    spans = [span for span in SequenceMatcher(None, old, new, False).get_opcodes() if span[0] != "equal"]
    first, last = spans[0][1], max(spans[-1][2], spans[0][1] + 1)
    end = len(new) - (len(old) - last)
    function = "module"
    for node in ast.walk(ast.parse(source)):  # outer ones come first
        if isinstance(node, ast.FunctionDef) and node.lineno <= first + 1 <= (node.end_lineno or 0):
            function = node.name
    return Change(module, function, one_line(old[first:last]), one_line(new[first:end]))


def one_line(lines: list[str]) -> str:
    """Lines as one, without their indentation and the blanks that an operator leaves in brackets."""
    return BLANKS.sub("", " ".join(line.strip() for line in lines))


@cache
def reasons() -> dict[Change, str]:
    """Why mutants survive, as `survivors.toml` says: one reason for one or several changes."""
    table = tomllib.loads(REASONS.read_text(encoding="utf-8"))
    return {
        Change(entry["module"], entry["function"], before, after): entry["reason"]
        for entry in table.get("survivor", [])
        for before, after in entry["changes"]
    }
