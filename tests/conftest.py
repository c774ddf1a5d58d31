"""How Hypothesis runs: the same programs every time in CI; new ones at a desk, where failures are kept.

Also which tests run: those marked `slow` (whole campaigns, clusters, a million nodes) only with `--slow`,
which `make test` gives.
"""

import os

import pytest
from hypothesis import Phase, settings

# The phase `explain` varies a failing program once more; a program explains itself.
COMMON = settings(
    deadline=None, print_blob=False, phases=[phase for phase in Phase if phase is not Phase.explain]
)
settings.register_profile("ci", COMMON, derandomize=True, database=None)
settings.register_profile("local", COMMON)  # the examples that failed lie in .hypothesis and are tried first
settings.load_profile("ci" if os.environ.get("CI") else "local")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--slow", action="store_true", help="run the tests marked slow, too")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what is slow, unless it was asked for by `--slow` or by its own id."""
    if config.getoption("--slow") or any("::" in argument for argument in config.args):
        return
    slow = [item for item in items if item.get_closest_marker("slow") is not None]
    if slow:
        items[:] = [item for item in items if item.get_closest_marker("slow") is None]
        config.hook.pytest_deselected(items=slow)


def pytest_report_header(config: pytest.Config) -> str | None:
    return (
        None if config.getoption("--slow") else "slow tests are left out (deselected); run them with --slow"
    )
