"""A host: does one job after the other in children, so that nothing that a program does can harm it.

Jobs come as JSON lines on standard input, answers go as JSON lines to standard output.
"""

import io
import json
import os
import signal
import sys
import time
from collections import Counter
from contextlib import suppress
from dataclasses import replace
from typing import IO, Any

from harness.engines import NAMED
from harness.engines.base import END, FULL, QUICK, Engine, EngineError
from harness.finding import Finding, Observation
from harness.program import Program
from harness.reduce import MOST_TRIALS, Reduction, reduce, script_of
from harness.verdict import Verdict

from . import work
from .child import Child, Lost, Say, die_with_parent
from .setup import PATIENCE, BatchResult, Setup

SLOW_TRIALS = 60  # for what hangs: most trials take the whole time limit
WARM_UP_LIMIT = 30.0  # seconds
COLD_LIMIT = 10.0  # for a program before the warm-up: what engines import late counts as its time
CONFIRM_LIMIT = 300.0  # for all that is done to confirm a finding
VERDICTS = {"crash": Verdict.CRASHED, "hang": Verdict.HUNG, "memory": Verdict.CRASHED}


class Tally:
    """The counts of a batch as its programs come in."""

    def __init__(self, batch: BatchResult):
        self.batch = batch
        self.verdicts, self.groups = Counter[str](), Counter[str]()
        self.at = batch.first  # the program that runs
        self.reached = batch.first  # the first of those in hand that is not counted yet
        self.used: str | None = None  # the feature groups of the program that is counted next
        self.found: dict[str, Any] | None = None  # what was found in it

    def begin(self, number: int) -> None:
        """Take programs from this one on in hand."""
        self.at = self.reached = number
        self.used = self.found = None

    def add(self, verdict: str) -> None:
        """Count a program."""
        self.verdicts[verdict] += 1
        if self.used is not None:
            self.groups[self.used] += 1
        if self.found is not None:
            self.batch.found.append(self.found)
        self.used = self.found = None

    def result(self, seconds: float) -> BatchResult:
        self.batch.verdicts, self.batch.groups = dict(sorted(self.verdicts.items())), dict(self.groups)
        self.batch.found.sort(key=lambda found: found["number"])
        self.batch.seconds = round(seconds, 3)
        return self.batch


