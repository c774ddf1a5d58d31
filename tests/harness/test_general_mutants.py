"""General mutants: each changes what a module does, is named by its line, and finds its reason there."""

import importlib.util
from pathlib import Path

import pytest
from click.testing import CliRunner

from harness.cli import main
from harness.mutants import general
from harness.mutants.general import Change, change_between, general_mutants, meaning, reasons

needs_operators = pytest.mark.skipif(
    importlib.util.find_spec("cosmic_ray") is None, reason="needs Cosmic Ray, of the extra `mutation`"
)
SOURCE = (
    "def first(x: int) -> int:\n    def inner():\n        return x\n    if x > 1:\n        return inner()\n"
)


def test_annotations_mean_nothing() -> None:
    assert meaning("def f(x: int | None) -> int: y: int = x\n") == meaning(
        "def f(x: int) -> str: y: str = x\n"
    )
    assert meaning("x = 1\n") != meaning("x = 2\n")
    assert meaning("if not x is None: y\n") == meaning("if x is not None: y\n")
    assert meaning("x = = 1\n") is None


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("if x > 1:", "if x > 2:", ("first", "if x > 1:", "if x > 2:")),
        ("return x", "return not x", ("inner", "return x", "return not x")),
        ("x > 1", "x > [ 1]", ("first", "if x > 1:", "if x > [1]:")),
    ],
)
def test_a_change_is_named_by_its_function_and_line(
    before: str, after: str, expected: tuple[str, str, str]
) -> None:
    assert change_between("m", SOURCE, SOURCE.replace(before, after)) == Change("m", *expected)


def test_every_reason_names_a_line_that_stands_in_its_function() -> None:
    for change in reasons():
        path = Path(general.__file__).parents[2] / "refgrad" / f"{change.module.replace('.', '/')}.py"
        text = " ".join(path.read_text(encoding="utf-8").split())
        assert " ".join(change.before.split()) in text, change
        assert change.before != change.after


@needs_operators
def test_each_mutant_is_another_program() -> None:
    mutants = general_mutants("ready")

    assert len(mutants) > 30
    assert (
        len({mutant.name for mutant in mutants}) == len({mutant.after for mutant in mutants}) == len(mutants)
    )
    for mutant in mutants:
        assert meaning(mutant.after) not in (None, meaning(mutant.before))
        assert mutant.wrong.startswith("In `")


def test_a_module_that_is_not_there_is_bad_input() -> None:
    result = CliRunner().invoke(main, ["score", "--general", "no_such_module"])

    assert result.exit_code == 2
    assert "no_such_module" in result.output


def test_without_the_operators_the_command_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "cosmic_ray.ast", None)

    result = CliRunner().invoke(main, ["score", "--general", "ready"])

    assert result.exit_code == 2
    assert "refgrad[mutation]" in result.output
