"""Pair coverage: how many programs hold something of each two feature groups."""

from collections import Counter
from itertools import combinations

from tabulate import tabulate


class Pairs:
    """Counts programs per pair of groups."""

    def __init__(self, groups: list[str]):
        self.groups = sorted(groups)
        self.counts: Counter[tuple[str, str]] = Counter()
        self.programs = 0
        self.missing = set(combinations(self.groups, 2))  # from the programs up to `followed`
        self.followed = 0
        self.complete_after: int | None = None  # programs until every pair was there

    def add(self, used: dict[str, int]) -> None:
        """Sets of groups ("a b c") with the number of programs that have just these; batches in any order."""
        for names, programs in used.items():
            self.programs += programs
            for pair in combinations(names.split(), 2):
                self.counts[pair] += programs

    def follow(self, used: dict[str, int]) -> None:
        """The same again, batches in the order of their programs: when every pair was there."""
        if self.missing:
            self.followed += sum(used.values())
            self.missing -= {pair for names in used for pair in combinations(names.split(), 2)}
            if not self.missing:
                self.complete_after = self.followed

    @property
    def total(self) -> int:
        return len(self.groups) * (len(self.groups) - 1) // 2

    @property
    def hit(self) -> int:
        return sum(1 for pair in combinations(self.groups, 2) if self.counts[pair])

    def summary(self) -> str:
        text = f"{self.hit} of {self.total} pairs of feature groups"
        if self.complete_after is not None:
            text += f", all after {self.complete_after:,} programs"
        return text

    def table(self) -> str:
        """Programs per pair, groups by number in the columns."""
        headers = ["group", *(str(number) for number in range(1, len(self.groups)))]
        rows = [
            [f"{number} {name}", *(self.counts[other, name] for other in self.groups[: number - 1])]
            for number, name in enumerate(self.groups, 1)
        ]
        missing = [" + ".join(pair) for pair in combinations(self.groups, 2) if not self.counts[pair]]
        lines = [tabulate(rows, headers=headers, tablefmt="simple"), "", self.summary()]
        return "\n".join([*lines, *(f"never together: {pair}" for pair in missing)])
