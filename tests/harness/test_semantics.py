"""The page of rules: made of cases and READMEs, true to both; the notes that it names stand in the source."""

import pkgutil
import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from harness import cases, semantics
from harness.cli import main
from harness.program import ProgramError

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "semantics.md"
SOURCES = [path for package in ("refgrad", "harness") for path in sorted((ROOT / package).rglob("*.py"))]
READMES = sorted((ROOT / "cases").glob("*/README.md"))
TITLE = re.compile(r"\bnotes? \[([^\]]+)\]", re.IGNORECASE)
KNOWN = (
    '[[difference]]\nid = "x"\nengine = "refgrad"\nkind = "bug"\nreason = "y"\n'
    'cases = ["hooks/b"]\nwitness = "hooks/b"\n'
)
CASE = '"""{title}\n\ntopic: hooks\nfeatures: {features}\nrule: {rule}\n"""\nimport torch\n'


def titles(text: str) -> set[str]:
    """The titles of notes that a text names, also across the ends of its lines."""
    return set(TITLE.findall(re.sub(r"\s*\n\s*#?\s*", " ", text)))


def defined() -> list[str]:
    return [
        title for path in SOURCES for title in re.findall(r"# Note \[([^\]]+)\]", path.read_text("utf-8"))
    ]


@pytest.fixture
def topic(here: Path) -> Path:
    """A project with one topic of two cases, explained."""
    folder = here / "cases" / "hooks"
    folder.mkdir(parents=True)
    (folder / "README.md").write_text(
        "# Hooks\n\nProse.\n\n## Order\n\nMore.\n\n<!-- rules: order, kind -->\n"
    )
    page = "https://docs.pytorch.org/docs/stable/notes/autograd.html#saved-tensors"
    (folder / "a.py").write_text(CASE.format(title="First a_ runs.", features="order", rule=page))
    rule = "torch.Tensor.grad, torch.no_grad"
    (folder / "b.py").write_text(CASE.format(title="Then `b_`.", features="handle", rule=rule))
    (here / "cases" / cases.KNOWN_DIFFERENCES).write_text(KNOWN)
    return folder


def test_each_topic_is_explained_and_its_rules_stand_in_their_places(topic: Path, here: Path) -> None:
    result = CliRunner().invoke(main, ["semantics"])

    docs = "https://docs.pytorch.org/docs/stable"
    assert result.output == "wrote docs/semantics.md: 2 rules in 1 topics\n"
    assert (here / "docs" / "semantics.md").read_text().partition("\n\n- [")[2] == (
        "Hooks](#hooks): hooks on tensors and nodes: their order, arguments, replacements and removal (2)\n\n"
        "## Hooks\n\nProse.\n\n### Order\n\nMore.\n\n"
        "- First a\\_ runs.\n"
        "  [a](../cases/hooks/a.py)"
        f" · [notes/autograd: saved tensors]({docs}/notes/autograd.html#saved-tensors)\n\n"
        "- Then `b_`. *(A known difference.)*\n"
        f"  [b](../cases/hooks/b.py) · [torch.Tensor.grad]({docs}/generated/torch.Tensor.grad.html)"
        f" · [torch.no_grad]({docs}/generated/torch.no_grad.html)\n"
    )


@pytest.mark.parametrize(
    ("file", "text", "complaint"),
    [
        ("README.md", None, "README.md: missing; explain the topic"),
        ("README.md", "Hooks\n", "README.md:1: begin with a heading"),
        (
            "README.md",
            "# Hooks\n\nA.\n\n<!-- rules: x -->\n",
            "README.md: no case is left for the place of x",
        ),
        (
            "a.py",
            CASE.format(title="A.", features="x", rule="autograd"),
            "a.py:5: rule: is the address of a page",
        ),
        ("a.py", CASE.format(title="A.", features="x", rule=""), "a.py:5: rule: is the address of a page"),
        ("a.py", "import torch\n", "a.py:1: no front matter"),
    ],
)
def test_what_does_not_fit_is_told_where_it_stands(
    topic: Path, file: str, text: str | None, complaint: str
) -> None:
    (topic / file).unlink() if text is None else (topic / file).write_text(text)

    result = CliRunner().invoke(main, ["semantics"])

    assert result.exit_code == 2
    assert result.output.startswith(f"refgrad: cases/hooks/{complaint}")


