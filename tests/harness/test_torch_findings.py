"""`refgrad findings`: the committed page is what the command writes; what does not show any more fails it."""

from importlib.metadata import version
from pathlib import Path

import pytest
from click.testing import CliRunner

from harness.cli import main
from harness.torch_findings import Page, render

PAGE = Path("reports/findings-torch-2.13.md")
CRASH = """
[[crash]]
id = "{id}"
reason = "none"
script = "{script}"
"""


@pytest.mark.skipif(not version("torch").startswith("2.13."), reason="the page is about PyTorch 2.13")
def test_the_committed_page_is_what_the_command_writes(tmp_path: Path) -> None:
    target = tmp_path / "page.md"

    result = CliRunner().invoke(main, ["findings", "--output", str(target)])

    assert result.exit_code == 0, result.output
    assert target.read_text(encoding="utf-8") == PAGE.read_text(encoding="utf-8"), "run `refgrad findings`"


def test_a_crash_that_does_not_happen_fails_and_writes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "cases").mkdir()
    entries = CRASH.format(id="lives-on", script="x = 1") + CRASH.format(
        id="dies", script="import os; os.abort()"
    )
    (tmp_path / "cases" / "known_differences.toml").write_text(entries, encoding="utf-8")
    monkeypatch.chdir(tmp_path)

    result = CliRunner().invoke(main, ["findings", "--output", "page.md"])

    assert result.exit_code == 1
    assert result.output.count("STALE") == 1
    assert "Lives on." in result.output
    assert not Path("page.md").exists()


def test_a_page_without_documentation_or_link_leaves_them_out() -> None:
    page = Page(
        "Title.", "a fault", "why", "", "", "x = 1", "x = 1: x.value", (("torch", "1"), ("refgrad", "2"))
    )

    text = render("9.9", [page])

    assert "documentation" not in text
    assert "Reported" not in text
    assert "1. Title. (a fault)" in text
    assert "- refgrad: `2`" in text
