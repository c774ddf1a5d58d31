"""The mutants change something, the ways of planting one agree, and the score tells what became of them."""

import sys
import time
from pathlib import Path

import pytest
from click.testing import CliRunner

import refgrad
from harness.cli import main
from harness.engines import engine
from harness.engines.refgrad import RefgradEngine
from harness.mutants import CLASSES, MUTANTS, Mutant, class_of
from harness.mutants.plant import MutantError, Sources, fresh_copy, is_read_once
from harness.program import Program
from harness.run import examine
from harness.score import Bench, Score, kills, scores
from harness.score_commands import rendered
from harness.verdict import Verdict

REPORT = Path(__file__).parents[2] / "reports" / "mutation-score.md"
PROGRAMS = 240
# Two of each class, which soon show; the whole is for `refgrad score`.
SAMPLE = (
    *("overwrites_instead_of_adding", "keeps_the_last_gradient_only"),
    *("sums_no_broadcast", "leaves_sizes_alone"),
    *("counts_no_writes", "shares_no_versions_with_detached"),
    *("leaves_the_base_alone", "unsqueezed_strides_are_one"),
    *("ignores_what_hooks_return", "calls_no_prehooks"),
    *("gives_zeros_for_unused_inputs", "nodes_make_zeros_of_none"),
    *("ignores_no_grad", "backward_keeps_grad_mode"),
    *("forgets_to_free", "frees_in_spite_of_retain_graph"),
    *("detaches_second_order", "formulas_run_outside_the_graph"),
    *("single_gradients_are_lists", "nodes_of_functions_have_other_names"),
    *("promotes_as_numpy_does", "numbers_do_not_count"),
    *("words_an_error_differently", "gives_no_hint"),
    *("calls_every_tensor_a_leaf", "every_output_is_the_first"),
    *("relu_passes_at_zero", "cumsum_counts_from_the_start"),
)
STALE = Mutant("stale", "hooks", "Nothing.", "engine", "no such text", "other text")


@pytest.fixture(scope="module")
def bench() -> Bench:
    return Bench(range(PROGRAMS))


def test_there_are_enough_in_every_class() -> None:
    counts = {group: sum(m.group == group for m in MUTANTS.values()) for group in CLASSES}

    assert len(MUTANTS) >= 120
    assert min(counts.values()) >= 10, counts


@pytest.mark.parametrize("name", MUTANTS)
def test_a_mutant_fits_the_sources(name: str) -> None:
    sources = Sources(MUTANTS[name])

    assert sources.after != sources.before
    compile(sources.after, sources.path, "exec")


def test_the_sample_is_killed(bench: Bench) -> None:
    assert {MUTANTS[name].group for name in SAMPLE} == set(CLASSES)
    found = list(scores(bench, [MUTANTS[name] for name in SAMPLE], 2, time.monotonic() + 300))

    assert [score.mutant.name for score in found if not score.is_killed] == []
    assert sorted(score.mutant.name for score in found) == sorted(SAMPLE)


def test_every_survivor_has_a_witness_and_a_reason() -> None:
    for mutant in MUTANTS.values():
        assert bool(mutant.witness) <= bool(mutant.survives), mutant.name


@pytest.mark.parametrize("name", [name for name, mutant in MUTANTS.items() if mutant.witness])
def test_a_witness_kills_its_mutant_and_nobody_else(name: str) -> None:
    program, torch = Program.parse(MUTANTS[name].witness), engine("torch")

    assert examine(program, torch, [RefgradEngine()])[1].verdict is Verdict.AGREES
    assert kills(program, MUTANTS[name], torch)


# Planting -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "way"),
    [
        ("ignores_what_hooks_return", "warm"),
        ("cumsum_counts_from_the_start", "warm"),
        ("saves_version_zero", "cold"),
        ("abs_slopes_at_zero", "cold"),
        ("copies_no_gradients", "fresh"),
    ],
)
def test_the_ways_of_planting_agree(name: str, way: str, bench: Bench) -> None:
    mutant = MUTANTS[name]
    pairs = bench.functions.pairs(Sources(mutant))
    assert way == ("fresh" if not pairs else "cold" if is_read_once(mutant, pairs) else "warm")

    (score,) = scores(bench, [mutant], 1, time.monotonic() + 300)

    assert score.killer is not None
    with fresh_copy(mutant) as module:
        wrong = RefgradEngine(module)
        killer = bench.runs[str(score.killer)].program
        assert examine(killer, bench.expected, [wrong])[1].verdict is not Verdict.AGREES


