"""Programs: torch-style text, one top-level statement a step.

Words used by the whole harness, from here upwards:

program     a plain Python script that begins with `import torch` and runs by itself; a case file, a generated
            program, a reproducer and a bug report are all this one thing
statement   one top-level Python statement of a program, with its text, its line and its `# raises KIND` mark
step        the execution of one statement by one engine
engine      a namespace that stands for `torch`: PyTorch itself, refgrad, or any module that imitates it
subject     what is observed: a variable (`x`), a tensor inside one (`xs[0]`, `net.weight`), `_` (the value of
            a bare expression), or the step itself (`raises`, `printed`, `warnings`)
fact        one plain value read from a subject, with its own rule for agreement
trace       the facts of a run, step by step; a fact that is not recorded at a step is what it was before
difference  one fact, at one step, of one subject, in which two traces disagree
signature   what groups differences: engine, phase, fact, kind of statement, kind of error
verdict     what comparing an engine on a program came to
lane        how exactly numbers must agree: bit for bit (*exact*), or within PyTorch's default tolerances
case        a program in a file of `cases/`, with front matter that says what it shows
"""

import ast
import os
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from types import CodeType
from typing import Any

GUARDS = ("__name__ == '__main__'", "'__main__' == __name__")
MARK = re.compile(r"#\s*raises\s+([\w.-]+)")
KEY = re.compile(r"([a-z][a-z_-]*):(?:\s+(.*))?$")


def words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Calls that run backward; `jvp` and its kin run it too.
BACKWARD_CALLS = words(
    "backward grad jacobian hessian vjp jvp hvp vhp jacrev jacfwd gradcheck gradgradcheck grad_and_value"
)
# Calls that change tensors nobody mentions: optimizers, custom Functions, all that may call back.
REACHING_CALLS = BACKWARD_CALLS | words("step zero_grad apply forward checkpoint run join start")
# Calls that change nothing in memory but something that is observed about the tensor they are called on.
METADATA_CALLS = words("retain_grad append")
PURE_NAMES = words(
    "print float int bool complex len str repr type tuple list dict set sorted isinstance hasattr getattr"
    " range zip id enumerate sum abs max min round any all"
)


class ProgramError(Exception):
    """A program that cannot be read; shows where and what to do."""

    def __init__(self, path: str, line: int, problem: str):
        super().__init__(f"{path}:{line}: {problem}" if line else f"{path}: {problem}")
        self.path, self.line, self.problem = path, line, problem


class Compiled:
    """A statement made ready to run, and what its text tells about it; made once per text."""

    __slots__ = (
        "text",
        "code",
        "error",
        "is_expression",
        "binds",
        "loads",
        "is_build",
        "has_effect",
        "runs_backward",
        "writes",
        "reaches_anything",
        "creates_graph",
        "_kind",
    )
    _kind: str | None

    def __init__(self, text: str, filename: str = "<program>", line: int = 1):
        self.text = text
        self.code: CodeType | None = None
        self.error: SyntaxError | None = None
        self.is_expression = False
        reading = read_plain(text)
        try:
            if reading is not None and line == 1:
                self.code = compile(text, filename, "exec", dont_inherit=True)
                self._conclude(reading, None)
                return
            tree = ast.parse(text, filename)
            if line > 1:
                ast.increment_lineno(tree, line - 1)
            self._compile(tree, filename)
        except SyntaxError as error:
            self.error = error
            tree = ast.Module([], [])
        self._conclude(Reading().visited(tree), tree.body[0] if tree.body else None)

    def _compile(self, tree: ast.Module, filename: str) -> None:
        if len(tree.body) == 1 and isinstance(tree.body[0], ast.Expr):
            self.is_expression = True
            self.code = compile(ast.Expression(tree.body[0].value), filename, "eval", dont_inherit=True)
        else:
            self.code = compile(tree, filename, "exec", dont_inherit=True)

    def _conclude(self, reading: "Reading", node: ast.stmt | None) -> None:
        """What follows from a reading; `node` is None for a plain assignment and for what cannot be read."""
        calls = reading.calls
        self._kind = None if node is None else statement_kind(node)
        self.binds = tuple(reading.binds)
        self.loads = tuple(name for name in reading.loads if name not in reading.binds)
        self.is_build = self.code is None or isinstance(node, DEFINITIONS)
        runs = not self.is_build
        self.runs_backward = runs and not calls.isdisjoint(BACKWARD_CALLS)
        self.reaches_anything = runs and (reading.calls_back or not calls.isdisjoint(REACHING_CALLS))
        writes = reading.writes or not calls.isdisjoint(METADATA_CALLS) or any(map(is_inplace_name, calls))
        self.writes = runs and writes  # to what it mentions, or something about it
        self.has_effect = self.reaches_anything or self.writes
        self.creates_graph = runs and reading.creates_graph

    @property
    def kind(self) -> str:
        """The kind of the statement for grouping: what is called last, or the sort of statement."""
        if self._kind is None:
            self._kind = "syntax" if self.error else statement_kind(ast.parse(self.text).body[0])
        return self._kind


