"""Intents: what a step of a generated program may do, said without knowing the state.

An *intent* names an action and carries picks, small numbers that know nothing of what will be alive. An
*action* is a function of the scope and the picks that writes at most a few statements; where it does not
apply, it does the nearest thing that does, or nothing. A *group* is a feature area: each program of the
bulk generator uses a random subset.

To add a kind of step, write one function under `@action(group, weight)` in `actions/`; both drivers then
draw it.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

PICKS = 6  # picks of an intent, each below 16


class Intent(NamedTuple):
    """One step to take, whatever the state will be."""

    action: str
    picks: tuple[int, ...]


Step = tuple[str, tuple[int, ...]]  # what an Intent is to the bulk generator, which has no time for names


class Action(NamedTuple):
    """A kind of step: its feature group, how often it is drawn, and the function that writes it."""

    name: str
    group: str
    weight: int
    apply: Callable[[Any, tuple[int, ...]], None]


ACTIONS: dict[str, Action] = {}


def action(group: str, weight: int = 2):
    """Register a kind of step under its function's name."""

    def register(function):
        name = function.__name__
        if name in ACTIONS:
            raise ValueError(f"two actions are called {name}: rename one of them")
        ACTIONS[name] = Action(name, group, weight, function)
        return function

    return register
