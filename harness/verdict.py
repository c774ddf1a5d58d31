"""What comparing an engine on a program came to."""

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
