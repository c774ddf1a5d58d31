"""Buckets: findings that have one cause, as far as can be told, and in which order to look at them.

Words:

features   what is left in a reduced program: views, in-place calls, hooks, modes, how backward is run, and
           the ops that are not the plainest of their sort (reduction puts the plainest wherever it can)
profile    every fact in which the reduced program differs, and how
signature  verdict, engine, phase, fact, how it differs, statement kind, error, profile, features
bucket     the findings of one signature: one exemplar (the smallest), how many, the first and the last seen
rank       the place in furthest-point-first order: each next bucket is the one least like all before it, so
           that the first few show different bugs
"""

import ast
import math
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

from harness.finding import PLAIN_KINDS, Finding, Tensors
from harness.program import BACKWARD_CALLS, Program, compiled, is_inplace_name, words
from harness.simplify import MAKERS, VIEWS, numel

MULTI_OUTPUT = words("split chunk unbind tensor_split hsplit vsplit dsplit unsafe_split unsafe_chunk")
HOOKS = {
    "register_post_accumulate_grad_hook": "accumulate hook",
    "register_prehook": "node prehook",
    "register_multi_grad_hook": "multi-grad hook",
    "register_full_backward_hook": "module hook",
    "register_forward_hook": "module hook",
}
HOOK_CALL = re.compile(r"\.register_\w*hook\(")
MODES = words("no_grad enable_grad set_grad_enabled inference_mode detect_anomaly set_detect_anomaly")
ARGUMENTS = words("create_graph retain_graph inputs allow_unused materialize_grads gradient grad_outputs out")
NAMED = words(
    "retain_grad detach requires_grad_ checkpoint saved_tensors_hooks save_on_cpu deepcopy manual_seed apply"
    " zero_grad step backward grad jacobian hessian vjp jvp gradcheck register_buffer set_"
)
# Calls that say nothing about the cause.
SILENT = MAKERS | words("print sum append range len list tuple save_for_backward") | frozenset(PLAIN_KINDS)
# Chosen among some hundreds of settings on 22 planted bugs; most settings near it do about as well.
WEIGHTS = {"verdict": 2.0, "engine": 3.0, "fact": 3.0, "how": 2.0, "kind": 1.0, "error": 2.0}
FEATURES_WEIGHT, PROFILE_WEIGHT = 2.0, 6.0
FREQUENCY = 0.5  # the power of log2(1 + findings) that a distance is multiplied with


@dataclass(frozen=True)
class BucketSignature:
    """What findings of one bucket have in common."""

    verdict: str
    engine: str
    phase: str
    fact: str
    how: str
    kind: str
    error: str
    profile: frozenset[str]
    features: frozenset[str]

    def distance(self, other: "BucketSignature") -> float:
        """How unlike two signatures are; 0 for equal ones."""
        total = sum(weight for name, weight in WEIGHTS.items() if getattr(self, name) != getattr(other, name))
        total += FEATURES_WEIGHT * unlike(self.features, other.features)
        return total + PROFILE_WEIGHT * unlike(self.profile, other.profile)

    def to_json(self) -> dict[str, Any]:
        data = {field.name: getattr(self, field.name) for field in fields(self)}
        return data | {"profile": sorted(self.profile), "features": sorted(self.features)}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> "BucketSignature":
        sets = {name: frozenset(data[name]) for name in ("profile", "features")}
        return cls(**(data | sets))

    def __str__(self) -> str:
        parts = [self.engine, self.phase, self.fact, self.how, self.kind, self.error]
        return "/".join(part for part in parts if part) + f" [{', '.join(sorted(self.features))}]"


def unlike(these: frozenset[str], those: frozenset[str]) -> float:
    """The share of members that two sets do not have in common."""
    return len(these ^ those) / max(len(these | those), 1)


@dataclass(frozen=True)
class Exemplar:
    """A reduced program with what is found in it, and where it comes from."""

    source: str  # the id of the program that was reduced
    number: int  # its place in the campaign
    program: Program
    finding: Finding
    script: str
    trials: int = 0
    is_confirmed: bool = True  # found again in a fresh process

    @property
    def size(self) -> tuple[int, int, int]:
        return len(self.program.statements), len(self.script), self.number


