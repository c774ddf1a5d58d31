"""Case files: what is found, and what a broken one is told."""

from pathlib import Path

import pytest

from harness import cases, known
from harness.compare import Difference
from harness.program import Program, ProgramError

GOOD = '"""A sentence.\n\ntopic: hooks\nfeatures: order\nrule: torch.autograd\n"""\nimport torch\n'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    root = tmp_path / "cases"
    (root / "hooks").mkdir(parents=True)
    return root


def problems(folder: Path, **files: str) -> list[str]:
    """What loading the folder complains about, without the way to it."""
    for name, text in files.items():
        (folder / "hooks" / f"{name}.py").write_text(text)
    with pytest.raises(cases.BrokenCases) as caught:
        cases.load([folder])
    return [str(problem).replace(f"{folder}/hooks/", "") for problem in caught.value.problems]


def test_a_case_is_one_file_and_its_id_is_its_path(folder: Path) -> None:
    (folder / "hooks" / "order.py").write_text(GOOD)
    (folder / "hooks" / "notes.txt").write_text("no case")

    (program,) = cases.load([folder, folder / "hooks" / "order.py"])

    assert (program.id, program.topic) == ("hooks/order", "hooks")


def test_a_script_outside_needs_no_front_matter(tmp_path: Path) -> None:
    script = tmp_path / "bug.py"
    script.write_text("import torch\nx = torch.ones(1)\n")

    (program,) = cases.load([script])

    assert [statement.line for statement in program.statements] == [1, 2]


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("import torch\nx = (\n", "a.py:2: not valid Python: '(' was never closed"),
        (
            "import torch\n",
            "a.py:1: no front matter; begin with a docstring: a sentence, an empty line, `topic: ...`",
        ),
        (
            '"""A sentence."""\nimport torch\n',
            "a.py:1: no `topic:` line in the docstring; add `topic: hooks`",
        ),
        (
            GOOD.replace("hooks", "hook"),
            "a.py:3: there is no topic 'hook'; topics are accumulate, backward-twice,",
        ),
        (
            GOOD.replace("hooks", "leaf"),
            "a.py:3: topic 'leaf' in the folder of 'hooks'; move the file or change",
        ),
        (
            GOOD.replace("rule", "rules"),
            "a.py:5: unknown key 'rules'; keys are features, id, lane, rule, source",
        ),
        (
            GOOD.replace("rule: torch.autograd", "lane: loose"),
            "a.py:5: lane is exact or tolerance, not 'loose'",
        ),
        (
            GOOD.removesuffix("import torch\n"),
            "a.py:1: no statement in it; a program begins with `import torch`",
        ),
    ],
)
def test_a_broken_case_gets_file_line_and_what_to_do(folder: Path, text: str, complaint: str) -> None:
    (found,) = problems(folder, a=text)

    assert found.startswith(complaint)


def test_every_broken_case_is_named_at_once(folder: Path) -> None:
    same = GOOD.replace("topic", "id: hooks/c\ntopic")

    found = problems(folder, a="x", b="(", c=GOOD, d=same)

    assert [text.partition(":")[0] for text in found] == ["a.py", "b.py", "d.py"]
    assert found[2].startswith("d.py:3: id 'hooks/c' is already that of")


def test_paths_that_hold_nothing(tmp_path: Path) -> None:
    with pytest.raises(cases.BrokenCases, match="no program in this folder"):
        cases.load([tmp_path])
    with pytest.raises(cases.BrokenCases, match="there is no such file or folder"):
        cases.load([tmp_path / "nothing.py"])
    (tmp_path / "binary.py").write_bytes(b"import torch\n\xff")
    with pytest.raises(cases.BrokenCases, match=r"binary\.py:2: not UTF-8 text"):
        cases.load([tmp_path])


def test_the_cases_of_this_project_load() -> None:
    root = Path(__file__).parents[2] / "cases"
    programs = cases.load([root])

    assert len(programs) >= 120
    assert {program.topic for program in programs} <= cases.TOPICS.keys()
    assert known.load(root / cases.KNOWN_DIFFERENCES) is not None


