"""What the hosts of a campaign need to know once; travels as JSON."""

from dataclasses import asdict, dataclass, field
from typing import Any

from harness.known import Known

LIMIT = 0.6  # seconds that one run of one program may take, of which most take some milliseconds
PATIENCE = 3  # times the limit is given once more to what did not end in time, for the machine may be busy
MEMORY = 2000  # megabytes by which a child may grow
BATCH = 100
SIZE = 20  # steps of a generated program, about 30 statements
ONE_IN = 10  # of the programs, so many are looked at thoroughly and run unwatched as well
SEEDS = 10**9  # programs that one seed has


@dataclass(frozen=True)
class Setup:
    """Engines by their specs, how to compare, and the bounds of one program."""

    expected: str = "torch"
    engines: tuple[str, ...] = ("refgrad",)
    strict: bool | None = None
    known: tuple[Known, ...] = ()
    limit: float = LIMIT
    memory: int = MEMORY
    seed: int = 0
    size: int = SIZE
    warm: bool = True  # have engines import first what they import late, so that no program pays for it

    @property
    def specs(self) -> tuple[str, ...]:
        return (self.expected, *self.engines)

    def seed_of(self, number: int) -> int:
        """The generator's seed of the campaign's program with this number."""
        return self.seed * SEEDS + number

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> "Setup":
        entries = [{key: unlisted(value) for key, value in item.items()} for item in data["known"]]
        known = tuple(Known(**entry) for entry in entries)
        return cls(**{**data, "known": known, "engines": tuple(data["engines"])})


def unlisted(value: Any) -> Any:
    """What JSON made a list is a tuple again."""
    return tuple(value) if isinstance(value, list) else value


@dataclass
class BatchResult:
    """What a batch came to: how many programs got which verdict, findings whole, feature groups used."""

    first: int
    count: int
    verdicts: dict[str, int] = field(default_factory=dict)
    found: list[dict[str, Any]] = field(default_factory=list)  # number, findings, lines of the record
    groups: dict[str, int] = field(default_factory=dict)  # set of groups as "a b c": programs
    seconds: float = 0.0

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @property
    def stop(self) -> int:
        return self.first + self.count