@dataclass
class Bucket:
    """Findings of one signature."""

    signature: BucketSignature
    exemplar: Exemplar
    count: int = 0
    similar: int = 0  # findings that were not reduced and look like one that came here
    first: int = 0
    last: int = 0
    members: list[str] = field(default_factory=list)  # the programs, by id

    def add(self, exemplar: Exemplar) -> None:
        self.count += 1
        self.first, self.last = min(self.first, exemplar.number), max(self.last, exemplar.number)
        self.members.append(exemplar.source)
        if exemplar.size < self.exemplar.size:
            self.exemplar = exemplar

    def add_similar(self, number: int) -> None:
        self.similar += 1
        self.first, self.last = min(self.first, number), max(self.last, number)

    @property
    def total(self) -> int:
        return self.count + self.similar

    @property
    def weight(self) -> float:
        return math.log2(1 + self.total) ** FREQUENCY


class Buckets:
    """Every bucket of a campaign."""

    def __init__(self) -> None:
        self.by_signature: dict[BucketSignature, Bucket] = {}
        self.of_identity: dict[tuple[str, ...], Bucket] = {}  # where findings like this went first

    def __len__(self) -> int:
        return len(self.by_signature)

    def __iter__(self) -> Iterator[Bucket]:
        return iter(self.by_signature.values())

    def add(self, exemplar: Exemplar, original: Finding, signature: BucketSignature) -> Bucket:
        """Put a reduced finding into its bucket."""
        bucket = self.by_signature.get(signature)
        if bucket is None:
            number = exemplar.number
            bucket = Bucket(signature, exemplar, first=number, last=number)
            self.by_signature[signature] = bucket
        bucket.add(exemplar)
        self.of_identity.setdefault(original.identity, bucket)
        self.of_identity.setdefault(original.loose_identity, bucket)
        return bucket

    def add_similar(self, finding: Finding, number: int) -> Bucket | None:
        """Count a finding that was not reduced where the first like it went; None if there was none."""
        bucket = self.of_identity.get(finding.identity) or self.of_identity.get(finding.loose_identity)
        if bucket is not None:
            bucket.add_similar(number)
        return bucket

    def ranked(self) -> list[Bucket]:
        """Furthest point first: the most frequent bucket, then always the one least like those before it.

        Frequent buckets count as further away: a bug shows in its own way often, and oddly now and then.
        """
        rest = sorted(self, key=lambda bucket: (-bucket.total, bucket.exemplar.size))
        nearest = [float("inf")] * len(rest)
        ranked: list[Bucket] = []
        while rest:
            at = max(range(len(rest)), key=lambda i: (nearest[i] * rest[i].weight, -i))
            chosen = rest.pop(at)
            nearest.pop(at)
            ranked.append(chosen)
            nearest = [
                min(distance, bucket.signature.distance(chosen.signature))
                for distance, bucket in zip(nearest, rest, strict=True)
            ]
        return ranked


def signature_of(program: Program, finding: Finding, tensors: Tensors = ()) -> BucketSignature:
    """The signature of a reduced program."""
    return BucketSignature(
        str(finding.verdict),
        finding.engine,
        finding.phase,
        finding.fact,
        finding.how,
        finding.statement_kind,
        finding.error,
        frozenset(finding.profile),
        features_of(program, tensors),
    )


# Features ------------------------------------------------------------------------------------------


def features_of(program: Program, tensors: Tensors = ()) -> frozenset[str]:
    """What is left in a program; `tensors` are those of each step, for what the text does not tell."""
    found: set[str] = set()
    for statement in program.statements:
        try:
            tree = ast.parse(statement.text)
        except SyntaxError:
            found.add("syntax error")
            continue
        for node, is_inside in nodes_of(tree):
            notes = {note for kind, notes_on in NOTES if isinstance(node, kind) for note in notes_on(node)}
            found.update(note for note in notes if not (is_inside and note.startswith("op ")))
    for word, calls in counted(program):
        if calls > 1:
            found.add(f"second {word}")
    return frozenset(found | set(tensor_features(tensors)))


