"""The Hypothesis front of the grammar: the same intents as the bulk generator, drawn so that failures
shrink well.

An intent is two integers, an action and its picks. No count is drawn: intents come in a list of short
lists, so that a failing program loses many steps at once and then one by one. Both integers stay below
2**24, where Hypothesis draws evenly.
"""

from hypothesis import strategies as st

from harness.generate import (
    actions,  # noqa: F401  (registers the kinds of steps)
    resolve,
)
from harness.generate.intents import ACTIONS, PICKS, Intent
from harness.generate.prng import picks_of, settings_of
from harness.program import Program

_NAMES = tuple(step.name for step in ACTIONS.values() for _ in range(step.weight))
PICK_NUMBERS = st.integers(0, 16**PICKS - 1)
INTENTS = st.tuples(st.integers(0, len(_NAMES) - 1), PICK_NUMBERS)
# About 20 intents on average: Hypothesis makes lists of 4 or 5 when left alone.
CHUNKS = st.lists(st.lists(INTENTS, max_size=10), max_size=8)


@st.composite
def programs(draw, faults: bool = True, exact: bool | None = None) -> Program:
    """Programs of some 20 statements; with faults, one in five ends in a planted one.

    exact restricts them to the exact lane (True) or to the tolerance lane (False).
    """
    settings = settings_of(draw(st.integers(0, 255)))
    if exact is not None:
        settings = settings._replace(exact=exact, dtype=settings.dtype if exact else "d")
    intents = [Intent(_NAMES[number], picks_of(picks)) for chunk in draw(CHUNKS) for number, picks in chunk]
    if faults and draw(st.integers(0, 4)) == 4:
        intents.append(Intent("plant", picks_of(draw(PICK_NUMBERS))))
    return resolve.program(intents, settings, "generated")
