"""Case files as test items: one per file, below the folders that the ini option `refgrad_cases` names.

Without that option the plugin adds nothing to a project's pytest: no command-line option, no item.
"""

from collections.abc import Generator, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

# What costs time to import is imported where it is needed: this module is loaded in every project's pytest.


def pytest_addoption(parser: pytest.Parser, pluginmanager: pytest.PytestPluginManager) -> None:
    parser.addini("refgrad_cases", "folders of refgrad cases to collect", type="args", default=[])
    # The ini file is read before plugins are asked for options, so ours can stay away where no cases are.
    config = pluginmanager.get_plugin("pytestconfig")
    if config is None or not config.getini("refgrad_cases"):
        return
    group = parser.getgroup("refgrad", "conformance of autograd engines")
    group.addoption(
        "--engine",
        action="append",
        metavar="SPEC",
        default=[],
        help="engine to compare with torch: refgrad (default) or module:NAME; may be repeated",
    )
    group.addoption(
        "--strict-facts",
        action="store_true",
        help="compare all facts of other engines too: texts, strides, node names, … (so does --strict)",
    )
    group.addoption(
        "--generated",
        type=number_of_programs,
        default=300,
        metavar="N",
        help="how many generated programs the tests run (default 300)",
    )


def number_of_programs(text: str) -> int:
    if not text.isdecimal():
        raise ValueError(text)  # argparse says which option it was
    return int(text)


def pytest_configure(config: pytest.Config) -> None:
    folders = config.getini("refgrad_cases")
    if folders:
        config.pluginmanager.register(Conformance(config, folders), "refgrad-conformance")


class Conformance:
    """The plugin where a project has cases."""

    def __init__(self, config: pytest.Config, folders: Sequence[str]):
        self.config = config
        self.folders = [(config.rootpath / folder).resolve() for folder in folders]
        self.ids: dict[str, Path] = {}
        self.entries: dict[Path, list[Any]] = {}
        self.loaded: tuple[Any, list[Any]] | None = None
        if config.getoption("engine"):
            self.engines()  # a wrong SPEC is told at once

    @property
    def specs(self) -> list[str]:
        return self.config.getoption("engine") or ["refgrad"]

    @property
    def is_strict(self) -> bool:
        # --strict is pytest's own option; whoever gives it wants no looseness here either.
        return self.config.getoption("strict_facts") or bool(self.config.getoption("strict", False))

    def engines(self) -> tuple[Any, list[Any]]:
        """PyTorch, and what is compared with it; made once."""
        from harness.engines import engine
        from harness.engines.base import EngineError

        if self.loaded is None:
            try:
                self.loaded = engine("torch"), [engine(spec) for spec in self.specs]
            except EngineError as problem:
                raise pytest.UsageError(str(problem)) from None
        return self.loaded

    def known(self, root: Path) -> list[Any]:
        """The known differences that stand with a folder of cases; raises ProgramError."""
        from harness.cases import KNOWN_DIFFERENCES
        from harness.known import load

        if root not in self.entries:
            self.entries[root] = load(root / KNOWN_DIFFERENCES)
        return self.entries[root]

    def pytest_report_header(self) -> str:
        how = " strictly" if self.is_strict else ""
        folders = ", ".join(self.config.getini("refgrad_cases"))
        return f"refgrad: cases in {folders}, torch against {', '.join(self.specs)}{how}"

    @pytest.hookimpl(wrapper=True)
    def pytest_collect_file(self, file_path: Path, parent: pytest.Collector) -> Generator[None, Any, Any]:
        """A case file is ours alone: a path given to pytest by name is otherwise taken for a test module."""
        others = yield
        if file_path.suffix == ".py" and any(folder in file_path.parents for folder in self.folders):
            return [CaseFile.from_parent(parent, path=file_path)]
        return others


class CaseFile(pytest.File):
    def collect(self) -> Iterator["CaseItem"]:
        from harness.cases import load_file, root_of
        from harness.program import ProgramError

        plugin: Conformance = self.config.pluginmanager.get_plugin("refgrad-conformance")  # type: ignore[assignment]
        root = root_of(self.path)
        try:
            program = load_file(self.path)
            known = plugin.known(root) if root else []
        except ProgramError as problem:
            raise self.CollectError(str(problem).replace(str(self.path), self.nodeid)) from None
        other = plugin.ids.setdefault(program.id, self.path)
        if other != self.path:
            raise self.CollectError(
                f"{self.nodeid}:1: id {program.id!r} is already that of {other}; choose another"
            )
        yield CaseItem.from_parent(
            self, name=self.path.name, nodeid=self.nodeid, program=program, known=known, plugin=plugin
        )


class Disagreement(Exception):
    """What is shown of a case that fails."""


class CaseItem(pytest.Item):
    def __init__(self, *, program: Any, known: list[Any], plugin: Conformance, **rest: Any):
        super().__init__(**rest)
        self.program, self.known, self.plugin = program, known, plugin

    def runtest(self) -> None:
        from harness.run import examine
        from harness.verdict import Verdict

        expected, engines = self.plugin.engines()
        strict = self.plugin.is_strict or None
        results = examine(self.program, expected, engines, strict=strict, known=self.known)
        failures = [result for result in results if result.verdict.is_failure]
        stale = [text for result in results[1:] for text in self.stale(expected, result)]
        if failures or stale:
            raise Disagreement(self.story(failures, stale))
        notes = {result.verdict: f"{result.engine}: {result.note}" for result in results}
        if Verdict.KNOWN in notes:
            pytest.xfail(notes[Verdict.KNOWN])
        if Verdict.UNSUPPORTED in notes:
            pytest.skip(notes[Verdict.UNSUPPORTED])

    def stale(self, expected: Any, result: Any) -> Iterator[str]:
        """Known differences that this case is the witness of, and that are no more."""
        from harness.verdict import Verdict

        if result.verdict is not Verdict.AGREES:
            return
        versions = {expected.name: expected.version, result.engine: result.trace.version}
        for entry in self.known:
            if entry.witness == self.program.id and entry.applies(result.engine, versions):
                yield (
                    f"known difference {entry.id}: this case, its witness, agrees now on {result.engine};"
                    " remove the entry"
                )

    def story(self, failures: Sequence[Any], stale: Sequence[str]) -> str:
        """The statement, the first difference, both values, and how to run it again."""
        parts = [failure_text(result) for result in failures] + list(stale)
        if self.program.title:
            parts.append(f"The case: {self.program.title}")
        options = "".join(f" --engine {spec}" for spec in self.plugin.config.getoption("engine"))
        strict = " --strict" if self.plugin.is_strict else ""
        return "\n\n".join([*parts, f"Run it again: refgrad run {self.nodeid}{options}{strict}"])

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        if isinstance(excinfo.value, Disagreement):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int, str]:
        # pytest writes the dots of a name that ends the item's id as colons; so this one does not end it.
        return self.path, 0, self.nodeid.removesuffix(".py")


def failure_text(result: Any) -> str:
    """The engine, the statement, the first difference, the two values."""
    note = f" ({result.note})" if result.note else ""
    where = f": {result.difference}" if result.difference else ""
    return f"{result.engine} {str(result.verdict).lower()}{note}{where}"
