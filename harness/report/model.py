"""What a report shows, as plain records that know how to show themselves; pages only arrange them.

Words:

column   what a program counts as in every table: agree, differ, known or unsupported
piece    one fact as text, with whether it is the differing one
entry    one line of a trace: a subject with what is new about it, or what a step printed or raised
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from harness.verdict import counted

COLUMNS = ("agree", "differ", "known", "unsupported")
WORST_FIRST = ("differ", "known", "unsupported", "agree")


@dataclass(frozen=True)
class Piece:
    text: str
    differs: bool = False


@dataclass(frozen=True)
class Entry:
    """One line; `kind` is empty for a subject, else printed, raised or warned."""

    name: str
    pieces: tuple[Piece, ...]
    kind: str = ""


@dataclass(frozen=True)
class Step:
    """One statement with what each side shows after it; `line` is empty at the end of the program."""

    line: str
    text: str
    expected: tuple[Entry, ...]
    actual: tuple[Entry, ...]
    differs: bool = False

    @property
    def is_silent(self) -> bool:
        return not self.expected and not self.actual


@dataclass(frozen=True)
class Result:
    """What one engine came to on a program; `remark` says what is amiss, `summary` says it in one line."""

    expected: str
    engine: str
    column: str
    remark: str = ""
    summary: str = ""
    steps: tuple[Step, ...] = ()


@dataclass(frozen=True)
class ProgramPage:
    """A program with its results."""

    id: str
    title: str
    topic: str
    text: str
    notes: tuple[tuple[str, str], ...]
    results: tuple[Result, ...]
    smallest: tuple[str, ...] = ()  # scripts that its findings were reduced to

    @property
    def column(self) -> str:
        """The worst column of its results."""
        columns = {result.column for result in self.results}
        return next((name for name in WORST_FIRST if name in columns), "agree")

    @property
    def words(self) -> str:
        """What the search field looks through."""
        remarks = " ".join(result.remark for result in self.results)
        notes = " ".join(text for _, text in self.notes)
        return f"{self.id} {self.title} {notes} {remarks} {self.text}".lower()


@dataclass
class Counts:
    """How many programs fell into each column."""

    columns: dict[str, int] = field(default_factory=lambda: dict.fromkeys(COLUMNS, 0))

    def add(self, column: str, programs: int = 1) -> None:
        self.columns[column] += programs

    @property
    def programs(self) -> int:
        return sum(self.columns.values())

    def values(self) -> list[int]:
        return [self.programs, *self.columns.values()]

    @staticmethod
    def names() -> list[str]:
        return ["programs", *COLUMNS]

    def last_line(self) -> str:
        """The counts as `refgrad run` ends with them."""
        return f"{counted(self.programs, 'program')}: " + ", ".join(
            f"{n} {name}" for name, n in self.columns.items()
        )

    def by_column(self) -> Iterator[tuple[str, int]]:
        yield from self.columns.items()

    def shares(self) -> Iterator[tuple[str, int]]:
        return ((column, count) for column, count in self.columns.items() if count)


@dataclass
class Topic:
    """The programs of one topic: all are counted, those of `shown` have a place on the page."""

    name: str
    sentence: str = ""
    counts: Counts = field(default_factory=Counts)
    shown: list[ProgramPage] = field(default_factory=list)


@dataclass
class Report:
    """Everything a page shows of one run."""

    expected: str
    engines: tuple[str, ...]
    versions: dict[str, str]
    strict: bool
    topics: list[Topic]

    @property
    def counts(self) -> Counts:
        total = Counts()
        for topic in self.topics:
            for column, count in topic.counts.columns.items():
                total.columns[column] += count
        return total

    @property
    def headline(self) -> str:
        return f"Autograd conformance: {join_words(self.engines)} against {self.expected}"

    @property
    def sentence(self) -> str:
        names = [f"{name} {version}" for name, version in self.versions.items()]
        how = (
            "every fact, texts and names included" if self.strict else "values, gradients and kinds of errors"
        )
        return (
            f"{join_words(names)} ran the same programs; after each statement everything observable was"
            f" compared ({how})."
        )

    def pages(self, column: str) -> list[ProgramPage]:
        return [page for topic in self.topics for page in topic.shown if page.column == column]


def join_words(words: Iterable[str]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    *most, last = list(words) or [""]
    return f"{', '.join(most)} and {last}" if most else last
