"""The plain front of the grammar: programs from a seed, fast, for campaigns."""

from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cache
from random import Random

from harness.generate import actions  # noqa: F401  (registers the kinds of steps)
from harness.generate.intents import ACTIONS, Step
from harness.generate.resolve import Settings, resolve, written_by
from harness.program import Program

SIZE = 20  # steps; about 30 statements
FAULT_SHARE = 0.2
ALWAYS = ("creation", "ops", "backward")
# One step of these costs as much as many others: they are on in a quarter of the programs, the rest in three.
DEAR = ("forward", "func", "functional", "checkpoint", "saved", "inference", "complex")

_TRIPLES = tuple((n & 15, n >> 4 & 15, n >> 8) for n in range(4096))
_GROUPS = tuple(sorted({step.group for step in ACTIONS.values() if step.weight} - set(ALWAYS)))
_DEAR = sum(1 << bit for bit, group in enumerate(_GROUPS) if group in DEAR)


@cache
def enabled(mask: int) -> tuple[str, ...]:
    """The actions of a swarm, each as often as its weight says; the groups in the mask are on."""
    on = {group for bit, group in enumerate(_GROUPS) if mask >> bit & 1} | set(ALWAYS)
    return tuple(step.name for step in ACTIONS.values() if step.group in on for _ in range(step.weight))


def picks_of(number: int) -> tuple[int, ...]:
    """The six picks that an integer below 2**24 stands for: its digits to base 16, the lowest first."""
    return _TRIPLES[number & 4095] + _TRIPLES[number >> 12]


def settings_of(number: int) -> Settings:
    """The settings that a small number stands for: lane, shapes, dtype."""
    number, lane = divmod(number, 5)
    number, narrow = divmod(number, 3)
    is_exact = lane < 3
    return Settings(is_exact, number, "f" if is_exact == (narrow > 0) else "d")


def draw(random: Random, size: int = SIZE, fault_share: float = FAULT_SHARE) -> tuple[list[Step], Settings]:
    """The intents and settings of one program."""
    settings = settings_of(random.getrandbits(12))
    one, other = random.getrandbits(len(_GROUPS)), random.getrandbits(len(_GROUPS))
    mask = (one | other) & ~_DEAR | one & other
    names = enabled(mask)
    count = len(names)
    bits, choose, triples = random.getrandbits, random.random, _TRIPLES
    drawn: list[Step] = []
    for _ in range(size):
        number = bits(24)
        drawn.append((names[int(choose() * count)], triples[number & 4095] + triples[number >> 12]))
    if choose() < fault_share:
        place = size // 2 + int(choose() * (size // 2 + 1))
        drawn.insert(place, ("plant", picks_of(bits(24))))
    drawn.append(("finish", picks_of(bits(24))))
    return drawn, settings


def statements(seed: int, size: int = SIZE, fault_share: float = FAULT_SHARE) -> tuple[list[str], bool]:
    """The statements of the program that a seed stands for, and whether it is in the exact lane."""
    intents, settings = draw(Random(seed), size, fault_share)
    return resolve(intents, settings), settings.exact


def program(seed: int, size: int = SIZE, fault_share: float = FAULT_SHARE) -> Program:
    """The program that a seed stands for: the same in every process."""
    texts, is_exact = statements(seed, size, fault_share)
    return Program.from_statements(texts, f"generated-{seed}", is_exact=is_exact)


def programs(seed: int, count: int, size: int = SIZE, fault_share: float = FAULT_SHARE) -> Iterator[Program]:
    """So many programs, each of which can be made again by itself from the seed in its id."""
    for number in range(seed, seed + count):
        yield program(number, size, fault_share)


def coverage(seeds: Iterable[int], size: int = SIZE) -> Counter[str]:
    """How often each kind of step wrote something in the programs of these seeds (0: never)."""
    counts: Counter[str] = Counter(dict.fromkeys(ACTIONS, 0))
    for seed in seeds:
        counts.update(written_by(*draw(Random(seed), size)))
    return counts