class Reading:
    """What the text of a statement tells: names, calls, and whether something may be written."""

    __slots__ = ("binds", "loads", "calls", "calls_back", "writes", "creates_graph")

    def __init__(self) -> None:
        self.binds: dict[str, None] = {}  # at the top level
        self.loads: dict[str, None] = {}
        self.calls: set[str] = (
            set()
        )  # the last name of what is called: `sum` and `backward` in `a.sum().backward()`
        self.calls_back = (
            False  # a function, class or module of the program: a bare name that is no pure builtin
        )
        self.writes = False
        self.creates_graph = False

    def visited(self, node: ast.AST, is_inner: bool = False) -> "Reading":
        """Read a syntax tree; names bound inside a function, class or comprehension are not at the top."""
        kind = type(node)
        note = NOTES.get(kind)
        if note is not None:
            note(self, node, is_inner)
            is_inner = is_inner or kind in SCOPES
        for name in CHILDREN.get(kind, node._fields):
            value = getattr(node, name, None)
            if type(value) is list:
                for item in value:
                    if type(item) not in LEAVES:
                        self.visited(item, is_inner)
            elif type(value) not in LEAVES:
                self.visited(value, is_inner)  # type: ignore[arg-type]
        return self

    def bind(self, name: str | None, is_inner: bool) -> None:
        if name is not None and not is_inner:
            self.binds[name] = None

    def note_name(self, node: ast.Name, is_inner: bool) -> None:
        if type(node.ctx) is ast.Load:
            self.loads[node.id] = None
        else:
            self.bind(node.id, is_inner)

    def note_definition(self, node: Any, is_inner: bool) -> None:
        self.bind(node.name, is_inner)

    def note_alias(self, node: ast.alias, is_inner: bool) -> None:
        self.bind((node.asname or node.name).partition(".")[0], is_inner)

    def note_global(self, node: ast.Global, is_inner: bool) -> None:
        self.binds.update(dict.fromkeys(node.names))

    def note_call(self, node: ast.Call, is_inner: bool) -> None:
        function = node.func
        if type(function) is ast.Attribute:
            self.calls.add(function.attr)
        elif type(function) is ast.Name:
            self.calls.add(function.id)
            self.calls_back = self.calls_back or function.id not in PURE_NAMES
        else:
            self.calls_back = True

    def note_keyword(self, node: ast.keyword, is_inner: bool) -> None:
        if node.arg == "create_graph" and not (type(node.value) is ast.Constant and not node.value.value):
            self.creates_graph = True
        self.writes = self.writes or node.arg in ("out", "inplace")

    def note_access(self, node: Any, is_inner: bool) -> None:
        self.writes = self.writes or type(node.ctx) is not ast.Load

    def note_write(self, node: ast.AST, is_inner: bool) -> None:
        self.writes = True


