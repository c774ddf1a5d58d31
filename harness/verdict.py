"""What comparing an engine on a program came to."""

from collections.abc import Mapping
from enum import StrEnum


class Verdict(StrEnum):
    """One word per program and engine."""

    AGREES = "AGREES"
    DIFFERS = "DIFFERS"
    KNOWN = "KNOWN"  # it differs, as an entry of known_differences.toml says
    UNSUPPORTED = "UNSUPPORTED"  # the engine lacks a name or a fact that the program needs
    CRASHED = "CRASHED"  # the engine died or failed outside of any statement
    HUNG = "HUNG"  # it did not end within the time limit
    UNSTABLE = "UNSTABLE"  # an engine disagrees with itself once it is not watched

    @property
    def is_failure(self) -> bool:
        return self not in (Verdict.AGREES, Verdict.KNOWN, Verdict.UNSUPPORTED)


# From bad to good: the verdict on a program that several engines ran is the first of these that any got.
SEVERITY = (
    Verdict.CRASHED,
    Verdict.HUNG,
    Verdict.DIFFERS,
    Verdict.UNSTABLE,
    Verdict.KNOWN,
    Verdict.UNSUPPORTED,
    Verdict.AGREES,
)


def worst(verdicts: "list[Verdict]") -> Verdict:
    """The verdict that counts for a program among those of several engines."""
    return next((verdict for verdict in SEVERITY if verdict in verdicts), Verdict.AGREES)


def counted(number: int, noun: str) -> str:
    """`1 program`, `2 programs`."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def summary(verdicts: "Mapping[Verdict, int] | Mapping[str, int]") -> str:
    """The line a run ends with; crashed, hung and unstable programs count as differing."""
    counts = {Verdict(verdict): count for verdict, count in verdicts.items()}
    differ = sum(count for verdict, count in counts.items() if verdict.is_failure)
    agree, known, lacks = (counts.get(v, 0) for v in (Verdict.AGREES, Verdict.KNOWN, Verdict.UNSUPPORTED))
    programs = counted(sum(counts.values()), "program")
    return f"{programs}: {agree} agree, {differ} differ, {known} known, {lacks} unsupported"