@pytest.mark.parametrize(
    ("way", "change"),
    [
        ("warm", ("hooks", "    return list(after)\n", "    return [*after]\n")),
        ("cold", ("call_source", '    return ", ".join(parts)\n', '    return ", ".join([*parts])\n')),
        ("fresh", ("engine", "references = sys.getrefcount\n", 'references = getattr(sys, "getrefcount")\n')),
    ],
)
def test_a_change_of_nothing_survives(way: str, change: tuple[str, str, str], bench: Bench) -> None:
    mutant = Mutant("nothing", "hooks", "Nothing.", *change)
    pairs = bench.functions.pairs(Sources(mutant))
    assert way == ("fresh" if not pairs else "cold" if is_read_once(mutant, pairs) else "warm")

    (score,) = scores(bench, [mutant], 1, time.monotonic() + 300)

    assert (score.is_killed, score.is_complete) == (False, True)


def test_the_ordinary_copy_is_back_afterwards() -> None:
    with fresh_copy(MUTANTS["calls_every_tensor_a_leaf"]) as wrong:
        assert wrong is not refgrad
        assert (wrong.ones(2, requires_grad=True) * 2.0).is_leaf
    assert sys.modules["refgrad"] is refgrad
    assert not (refgrad.ones(2, requires_grad=True) * 2.0).is_leaf


def test_a_mutant_that_fits_no_more_says_where_to_mend_it() -> None:
    with pytest.raises(MutantError, match=r"stands 0 times in .*engine\.py, .* harness/mutants/hooks\.py"):
        Sources(STALE)


def test_two_mutants_of_one_name_are_refused() -> None:
    with pytest.raises(ValueError, match="two mutants are called forgets_to_free: rename one"):
        class_of("freeing", "freeing")("forgets_to_free", "graph", "a", "b", "Nothing.")


# The score ------------------------------------------------------------------------------------------


def hanging(mutant: Mutant) -> Mutant:
    """A mutant whose `is_leaf` kills the process."""
    return Mutant(
        "dies", "leaves", "It dies.", "tensor", "        return self.grad_fn is None\n",
        '        __import__("os")._exit(3)\n',
    )  # fmt: skip


def test_a_mutant_that_kills_its_process_is_killed(bench: Bench) -> None:
    (score,) = scores(bench, [hanging(STALE)], 1, time.monotonic() + 60)

    assert (score.is_killed, score.fact) == (True, "the process dies")


def test_what_the_time_does_not_reach_is_no_survivor_and_not_killed(bench: Bench) -> None:
    (score,) = scores(bench, [MUTANTS["forgets_to_free"]], 1, time.monotonic() - 1)

    assert (score.is_killed, score.is_complete) == (False, False)


def test_the_markdown_holds_nothing_that_varies() -> None:
    first, other = list(MUTANTS.values())[:2]
    once = [Score(first, 3, "grad", 2, True, 1.5), Score(other, None, "", 10, True, 0.25)]
    again = [Score(first, 3, "grad", 2, True, 7.5), Score(other, None, "", 10, True, 9.25)]

    assert rendered(once, 10) == rendered(again, 10)
    assert rendered(once, 10).startswith("# Mutation score: 50 % of 2 mutants killed\n")


@pytest.mark.slow
def test_the_command_shows_single_mutants_and_writes_the_file(tmp_path: Path) -> None:
    options = "score --mutant forgets_to_free --programs 40 --seconds 0 --jobs 1 --markdown"
    path = tmp_path / "score.md"
    result = CliRunner().invoke(main, [*options.split(), str(path)])

    assert result.exit_code == 0, result.output
    assert "1 of 1 mutants killed (100 %)" in result.output
    assert "| `forgets_to_free` |" in path.read_text(encoding="utf-8")


def test_a_wrong_name_is_bad_input() -> None:
    result = CliRunner().invoke(main, ["score", "--mutant", "nobody"])

    assert (result.exit_code, "there is no mutant 'nobody'" in result.output) == (2, True)


def test_the_report_that_is_committed_is_about_these_mutants() -> None:
    text = REPORT.read_text(encoding="utf-8")

    assert [name for name in MUTANTS if f"| `{name}`" not in text] == []
    assert f" of {len(MUTANTS)} mutants killed" in text