DEFINITIONS = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
SCOPES = frozenset((ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda, *COMPREHENSIONS))
WRITES = (ast.AugAssign, ast.Delete, ast.With, ast.For, ast.While, ast.Try, ast.If)
NOTES: dict[type, Callable[[Reading, Any, bool], None]] = {
    ast.Name: Reading.note_name,
    ast.FunctionDef: Reading.note_definition,
    ast.AsyncFunctionDef: Reading.note_definition,
    ast.ClassDef: Reading.note_definition,
    ast.ExceptHandler: Reading.note_definition,
    ast.alias: Reading.note_alias,
    ast.Global: Reading.note_global,
    ast.Call: Reading.note_call,
    ast.keyword: Reading.note_keyword,
    ast.Subscript: Reading.note_access,
    ast.Attribute: Reading.note_access,
    **dict.fromkeys((ast.Lambda, *COMPREHENSIONS), lambda reading, node, is_inner: None),
    **dict.fromkeys(WRITES, Reading.note_write),
}
# What need not be looked into: the inside of names, texts and numbers.
CHILDREN: dict[type, tuple[str, ...]] = {ast.Name: (), ast.Attribute: ("value",), ast.Constant: ()}
LEAVES = frozenset((str, int, type(None), ast.Load, ast.Store, ast.Del))

# Most statements are plain assignments; reading those without a syntax tree halves the time to compile them.
PLAIN = re.compile(r"([A-Za-z_]\w*) = ([^='\"#\n]+)")
NOT_PLAIN = re.compile(r"\blambda\b|:=|\bfor\b|\bawait\b|\byield\b|[^=!<>]=\s+|\)\(|\]\(")
LOADED = re.compile(r"(?<![\w.])[A-Za-z_]\w*(?!\w|\s*=[^=])")
CALLED = re.compile(r"(\.?)\b([A-Za-z_]\w*)\(")


def read_plain(text: str) -> Reading | None:
    """The reading of an assignment of a simple expression to one name; None for any other statement."""
    found = PLAIN.fullmatch(text)
    if found is None or NOT_PLAIN.search(found[2]) or "create_graph" in text:
        return None
    reading, value = Reading(), found[2]
    for dot, name in CALLED.findall(value):
        reading.calls.add(name)
        reading.calls_back = reading.calls_back or (not dot and name not in PURE_NAMES)
    if not reading.calls.isdisjoint(BACKWARD_CALLS):
        return None
    reading.writes = "out=" in value or "inplace=" in value
    reading.binds[found[1]] = None
    reading.loads.update(dict.fromkeys(LOADED.findall(value)))
    return reading


def is_inplace_name(name: str) -> bool:
    return name[-1] == "_" and not name.endswith("__")


def called_in(text: str) -> list[str]:
    """The names called in a statement."""
    try:
        tree = ast.parse(text)
    except SyntaxError:
        return []
    return sorted(Reading().visited(tree).calls)


def statement_kind(node: ast.stmt) -> str:
    """The method or function called last, or the sort of statement."""
    value = getattr(node, "value", None)
    if isinstance(node, ast.Assign) and not isinstance(node.targets[0], (ast.Name, ast.Tuple, ast.List)):
        target = node.targets[0]
        return f"set {target.attr}" if isinstance(target, ast.Attribute) else "setitem"
    if isinstance(node, ast.AugAssign):
        return type(node.op).__name__.lower() + " in place"
    if isinstance(node, (ast.Expr, ast.Assign, ast.AnnAssign)) and value is not None:
        return expression_kind(value)
    return type(node).__name__.lower()


def expression_kind(value: ast.expr) -> str:
    if isinstance(value, ast.Call):
        function = value.func
        return getattr(function, "attr", None) or getattr(function, "id", None) or "call"
    if isinstance(value, (ast.BinOp, ast.UnaryOp)):
        return type(value.op).__name__.lower()
    if isinstance(value, ast.Attribute):
        return f"get {value.attr}"
    return type(value).__name__.lower()


