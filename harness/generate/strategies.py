"""The Hypothesis front of the grammar: the same intents as the bulk generator, drawn so that failures shrink well.

An intent is two integers, an action and its picks; no count is drawn, so a failing list loses steps one by one.
"""

from hypothesis import strategies as st

from harness.generate import actions  # noqa: F401  (registers the kinds of steps)
from harness.generate import resolve
from harness.generate.intents import ACTIONS, PICKS, Intent
from harness.generate.prng import settings_of
from harness.program import Program

SIZE = 20


def intent(number: int, picks: int) -> Intent:
    """An intent from two integers: picks are the digits of the second to base 16, the first one lowest."""
    return Intent(_NAMES[number], tuple(picks >> 4 * i & 15 for i in range(PICKS)))


_NAMES = tuple(step.name for step in ACTIONS.values() for _ in range(step.weight))
INTENTS = st.builds(intent, st.integers(0, len(_NAMES) - 1), st.integers(0, 16**PICKS - 1))
PLANTED = st.builds(
    lambda picks: Intent("plant", tuple(picks >> 4 * i & 15 for i in range(PICKS))), st.integers(0, 16**PICKS - 1)
)


@st.composite
def programs(draw, size: int = SIZE, faults: bool = True, exact: bool | None = None) -> Program:
    """Programs of at most so many intents; with faults, at most one in each, somewhere in the second half.

    exact restricts them to the exact lane (True) or to the tolerance lane (False).
    """
    settings = settings_of(draw(st.integers(0, 255)))
    if exact is not None:
        settings = settings._replace(exact=exact, dtype=settings.dtype if exact else "d")
    drawn = draw(st.lists(INTENTS, max_size=size))
    if faults and draw(st.integers(0, 4)) == 4:
        drawn = [*drawn, draw(PLANTED)]
    return resolve.program(drawn, settings, "generated")