def test_a_mark_names_a_kind_or_an_exception(tmp_path: Path) -> None:
    head = '"""A sentence.\n\ntopic: leaf\nfeatures: x\nrule: torch.autograd\n"""\n'
    text = head + "import torch\n\nx()  # raises {}\n"
    path = tmp_path / "cases" / "leaf" / "a.py"
    path.parent.mkdir(parents=True)
    for mark in ("NameError", "torch._C._LinAlgError", "shape"):
        path.write_text(text.format(mark))
        assert cases.load_file(path).statements[-1].raises == mark

    path.write_text(text.format("bogus-kind"))
    with pytest.raises(
        ProgramError, match="a.py:9: no error is of the kind 'bogus-kind'; kinds are the names"
    ):
        cases.load_file(path)


# Known differences ----------------------------------------------------------------------------------

ENTRY = {
    "id": "a",
    "engine": "refgrad",
    "kind": "bug",
    "reason": "why",
    "witness": "hooks/order",
    "signature": "*/backward/message",
}


def toml(**changes: str | None) -> str:
    fields = {key: value for key, value in (ENTRY | changes).items() if value is not None}
    return "# known\n\n[[difference]]\n" + "".join(f'{key} = "{value}"\n' for key, value in fields.items())


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        (toml(reason=None), '3: the entry needs reason = "..."'),
        (toml(kind="odd"), "3: kind is 'odd'; it must be one of bug, by-design, unsupported, numeric"),
        (toml(signature=None), '3: the entry needs cases = [...] or signature = "..."'),
        (
            toml(signature=None) + 'cases = ["a/b"]\nmentions = ["x"]\n',
            '3: mentions = [...] narrows a signature; the entry needs signature = "..."',
        ),
        (toml().replace('"a"', "3"), "3: id is a text, not 3"),
        (
            toml() + toml(id="b", kind="odd").replace("[[difference]]", "[[ difference ]]"),
            "12: kind is 'odd'",
        ),
        (toml(note="x"), "3: unknown field 'note'; fields are cases,"),
        (toml() + toml(), "12: id 'a' stands here twice; choose another"),
        ("x = 1\n", "1: only [[difference]] and [[crash]] entries may stand here"),
        ("\nx = \n", "2: not valid TOML: "),
    ],
)
def test_a_broken_entry_gets_file_line_and_what_to_do(tmp_path: Path, text: str, complaint: str) -> None:
    path = tmp_path / "known.toml"
    path.write_text(text)

    with pytest.raises(ProgramError) as caught:
        known.load(path)

    assert str(caught.value).startswith(f"{path}:{complaint}")


def test_an_entry_applies_to_its_engine_and_versions(tmp_path: Path) -> None:
    path = tmp_path / "known.toml"
    path.write_text(toml(versions="torch 2.13.*"))
    (entry,) = known.load(path)

    assert entry.applies("refgrad", {"torch": "2.13.0", "refgrad": "0.1"})
    assert not entry.applies("refgrad", {"torch": "2.14.0", "refgrad": "0.1"})
    assert not entry.applies("other", {"torch": "2.13.0"})
    assert known.fits("refgrad/backward/message/backward/freed-graph", entry.signature)
    assert not known.fits("refgrad/forward/message/add/shape", entry.signature)


def test_an_entry_covers_the_programs_that_mention_its_words(tmp_path: Path) -> None:
    path = tmp_path / "known.toml"
    path.write_text(toml() + 'mentions = ["jvp", "batch_norm"]\n')
    (entry,) = known.load(path)
    program = Program.parse("a = jvp(batch_norm)\n")
    other = Program.parse("a = jvp(layer_norm)\n")
    difference = Difference(0, "a", "message", 1, 2, phase="backward", statement_kind="backward")

    assert entry.matches(program, difference)
    assert not entry.matches(other, difference)