COMPILED: dict[str, Compiled] = {}
COMPILED_LIMIT = 100_000  # a campaign of random texts must not fill the memory


def compiled(text: str) -> Compiled:
    """The compiled form of a statement, cached by its text."""
    found = COMPILED.get(text)
    if found is None:
        if len(COMPILED) >= COMPILED_LIMIT:
            COMPILED.clear()
        found = COMPILED[text] = Compiled(text)
    return found


@dataclass(frozen=True, slots=True)
class Statement:
    """One step of a program: exact text without its mark, first line in the script, kind it must raise."""

    text: str
    line: int
    raises: str | None = None

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class Program:
    """A program with its front matter; `is_exact` puts it in the exact lane."""

    id: str
    statements: tuple[Statement, ...]
    title: str = ""
    topic: str = ""
    features: tuple[str, ...] = ()
    rule: str = ""
    source: str = ""
    is_exact: bool = False
    path: str | None = None
    file: str = ""  # the whole path of the file that it, or what it was cut out of, comes from
    script: str | None = None  # the whole text as it was read, comments included
    front_matter: dict[str, str] = field(default_factory=dict, compare=False, hash=False)

    @classmethod
    def parse(cls, script: str, id: str = "program", path: str | None = None) -> "Program":
        """Read a script with or without front matter; raises ProgramError with file and line."""
        where = path or id
        try:
            tree = ast.parse(script, where)
        except SyntaxError as error:
            raise ProgramError(where, error.lineno or 1, f"not valid Python: {error.msg}") from None
        except ValueError as error:  # NUL bytes
            raise ProgramError(where, 1, f"not valid Python: {error}") from None
        doc = ast.get_docstring(tree)
        title, keys = parse_front_matter(doc or "")
        body = tree.body[1:] if doc is not None else tree.body
        lines = script.splitlines()
        return cls(
            id=keys.get("id") or id,
            statements=tuple(read_statements(body, lines)),
            title=title,
            topic=keys.get("topic", ""),
            features=tuple(word.strip() for word in keys.get("features", "").split(",") if word.strip()),
            rule=keys.get("rule", ""),
            source=keys.get("source", ""),
            is_exact=keys.get("lane", "") == "exact",
            path=path,
            file=os.path.abspath(path) if path else "",
            script=script,
            front_matter=keys,
        )

    @classmethod
    def from_statements(cls, texts: Iterable[str], id: str = "program", is_exact: bool = False) -> "Program":
        """A program from statement texts, each with or without its `# raises KIND` mark."""
        statements, line = [], 1
        for text in texts:
            mark = None
            if "# raises" in text and (found := MARK.search(text)):
                mark, text = found[1], (text[: found.start()].rstrip() + text[found.end() :]).rstrip()
            statements.append(Statement(text, line, mark))
            line += text.count("\n") + 1
        return cls(id, tuple(statements), is_exact=is_exact)

    @property
    def text(self) -> str:
        """The program as a script that runs by itself."""
        return self.script if self.script is not None else "".join(self.lines())

    def lines(self) -> Iterable[str]:
        for statement in self.statements:
            yield marked(statement) + "\n"

    @cached_property
    def steps(self) -> tuple[Compiled, ...]:
        """The compiled statements; those of a file know their file and line, so that tracebacks show them."""
        if self.path is None:
            return tuple(compiled(statement.text) for statement in self.statements)
        return tuple(Compiled(s.text, f"{self.id}.py", s.line) for s in self.statements)

    def mentions(self, *words: str) -> bool:
        """Whether any of these words stands in a statement."""
        return any(word in self.statement_texts for word in words)

    @cached_property
    def statement_texts(self) -> str:
        return "\n".join([statement.text for statement in self.statements])

    @cached_property
    def draws_from_python(self) -> bool:
        """Whether the program imports Python's or NumPy's random numbers: each run seeds them."""
        return any(s.is_build and ("random" in s.text or "numpy" in s.text) for s in self.steps)

    @cached_property
    def phases(self) -> tuple[str, ...]:
        """The phase of each step: build, forward, backward or double backward; read from the text alone."""
        phases, graph_created = [], False
        for step in self.steps:
            if step.is_build:
                phases.append("build")
            elif step.runs_backward:
                phases.append("double backward" if graph_created else "backward")
            else:
                phases.append("forward")
            graph_created = graph_created or step.creates_graph
        return tuple(phases)

    def __str__(self) -> str:
        return self.text


