"""`python -m tests.measure_buckets`: do 20 planted bugs stand in the first 30 buckets, and does none mix two?

Each bug is planted alone into a copy of refgrad, so that it is known which bug a finding belongs to; all
findings then go into the same buckets, as if they came from one campaign on one engine with all the bugs.
Programs in which refgrad itself differs are left out.

Where a bucket holds findings of two bugs, its programs are run with each of the two. Two bugs are told apart
if one of its programs shows the first and not the second, and another one the second and not the first. If
not, they look the same there: whoever repairs what the bucket shows repairs the one bug, and then the other.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import click

from harness.buckets import Buckets, BucketSignature, Exemplar, signature_of
from harness.engines import engine
from harness.engines.refgrad import RefgradEngine
from harness.finding import Finding, finding_of
from harness.generate import prng
from harness.judge import InProcess
from harness.mutants import MUTANTS
from harness.mutants.plant import fresh_copy
from harness.reduce import reduce, script_of
from harness.run import examine

FIRST = 30
BUGS = (
    "calls_every_tensor_a_leaf",
    "calls_no_post_hooks",
    "checks_no_versions",
    "copies_no_gradients",
    "counts_no_writes",
    "detaches_second_order",
    "forgets_how_views_were_made",
    "forgets_to_free",
    "frees_in_spite_of_retain_graph",
    "gives_zeros_for_unused_inputs",
    "hands_none_to_functions",
    "ignores_no_grad",
    "ignores_what_hooks_return",
    "keeps_stale_views",
    "leaves_the_base_alone",
    "overwrites_instead_of_adding",
    "retains_no_gradients",
    "runs_hooks_backwards",
    "runs_the_oldest_node_first",
    "shares_no_versions_with_detached",
    "sums_no_broadcast",
    "takes_any_number_of_gradients",
    "words_an_error_differently",
    "writes_to_leaves",
)


@dataclass(frozen=True, eq=False)
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
    with fresh_copy(MUTANTS[bug]) as module:
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


def judged(findings: Iterable[Found]) -> tuple[dict[str, int], list[list[Found]]]:
    """Each bug's first place among the ranked buckets, and the findings of each bucket that mixes bugs."""
    buckets, owners = Buckets(), defaultdict[BucketSignature, list[Found]](list)
    later: list[Found] = []
    for item in sorted(findings, key=lambda item: (item.number, item.bug)):
        if item.exemplar is None or item.signature is None:
            later.append(item)
            continue
        owners[item.signature].append(item)
        buckets.add(item.exemplar, item.original, item.signature)
    for item in later:
        buckets.add_similar(item.original, item.number)
    places: dict[str, int] = {}
    mixed = []
    for place, bucket in enumerate(buckets.ranked(), 1):
        for item in owners[bucket.signature]:
            places.setdefault(item.bug, place)
        if len(bugs_of(owners[bucket.signature])) > 1:
            mixed.append(owners[bucket.signature])
    return places, mixed


def bugs_of(items: Iterable[Found]) -> list[str]:
    return sorted({item.bug for item in items})


def script_in(items: Sequence[Found]) -> str:
    exemplars = [item.exemplar for item in items if item.exemplar is not None]
    return min(exemplars, key=lambda exemplar: exemplar.size).script


def told_apart(mixed: Sequence[Sequence[Found]]) -> list[bool]:
    """Of each of these buckets, whether its programs tell two of its bugs apart."""
    torch, shows = engine("torch"), set[tuple[str, Found]]()
    for bug in bugs_of(item for items in mixed for item in items):
        with fresh_copy(MUTANTS[bug]) as module:
            judge = InProcess(torch, [RefgradEngine(module)])
            for item in (item for items in mixed if bug in bugs_of(items) for item in items):
                assert item.exemplar is not None
                seen = judge(item.exemplar.program).finding
                if seen is not None and seen.is_like(item.exemplar.finding):
                    shows.add((bug, item))
    return [
        any(
            any((a, item) in shows and (b, item) not in shows for item in items)
            and any((b, item) in shows and (a, item) not in shows for item in items)
            for a, b in combinations(bugs_of(items), 2)
        )
        for items in mixed
    ]


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
    apart = told_apart(mixed)
    for items, is_apart in zip(mixed, apart, strict=True):
        how = "mixes" if is_apart else "cannot tell apart"
        click.echo(f"a bucket {how} {', '.join(bugs_of(items))}:\n{script_in(items)}")
    first = sum(place <= FIRST for place in places.values())
    unfound = [bug for bug in bugs if bug not in places]
    click.echo(
        f"not found: {', '.join(unfound) or 'none'}; {sum(apart)} buckets mix bugs that can be told apart,"
        f" {len(mixed) - sum(apart)} hold bugs that look the same there"
    )
    click.echo(f"{first} of {len(bugs)} bugs stand in the first {FIRST} buckets")


if __name__ == "__main__":
    main()
