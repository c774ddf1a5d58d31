"""Mutants: refgrad with one small wrong change each, to tell how much the finder notices.

*Mutant*: a text in one of refgrad's sources and the text that stands there instead. It is planted at run
time (`plant.py`); the files stay as they are. *Class*: the part of autograd that a mutant is wrong in, one
module a class. *Killed*: a program shows a difference from PyTorch. *Survivor*: no generated program does;
why, stands with the mutant, and a *witness*, a script that kills it, where there is one.

To add a mutant, call the class's `mutant` in its module; to add a class, add a module and its name below.
"""

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module

CLASSES = (
    "accumulation",
    "broadcasting",
    "versions",
    "views",
    "hooks",
    "nothing",
    "modes",
    "freeing",
    "double_backward",
    "functions",
    "promotion",
    "errors",
    "leaves",
    "formulas",
)


@dataclass(frozen=True)
class Mutant:
    """One wrong change: in `module` of refgrad, `after` instead of `before`, which stands there once."""

    name: str
    group: str  # its class
    wrong: str  # what is wrong, in a sentence
    module: str  # `autograd.function` is refgrad/autograd/function.py
    before: str
    after: str
    survives: str = ""  # why no generated program kills it
    witness: str = ""  # a script that kills it


MUTANTS: dict[str, Mutant] = {}
TITLES: dict[str, str] = {}  # class -> what people call it


def class_of(group: str, title: str) -> Callable[..., None]:
    """The function that adds a mutant to a class."""
    TITLES[group] = title

    def mutant(
        name: str, module: str, before: str, after: str, wrong: str, survives: str = "", witness: str = ""
    ) -> None:
        if name in MUTANTS:
            raise ValueError(f"two mutants are called {name}: rename one of them")
        MUTANTS[name] = Mutant(name, group, wrong, module, before, after, survives, witness)

    return mutant


for group in CLASSES:
    import_module(f"{__name__}.{group}")
