"""Programs that nobody wrote: PyTorch and refgrad (or the engines of --engine) agree on each of them."""

import zlib

import pytest
from hypothesis import HealthCheck, Verbosity, given, settings

from harness.generate.strategies import programs
from harness.pytest_plugin import failure_text
from harness.run import examine
from harness.verdict import Verdict


@pytest.fixture
def conformance(pytestconfig):
    return pytestconfig.pluginmanager.get_plugin("refgrad-conformance")


def is_failure(result):
    """refgrad is to know every name that the grammar uses; other engines may lack some."""
    return result.verdict.is_failure or (result.verdict is Verdict.UNSUPPORTED and result.engine == "refgrad")


def told(program, result):
    return (
        f"{failure_text(result)}\n\nThe smallest program found that shows it, which runs by itself:\n\n"
        f"{program.text}\nSave it, say as found.py, and run it again: refgrad run found.py"
    )


def test_generated_programs_agree(conformance, pytestconfig):
    """`--generated N` sets how many; one in ten also runs unwatched, because looking can change a program."""
    count = pytestconfig.getoption("generated")
    if count == 0:
        pytest.skip("--generated 0")
    expected, engines = conformance.engines()
    known = [entry for folder in conformance.folders for entry in conformance.known(folder)]
    found = False

    # The program is told in full by the failure itself, so Hypothesis need not print its arguments.
    @settings(
        max_examples=count,
        verbosity=Verbosity.quiet,
        suppress_health_check=[HealthCheck.too_slow],
        report_multiple_bugs=False,
    )
    @given(programs())
    def agree(program):
        nonlocal found
        # Once something is found, every smaller program is looked at as thoroughly.
        thorough = found or zlib.crc32(program.text.encode()) % 10 == 0
        strict = conformance.is_strict or None
        for result in examine(program, expected, engines, strict=strict, thorough=thorough, known=known):
            if is_failure(result):
                found = True
                pytest.fail(told(program, result), pytrace=False)

    agree()
