"""Which findings of a campaign are reduced: the first of each kind, in the order of the programs."""

from collections import Counter

from harness.finding import Finding

PER_IDENTITY = 2  # findings of one identity that are reduced; the others are counted with them
PER_FACT = 8  # findings that differ in the same way in the same fact, after whatever statement
MOST = 1000


class Selection:
    """Counts what was taken.

    What it takes from a part of the programs holds all that it would take from that part among all programs:
    the machines of a campaign select each for itself, and their records merge into that of one machine.
    """

    def __init__(self) -> None:
        self.taken: Counter[tuple[str, ...]] = Counter()

    def takes(self, finding: Finding) -> bool:
        """Whether the finding is to be reduced; call it once per finding, in order."""
        kinds = {finding.identity: PER_IDENTITY, finding.loose_identity: PER_FACT, (): MOST}
        if any(self.taken[kind] >= most for kind, most in kinds.items()):
            return False
        self.taken.update(kinds.keys())
        return True