def marked(statement: Statement) -> str:
    """The statement's text with its mark at the end of its first line."""
    if statement.raises is None:
        return statement.text
    first, newline, rest = statement.text.partition("\n")
    if newline and not first.rstrip().endswith(
        ":"
    ):  # inside brackets or a string a comment may be no comment
        return f"{statement.text}  # raises {statement.raises}"
    return f"{first}  # raises {statement.raises}{newline}{rest}"


def read_statements(body: Iterable[ast.stmt], lines: list[str]) -> Iterator[Statement]:
    """The statements of a script, and in place of `if __name__ == "__main__":` those that it guards."""
    for node in body:
        inner = guarded(node, lines)
        if inner is None:
            yield read_statement(node, lines)
        else:
            yield from inner


def guarded(node: ast.stmt, lines: list[str]) -> list[Statement] | None:
    """What stands behind `if __name__ == "__main__":`, moved to the left; None if it is something else.

    A text of several lines that begins a line would be changed by moving it: then the guard stays.
    """
    if not isinstance(node, ast.If) or node.orelse or ast.unparse(node.test) not in GUARDS:
        return None
    found = []
    for inner in node.body:
        statement = read_statement(inner, lines)
        margin = " " * inner.col_offset
        text = statement.text.replace("\n" + margin, "\n")
        if [ast.dump(inner)] != [ast.dump(part) for part in parsed(text)]:
            return None
        found.append(Statement(text, statement.line, statement.raises))
    return found


def parsed(text: str) -> list[ast.stmt]:
    try:
        return ast.parse(text).body
    except SyntaxError:
        return []


def read_statement(node: ast.stmt, lines: list[str]) -> Statement:
    """Cut one top-level statement out of its script; its mark stands behind its last or its first line."""
    first = min([node.lineno, *(decorator.lineno for decorator in getattr(node, "decorator_list", []))])
    last = node.end_lineno or node.lineno
    end = len(lines[last - 1].encode()[: node.end_col_offset].decode())
    start = len(lines[first - 1].encode()[: node.col_offset].decode()) if first == node.lineno else 0
    tail = lines[last - 1][end:]
    if first == last:
        text = lines[first - 1][start:end]
    else:
        text = "\n".join([lines[first - 1][start:], *lines[first : last - 1], lines[last - 1][:end]])
    mark = MARK.search(tail) if tail.lstrip().startswith("#") else None
    if mark is None and first != last:
        mark = MARK.search(lines[first - 1])
        if mark is not None:
            opening, newline, rest = text.partition("\n")
            text = MARK.sub("", opening).rstrip() + newline + rest
    return Statement(text, first, mark[1] if mark else None)


def parse_front_matter(doc: str) -> tuple[str, dict[str, str]]:
    """Split a docstring into the sentences at its head and its `key: value` lines."""
    title: list[str] = []
    keys: dict[str, str] = {}
    last = None
    for line in doc.splitlines():
        found = KEY.match(line)
        if found and (title or last):
            last = found[1]
            keys[last] = (found[2] or "").strip()
        elif last and line.startswith((" ", "\t")):
            keys[last] += " " + line.strip()
        elif not last and line.strip():
            title.append(line.strip())
    return " ".join(title), keys
