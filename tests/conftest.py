"""How Hypothesis runs: the same programs every time in CI; new ones at a desk, where failures are kept."""

import os

from hypothesis import Phase, settings

# The phase `explain` varies a failing program once more; a program explains itself.
COMMON = settings(
    deadline=None, print_blob=False, phases=[phase for phase in Phase if phase is not Phase.explain]
)
settings.register_profile("ci", COMMON, derandomize=True, database=None)
settings.register_profile("local", COMMON)  # the examples that failed lie in .hypothesis and are tried first
settings.load_profile("ci" if os.environ.get("CI") else "local")