class Host:
    """The jobs; each method that is named like a job takes its fields and gives the answer."""

    def __init__(self, setup: Setup):
        self.setup = setup
        self.engines = work.Engines(setup)
        self.runner: Child | None = None
        self.unused: Child | None = None  # a fork from before anything ran, the warm-up included
        if setup.warm:
            self.unused = Child(self.confirm, CONFIRM_LIMIT, sys.maxsize)
            self.warm_up()

    def warm_up(self) -> None:
        """Have the engines ready for all children; one not of this project must first survive it in one."""
        for engine in self.engines.all:
            does = work.warm_up(engine)
            with suppress(Lost, Exception):
                if engine.name not in NAMED:
                    with Child(does, WARM_UP_LIMIT, self.setup.memory) as child:
                        list(child.lines())
                does(print, io.StringIO())

    def hello(self) -> dict[str, Any]:
        return {"engines": [{"name": e.name, "version": e.version} for e in self.engines.all]}

    # Batches ---------------------------------------------------------------------------------------

    def batch(self, first: int, count: int, with_groups: bool = False) -> dict[str, Any]:
        """Run consecutive programs; one that takes its child with it is named, and the rest goes on.

        One that does not end in time gets a second chance with more of it, in a fresh child.
        """
        begun, tally = time.monotonic(), Tally(BatchResult(first, count))
        todo = [(first, first + count, 1)]  # what comes first stands last
        while todo:
            start, stop, patience = todo.pop()
            tally.begin(start)
            try:
                self.run(start, stop, with_groups, patience, tally)
            except Lost as lost:
                self.end_runner()
                at, again = tally.at, lost.fact == "hang" and patience == 1
                if not again:
                    self.count_lost(at, lost, with_groups, tally)
                rest = [(at + 1, stop, 1), (at, at + again, PATIENCE), (tally.reached, at, 1)]
                todo += [piece for piece in rest if piece[0] < piece[1]]
        if self.runner is not None and self.runner.grown() > self.setup.memory / 2:
            self.end_runner()  # no one program is to blame
        return tally.result(time.monotonic() - begun).to_json()

    def run(self, first: int, stop: int, with_groups: bool, patience: int, tally: Tally) -> None:
        """Run programs in the runner; raises Lost when one, that at `tally.at`, keeps the rest from it."""
        runner = self.running()
        runner.limit = 1.2 * patience * self.setup.limit
        runner.tell(f"{first} {stop} {int(with_groups)} {patience}")
        for line in runner.lines():
            word, _, rest = line.partition(" ")
            if word == "at":
                tally.at = int(rest)
            elif word == "groups":
                tally.used = rest
            elif word == "found":
                tally.found = json.loads(rest)
            elif word == "done":
                tally.add(rest)
                tally.reached += 1
            elif word == "end":
                return
        self.end_runner()  # it ended by itself, behind a program that ran out of time
        if tally.reached < stop:
            raise Lost("hang", "", f"does not end within {self.setup.limit:g} s")

    def count_lost(self, number: int, lost: Lost, with_groups: bool, tally: Tally) -> None:
        tally.found = self.named(number, lost)
        tally.used = " ".join(work.groups_of(self.setup, number)) if with_groups else None
        tally.add(VERDICTS[lost.fact])

    def running(self) -> Child:
        """The child that runs batches; it lives on from batch to batch, for it knows more and more texts."""
        if self.runner is None:
            self.runner = self.child(work.batches(self.engines))
        return self.runner

    def end_runner(self) -> None:
        if self.runner is not None:
            self.runner.__exit__()
            self.runner = None

    def end(self) -> None:
        """End all children; the host is of no use any more."""
        self.end_runner()
        if self.unused is not None:
            self.unused.__exit__()
            self.unused = None

    def child(self, does: Any, times: float = 1.0) -> Child:
        """`times` the time limit must pass without a line before the child counts as hung."""
        return Child(does, times * self.setup.limit, self.setup.memory)

    def named(self, number: int, lost: Lost) -> dict[str, Any]:
        """A program that took its child with it, as a finding of the engine that did it."""
        program = work.made(self.setup, number)
        finding = self.culprit(program, lost)
        result = {
            "line": "result",
            "program": program.id,
            "expected": self.engines.expected.name,
            "engine": finding.engine,
            "verdict": str(finding.verdict),
            "note": f"{finding.note}{f' in {finding.what}' if finding.what else ''}",
        }
        return {
            "number": number,
            "program": program.id,
            "findings": [finding.to_json()],
            "lines": [work.described(program), result],
        }

    def culprit(self, program: Program, lost: Lost) -> Finding:
        """Which engine is lost on a program, and at which statement; each gets a child of its own."""
        for engine in self.engines.all:
            for look in (QUICK, FULL, END):
                finding = self.alone(engine, program, look)
                if finding is not None:
                    return finding
                if lost.fact == "hang":
                    break  # one look must do: each may take the whole time
        name = ", ".join(engine.name for engine in self.engines.all)
        note = f"{lost.note}, but not with any engine alone"
        return Finding(VERDICTS[lost.fact], name, "", lost.fact, "", how=lost.how, note=note)

    def alone(self, engine: Engine, program: Program, look: str) -> Finding | None:
        """What is lost when only this engine runs the program; `expected` keeps the look for reduction."""
        step = -1
        try:
            with self.child(work.solo(engine, program, look)) as child:
                for line in child.lines():
                    step = int(line.partition(" ")[2])
        except Lost as lost:
            at = max(step, 0)
            return Finding(
                VERDICTS[lost.fact],
                engine.name,
                program.phases[at],
                lost.fact,
                program.steps[at].kind,
                how=lost.how,
                step=at,
                what=program.statements[at].text.partition("\n")[0],
                expected=look,
                note=lost.note,
            )
        return None

    # Reductions ------------------------------------------------------------------------------------

    def reduce(
        self,
        program: dict[str, Any],
        finding: dict[str, Any],
        thorough: bool = False,
        most_trials: int = MOST_TRIALS,
    ) -> dict[str, Any]:
        """Reduce a finding; in one child if programs leave it alive, else each trial in one of its own."""
        original, goal = work.program_from_json(program), Finding.from_json(finding)
        if goal.fact in VERDICTS and not goal.statement_kind:
            goal = self.culprit(original, Lost(goal.fact, goal.how, goal.note))
        needs_end = thorough and (goal.verdict is Verdict.UNSTABLE or bool(goal.note))
        if goal.fact in VERDICTS:
            trials = SLOW_TRIALS if goal.fact == "hang" else most_trials
            return self.reduction(reduce(original, self.lost_judge(goal), goal, trials), goal, needs_end)
        try:
            with self.child(self.reduction_work(original, goal, needs_end, most_trials), 5.0) as child:
                answer = [json.loads(line) for line in child.lines() if line != "."]
            return answer[0]
        except (Lost, IndexError):
            judge = self.forked_judge(goal, needs_end)
            return self.reduction(reduce(original, judge, goal, most_trials), goal, needs_end)

    def reduction_work(self, program: Program, goal: Finding, thorough: bool, most_trials: int) -> Any:
        """The reduction as the work of one child, which says "." before each trial."""

        def does(say: Say, told: IO[str]) -> None:
            judge = self.engines.judge(thorough, goal.engine)

            def judged(candidate: Program) -> Observation:
                say(".")
                return judge(candidate)

            reduced = reduce(program, judged, goal, most_trials)
            say(json.dumps(self.reduction(reduced, goal, thorough)))

        return does

    def reduction(self, reduced: Reduction, goal: Finding, thorough: bool) -> dict[str, Any]:
        """What came of a reduction; its script is run once more in a fresh process before it is told."""
        finding = reduced.finding
        answer: dict[str, Any] = {"trials": reduced.trials, "before": reduced.before, "finding": None}
        if finding is None:
            return answer
        script = script_of(reduced.program, finding)
        fresh = replace(Program.parse(script, reduced.program.id), file=reduced.program.file)
        seen = self.afresh(fresh, goal, thorough)
        if seen.finding is not None and seen.finding.is_like(finding):
            finding = replace(finding, profile=seen.finding.profile)
            answer["is_confirmed"] = True
        answer["program"] = work.program_to_json(reduced.program)
        answer["finding"] = finding.to_json()
        answer["script"] = script
        answer["tensors"] = work.observation_to_json(seen)["tensors"]
        return answer

    def afresh(self, program: Program, goal: Finding, thorough: bool) -> Observation:
        """What is found in a program in a process that has imported the engines and run nothing."""
        if self.unused is None:
            return self.judge_of(goal, thorough)(program)
        job = {"program": work.program_to_json(program), "finding": goal.to_json(), "thorough": thorough}
        self.unused.tell(json.dumps(job))
        try:
            return work.observation_from_json(json.loads(next(self.unused.lines())))
        except (Lost, StopIteration):
            self.unused.__exit__()
            self.unused = None
            return Observation(None)

    def confirm(self, say: Say, told: IO[str]) -> None:
        """Judge programs in forks of a host that never warmed up, for which they get more time."""
        self.setup = replace(self.setup, limit=max(self.setup.limit, COLD_LIMIT))
        self.engines.setup = self.setup
        for line in told:
            job = json.loads(line)
            judge = self.judge_of(Finding.from_json(job["finding"]), job["thorough"])
            say(json.dumps(work.observation_to_json(judge(work.program_from_json(job["program"])))))

    def judge_of(self, goal: Finding, thorough: bool) -> Any:
        """The judge for a finding, each program in a child of its own, with everything that differs."""
        return self.lost_judge(goal) if goal.fact in VERDICTS else self.forked_judge(goal, thorough, True)

    def forked_judge(self, goal: Finding, thorough: bool, with_profile: bool = False) -> Any:
        """A judge that runs every program in a child of its own."""

        def judge(program: Program) -> Observation:
            does = work.observe(self.engines, program, thorough, goal.engine, with_profile)
            try:
                with self.child(does, 5.0) as child:
                    return work.observation_from_json(json.loads(next(child.lines())))
            except (Lost, StopIteration):
                return Observation(None)

        return judge

    def lost_judge(self, goal: Finding) -> Any:
        """A judge of what kills, hangs or eats memory: the engine alone, watched from outside."""
        engine = next((e for e in self.engines.all if e.name == goal.engine), self.engines.expected)

        def judge(program: Program) -> Observation:
            finding = self.alone(engine, program, goal.expected or QUICK)
            if finding is None:
                return Observation(None)
            before = Program(program.id, program.statements[: finding.step], file=program.file)
            try:
                with self.child(work.seen_by(engine, before)) as child:
                    seen = work.observation_from_json(json.loads(next(child.lines())))
            except (Lost, StopIteration):
                return Observation(finding)
            return Observation(finding, seen.tensors, seen.raising)

        return judge

    # One program -----------------------------------------------------------------------------------

    def judge(self, program: dict[str, Any], thorough: bool = False, only: str = "") -> dict[str, Any]:
        """What is found in one program; what it kills or hangs is found as well."""
        made = work.program_from_json(program)
        try:
            with self.child(work.observe(self.engines, made, thorough, only, True), 5.0) as child:
                return json.loads(next(child.lines()))
        except Lost as lost:
            return work.observation_to_json(Observation(self.culprit(made, lost)))

    def verdict(self, program: dict[str, Any]) -> dict[str, Any]:
        """The verdict on one program."""
        made = work.program_from_json(program)
        try:
            with self.child(work.verdicts(self.engines, made), 10.0) as child:
                return {"verdict": next(child.lines())}
        except Lost as lost:
            return {"verdict": str(VERDICTS[lost.fact])}


def main() -> None:
    """Answer jobs until standard input ends."""
    die_with_parent()  # a campaign that is killed leaves nothing running
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the campaign, which then ends its hosts
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # whatever else is written does not disturb the answers
    host: Host | None = None
    for line in sys.stdin:
        job = json.loads(line)
        name = job.pop("job")
        try:
            if name == "hello":
                host = Host(Setup.from_json(job["setup"]))
                answer = host.hello()
            else:
                answer = getattr(host, name)(**job)
        except EngineError as problem:
            answer = {"problem": str(problem)}
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


if __name__ == "__main__":
    main()
