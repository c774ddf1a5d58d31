"""The finder is tested by planting bugs: each wrong refgrad is found within 500 generated programs."""

from functools import cache

import pytest

from harness.engines import engine
from harness.engines.refgrad import RefgradEngine
from harness.generate import prng
from harness.run import Runs, compare
from harness.verdict import Verdict
from tests.planted_bugs import BUGS, refgrad_with

PROGRAMS = 500


@pytest.fixture(scope="module")
def torch():
    return engine("torch")


def test_there_are_enough_bugs():
    assert len(BUGS) >= 15


@cache
def runs_of_torch(torch, seed: int) -> Runs:
    """PyTorch's runs of one generated program: the same for every bug."""
    return Runs(torch, prng.program(seed))


def programs_until_found(torch, wrong) -> int | None:
    """How many programs it takes until one differs."""
    for seed in range(PROGRAMS):
        expected = runs_of_torch(torch, seed)
        actual = Runs(wrong, expected.program)
        if compare(expected.program, expected, actual, True, False).verdict is Verdict.DIFFERS:
            return seed + 1
    return None


@pytest.mark.parametrize("name", sorted(BUGS))
def test_bug_is_found(name, torch):
    with refgrad_with(BUGS[name]) as module:
        wrong = RefgradEngine(module)
        found = programs_until_found(torch, wrong)
    assert found is not None, f"{name} hides from {PROGRAMS} programs"
