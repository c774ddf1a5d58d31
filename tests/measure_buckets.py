"""`python -m tests.measure_buckets`: do 20 planted bugs stand in the first 30 buckets, and does none mix two?

Each bug is planted alone into a copy of refgrad, so that it is known which bug a finding belongs to; all
findings then go into the same buckets, as if they came from one campaign on one engine with all the bugs.
Programs in which refgrad itself differs are left out.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import click

from harness.buckets import Buckets, BucketSignature, Exemplar, signature_of
from harness.engines import engine
from harness.engines.refgrad import RefgradEngine
from harness.finding import Finding, finding_of
from harness.generate import prng
from harness.judge import InProcess
from harness.reduce import reduce, script_of
from harness.run import examine
from tests.planted_bugs import BUGS, refgrad_with

FIRST = 30


@dataclass(frozen=True)
class Found:
    """A finding of a planted bug; without exemplar when enough like it were reduced."""

    bug: str
    number: int
    original: Finding
    exemplar: Exemplar | None = None
    signature: BucketSignature | None = None


def found_in(bug: str, numbers: Iterable[int], per_identity: int, per_fact: int) -> Iterator[Found]:
    """What is found of one bug in these programs, reduced as a campaign would."""
    torch = engine("torch")
    reduced: Counter[tuple[str, ...]] = Counter()
    with refgrad_with(BUGS[bug]) as module:
        wrong = RefgradEngine(module)
        judge = InProcess(torch, [wrong])
        profiled = InProcess(torch, [wrong], with_profile=True)
        for number in numbers:
            program = prng.program(number)
            finding = finding_of(examine(program, torch, [wrong], thorough=number % 10 == 0)[-1])
            if finding is None:
                continue
            identity, loose = finding.identity, finding.loose_identity
            if reduced[identity] >= per_identity or reduced[loose] >= per_fact:
                yield Found(bug, number, finding)
                continue
            reduced.update((identity, loose))
            reduction = reduce(program, judge, finding)
            seen = profiled(reduction.program)
            if reduction.finding is None or seen.finding is None:
                continue
            script = script_of(reduction.program, seen.finding)
            exemplar = Exemplar(f"{bug}-{number}", number, reduction.program, seen.finding, script)
            signature = signature_of(reduction.program, seen.finding, seen.tensors)
            yield Found(bug, number, finding, exemplar, signature)


def judged(findings: Iterable[Found]) -> tuple[dict[str, int], list[str]]:
    """Each bug's first place among the ranked buckets, and a line for each bucket that mixes bugs."""
    buckets, owners = Buckets(), defaultdict[BucketSignature, Counter[str]](Counter)
    later: list[Found] = []
    for item in sorted(findings, key=lambda item: (item.number, item.bug)):
        if item.exemplar is None or item.signature is None:
            later.append(item)
            continue
        owners[item.signature][item.bug] += 1
        buckets.add(item.exemplar, item.original, item.signature)
    for item in later:
        buckets.add_similar(item.original, item.number)
    places: dict[str, int] = {}
    mixed = []
    for place, bucket in enumerate(buckets.ranked(), 1):
        bugs = owners[bucket.signature]
        for bug in bugs:
            places.setdefault(bug, place)
        if len(bugs) > 1:
            mixed.append(f"bucket {place} mixes {', '.join(bugs)}:\n{bucket.exemplar.script}")
    return places, mixed


def sound_numbers(programs: int) -> list[int]:
    """The programs on which refgrad itself agrees."""
    torch, refgrad = engine("torch"), engine("refgrad")
    return [
        number
        for number in range(programs)
        if finding_of(examine(prng.program(number), torch, [refgrad], thorough=number % 10 == 0)[-1]) is None
    ]


@click.command()
@click.option("--programs", default=1000, show_default=True)
@click.option("--without", multiple=True, type=click.Choice(sorted(BUGS)), help="Leave out a bug.")
def main(programs: int, without: tuple[str, ...]) -> None:
    """Plant each bug, find it, reduce, and sort all findings into buckets."""
    numbers = sound_numbers(programs)
    click.echo(f"refgrad agrees on {len(numbers)} of {programs} programs")
    findings: list[Found] = []
    bugs = [bug for bug in sorted(BUGS) if bug not in without]
    for bug in bugs:
        new = list(found_in(bug, numbers, per_identity=2, per_fact=8))
        click.echo(f"{bug}: {len(new)} findings, {sum(item.exemplar is not None for item in new)} reduced")
        findings += new
    places, mixed = judged(findings)
    for bug, place in sorted(places.items(), key=lambda item: item[1]):
        click.echo(f"{place:4} {bug}")
    for line in mixed:
        click.echo(line)
    first = sum(place <= FIRST for place in places.values())
    unfound = [bug for bug in bugs if bug not in places]
    click.echo(f"not found: {', '.join(unfound) or 'none'}; {len(mixed)} buckets mix bugs")
    click.echo(f"{first} of {len(bugs)} bugs stand in the first {FIRST} buckets")


if __name__ == "__main__":
    main()