@pytest.mark.parametrize(
    ("name", "page"),
    [
        ("torch.nn.functional.log_softmax", "generated/torch.nn.functional.log_softmax.html"),
        ("torch.Tensor", "tensors.html#torch.Tensor"),
        ("torch.Tensor.backward", "generated/torch.Tensor.backward.html"),
        ("torch.autograd.grad", "generated/torch.autograd.grad.html"),
        ("torch.autograd.graph.save_on_cpu", "autograd.html#torch.autograd.graph.save_on_cpu"),
        ("torch.autograd.graph.Node.name", "generated/torch.autograd.graph.Node.name.html"),
        ("torch.nn.Module.apply", "generated/torch.nn.Module.html#torch.nn.Module.apply"),
        ("torch.utils.checkpoint.checkpoint", "checkpoint.html#torch.utils.checkpoint.checkpoint"),
    ],
)
def test_a_public_name_leads_to_its_page(name: str, page: str) -> None:
    assert semantics.page_of(name) == semantics.Link(name, semantics.DOCS + page)


def test_the_committed_page_is_what_the_command_writes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    beside = PAGE.parent.relative_to(ROOT)
    kinds = semantics.kinds_of(cases.load(["cases"]), beside)
    made = semantics.render(semantics.read_topics(Path("cases"), beside), kinds)

    assert PAGE.read_text("utf-8") == made, "cases or READMEs changed: run `make semantics`"


def test_every_link_of_the_page_leads_somewhere() -> None:
    text = PAGE.read_text("utf-8")
    links = re.findall(r"\]\(([^)]+)\)", text)
    anchors = {
        semantics.Topic(heading, "", ()).anchor
        for heading in re.findall("^#+ (.+)$", text, flags=re.MULTILINE)
    }
    inside = [link for link in links if not link.startswith(semantics.DOCS)]

    assert len(links) > 2 * len(cases.TOPICS)
    assert [link for link in inside if link[0] != "#" and not (PAGE.parent / link).is_file()] == []
    assert [link for link in inside if link[0] == "#" and link[1:] not in anchors] == []


def test_rules_name_what_pytorch_has() -> None:
    names = {name.strip() for program in cases.load([ROOT / "cases"]) for name in program.rule.split(",")}
    for name in sorted(name for name in names if not name.startswith(semantics.DOCS)):
        pkgutil.resolve_name(name)  # raises what is wrong with the name


def test_every_topic_has_its_readme_and_every_file_it_names_is_there() -> None:
    assert {path.parent.name for path in READMES} >= {path.name for path in (ROOT / "cases").iterdir()} & {
        *cases.TOPICS
    }
    named = {name for path in READMES for name in re.findall(r"`(refgrad/[^`]*)`", path.read_text("utf-8"))}
    assert [name for name in sorted(named) if not (ROOT / name).exists()] == []


def test_every_note_that_is_named_stands_somewhere_once() -> None:
    notes = defined()
    cited = {title for path in [*SOURCES, *READMES] for title in titles(path.read_text("utf-8"))}

    assert len(set(notes)) == len(notes)
    assert cited - set(notes) == set()


def test_rules_without_a_page_are_refused() -> None:
    for name in ("Tensor.grad", "torch._foreach_add", "torch.utils.hooks.RemovableHandle", "torch.a b", ""):
        with pytest.raises(ValueError, match="or a name documented there, not"):
            semantics.page_of(name)
    with pytest.raises(ProgramError, match="missing"):
        semantics.read_topic(ROOT / "tests", "", ROOT)
