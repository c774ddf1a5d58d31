"""A module imports from lower layers and from earlier rows of its own; torch enters at named doors only."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
# One layer a line, lowest first; its rows in order. A row is a module, or a package with all that it holds.
REFGRAD = """
errors dtypes layout lazy types return_types schema argument_errors modes binding signatures overloads
storage handles graph saved generator overriding metaclass tensor edges printing views duals
samples call recipe apply_source call_source inplace_source record_source reduced compiler op casting \
gradients hooks ready engine
kernels ops
forms outputs namespaces _VF _ops linalg fft special functional operators toplevel \
autograd amp cpu _lobpcg _C methods inquiries \
serialization settings subclasses watchable watched surface loaded random __future__ swapping nn optim func \
_vmap_internals utils testing distributions backends cuda overrides
"""
HARNESS = """
program outcome
facts trace compare verdict known
engines run record
generate finding simplify buckets judge reduce cases new campaign apart mutants score
cli commands campaign_commands score_commands report semantics torch_findings pytest_plugin
"""
DOORS = {
    "torch": ("harness/engines/pytorch.py",),
    "refgrad": ("refgrad/", "harness/engines/refgrad.py", "harness/mutants/plant.py"),
    "harness": ("harness/",),
}
SOURCES = sorted(path for package in ("refgrad", "harness") for path in (ROOT / package).rglob("*.py"))


def ranks(package: str, table: str) -> dict[str, tuple[int, int]]:
    """Each row's (layer, place in it)."""
    layers = enumerate(table.split("\n"))
    return {f"{package}.{row}": (at, place) for at, line in layers for place, row in enumerate(line.split())}


RANKS = ranks("refgrad", REFGRAD) | ranks("harness", HARNESS)


def row_of(module: str) -> str:
    return ".".join(module.split(".")[:2])


def imported(path: Path) -> list[tuple[int, str]]:
    """The line and full name of every import of a file, those inside functions too."""
    module = ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
    package = module.split(".") if path.name == "__init__.py" else module.split(".")[:-1]
    found = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found += [(node.lineno, alias.name) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            start = package[: len(package) - node.level + 1] if node.level else []
            base = ".".join([*start, *filter(None, [node.module])])
            found += [(node.lineno, f"{base}.{alias.name}") for alias in node.names]
    return found


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_imports_only_look_down(path):
    name = path.relative_to(ROOT).as_posix()
    row = row_of(name.removesuffix(".py").replace("/", "."))
    at_the_top = row.endswith("__init__")
    assert at_the_top or row in RANKS, f"{name}: give {row} its place in the table of tests/test_layers.py"
    for line, target in imported(path):
        top, aim = target.split(".")[0], row_of(target)
        assert name.startswith(DOORS.get(top, "")), (
            f"{name}:{line}: {top} may be imported only in {DOORS[top]}"
        )
        if aim in RANKS and aim != row and not at_the_top and top == name.split("/")[0]:
            assert RANKS[aim] < RANKS[row], f"{name}:{line}: {row} may not import {aim}: it lies above"


def test_the_check_sees_every_source():
    assert {path.parts[len(ROOT.parts)] for path in SOURCES} == {"refgrad", "harness"}