def nodes_of(node: ast.AST, is_inside: bool = False) -> Iterator[tuple[ast.AST, bool]]:
    """Every node, and whether it is in the body of a function: which op a hook calls tells of no cause."""
    yield node, is_inside
    for child in ast.iter_child_nodes(node):
        yield from nodes_of(child, is_inside or isinstance(node, (ast.Lambda, ast.FunctionDef)))


def counted(program: Program) -> Iterator[tuple[str, int]]:
    """What tells more when it is there twice: the second run of a graph, the order of hooks."""
    texts = [statement.text for statement in program.statements]
    yield "backward", sum(compiled(text).runs_backward for text in texts)
    yield "hook", sum(len(HOOK_CALL.findall(text)) for text in texts)


def call_features(node: ast.Call) -> Iterator[str]:
    name = getattr(node.func, "attr", None) or getattr(node.func, "id", "")
    text = ast.unparse(node.func)
    if name in HOOKS:
        yield HOOKS[name]
    elif name == "register_hook":
        yield "node hook" if "grad_fn" in text else "hook"
    elif name in MODES or name in NAMED:
        yield {"apply": "custom Function"}.get(name, name)
    elif name in MULTI_OUTPUT:
        yield "multi-output view"
    elif name in VIEWS or name == "view_as":
        yield "view"
    elif name and is_inplace_name(name):
        yield "in-place"
        if name not in PLAIN_KINDS:
            yield f"op {name}"
    elif name and name not in SILENT and name not in BACKWARD_CALLS and name[0].islower():
        yield f"op {name}"
    if name == "view_as":
        yield "view"
    if is_inplace_name(name or "x") and name in PLAIN_KINDS:
        yield "in-place"
    if name == "square":
        yield "op square"
    yield from (k.arg for k in node.keywords if k.arg in ARGUMENTS)


def attribute_features(node: ast.Attribute) -> Iterator[str]:
    if isinstance(node.value, ast.Name) and node.value.id in ("torch", "F", "nn"):
        return
    if node.attr == "grad" and ast.unparse(node) != "torch.autograd.grad":
        yield ".grad" if isinstance(node.ctx, ast.Load) else ".grad ="
    elif node.attr in ("data", "real", "imag", "T", "mT", "grad_fn", "requires_grad", "_version", "is_leaf"):
        yield f".{node.attr}"


def subscript_features(node: ast.Subscript) -> Iterator[str]:
    if isinstance(node.ctx, ast.Store):
        yield "index assignment"
        yield "in-place"
    elif not isinstance(node.value, ast.Call) or not isinstance(node.slice, ast.Constant):
        yield "view"


def operator_features(node: ast.BinOp | ast.UnaryOp | ast.AugAssign) -> Iterator[str]:
    yield f"op {type(node.op).__name__.lower()}"
    if isinstance(node, ast.AugAssign):
        yield "in-place"


def lambda_features(node: ast.Lambda) -> Iterator[str]:
    prints = isinstance(node.body, ast.Call) and ast.unparse(node.body.func) == "print"
    yield "lambda prints" if prints else "lambda returns"


Note = Callable[[Any], Iterable[str]]
NOTES: Sequence[tuple[type | tuple[type, ...], Note]] = (
    (ast.Call, call_features),
    (ast.Attribute, attribute_features),
    (ast.Subscript, subscript_features),
    ((ast.BinOp, ast.AugAssign), operator_features),
    ((ast.For, ast.While), lambda node: ("loop",)),
    (ast.Lambda, lambda_features),
    (ast.ClassDef, lambda node: (f"class {ast.unparse(node.bases[0])}",) if node.bases else ()),
)


def tensor_features(tensors: Tensors) -> Iterator[str]:
    """A mix of dtypes or one out of the ordinary, no elements, and operands that must be broadcast."""
    seen = [tensor for step in tensors for tensor in step.values()]
    dtypes = {tensor.dtype for tensor in seen} - {"int64", "bool"}
    if len(dtypes) > 1:
        yield "dtype mix"
    elif dtypes - {"float32"}:
        yield min(dtypes)
    if any(numel(tensor.shape) == 0 for tensor in seen):
        yield "empty"
