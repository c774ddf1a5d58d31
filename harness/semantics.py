"""`refgrad semantics`: the page of rules, made of the topics' READMEs and the titles of their cases.

*Rule*: the sentence at the head of a case. Its `rule:` line names the PyTorch pages that state it, by address or
by the public names that they document, with commas between.
*Place*: a comment `<!-- rules: FEATURE, ... -->` in a README, where the rules with one of these features go;
`<!-- rules -->` is for all that no other place takes, and stands for itself at the end where it is missing.
"""

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import click
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from harness import cases
from harness.cli import fail
from harness.program import Program, ProgramError
from harness.report.html import TEMPLATES
from harness.report.markdown import escaped

DOCS = "https://docs.pytorch.org/docs/stable/"
OUTPUT = "docs/semantics.md"
# Names that have no page of their own, each or by how they begin: where they stand. Without an entry, and where it
# is empty, a name has its own page.
SHARED_PAGES = {
    "torch.Tensor": "tensors.html#{}",
    "torch.autograd": "autograd.html",
    "torch.autograd.Function": "autograd.html#{}",
    "torch.autograd.detect_anomaly": "autograd.html#{}",
    "torch.autograd.set_detect_anomaly": "autograd.html#{}",
    "torch.autograd.graph.": "autograd.html#{}",
    "torch.autograd.graph.Node.": "",
    "torch.autograd.graph.increment_version": "",
    "torch.distributions.": "distributions.html#{}",
    "torch.func": "func.html",
    "torch.nn.Module.": "generated/torch.nn.Module.html#{}",
    "torch.special.": "special.html#{}",
    "torch.testing.": "testing.html#{}",
    "torch.utils.checkpoint.": "checkpoint.html#{}",
    "torch.utils.data.": "data.html#{}",
}
PLACE = re.compile(r"^<!-- rules(?:: ([^>]+?))? -->$", re.MULTILINE)
PUBLIC_NAME = re.compile(r"torch(\.[A-Za-z]\w*)*")


@dataclass(frozen=True)
class Link:
    """Text and address."""

    text: str
    address: str


@dataclass(frozen=True)
class Rule:
    """One line of the page."""

    sentence: str
    case: Link
    pages: tuple[Link, ...]
    features: frozenset[str]


@dataclass(frozen=True)
class Part:
    """Prose and the rules below it."""

    prose: str
    rules: tuple[Rule, ...]


@dataclass(frozen=True)
class Topic:
    """One section of the page."""

    heading: str
    about: str
    parts: tuple[Part, ...]

    @property
    def anchor(self) -> str:
        """What a link to the heading is called in rendered Markdown."""
        return re.sub(r"[^\w\- ]", "", self.heading.lower()).replace(" ", "-")

    @property
    def count(self) -> int:
        """The number of rules."""
        return sum(len(part.rules) for part in self.parts)


@click.command()
@click.option("--output", default=OUTPUT, show_default=True, metavar="FILE", help="Write the page here.")
def semantics(output: str) -> None:
    """Write the page of rules: what each topic's README says, and every case's rule with its PyTorch pages."""
    folder = Path(cases.FOLDER)
    if not folder.is_dir():
        fail(f"there is no folder {cases.FOLDER!r} here; run in the project's folder")
    try:
        topics = read_topics(folder, Path(output).parent)
        Path(output).parent.mkdir(parents=True, exist_ok=True)
        Path(output).write_text(render(topics), encoding="utf-8", newline="\n")
    except cases.BrokenCases as broken:
        fail(*broken.problems)
    except ProgramError as problem:
        fail(problem)
    except OSError as error:
        fail(f"{output}: cannot be written ({error.strerror}); choose another --output")
    click.echo(f"wrote {output}: {sum(topic.count for topic in topics)} rules in {len(topics)} topics")


def render(topics: Sequence[Topic]) -> str:
    """The page as Markdown."""
    environment = Environment(
        loader=FileSystemLoader(TEMPLATES), undefined=StrictUndefined, trim_blocks=True, auto_reload=False
    )
    return environment.get_template("semantics.md").render(topics=topics).rstrip() + "\n"


def read_topics(folder: Path, beside: Path) -> list[Topic]:
    """The topics that have cases, in their order; links lead from the folder `beside`.

    Raises:
        BrokenCases: a case cannot be read.
        ProgramError: a topic has no README, or one that does not fit its cases; a case names no page.
    """
    return [
        read_topic(folder / name, about, beside)
        for name, about in cases.TOPICS.items()
        if any((folder / name).rglob("*.py"))
    ]


def read_topic(folder: Path, about: str, beside: Path) -> Topic:
    """One topic: its README with the rules in their places."""
    path = folder / "README.md"
    if not path.is_file():
        raise ProgramError(str(path), 0, "missing; explain the topic in a heading and some paragraphs")
    heading, _, text = path.read_text(encoding="utf-8").strip().partition("\n")
    if not heading.startswith("# ") or not text.strip():
        raise ProgramError(str(path), 1, "begin with a heading, `# ...`, and explain the topic below it")
    rules = [rule_of(program, beside) for program in cases.load([folder])]
    return Topic(heading.removeprefix("# "), about, tuple(arranged(str(path), text.strip(), rules)))


def arranged(path: str, text: str, rules: Sequence[Rule]) -> Iterator[Part]:
    """The parts of a README: each rule goes to the first place that takes it.

    Raises:
        ProgramError: a place takes none.
    """
    if "<!-- rules -->" not in text:
        text += "\n\n<!-- rules -->"
    text = re.sub("^#", "##", text, flags=re.MULTILINE)  # the page itself has the first level
    *pieces, end = PLACE.split(text)
    proses, words = pieces[::2], [word and set(word.split(", ")) for word in pieces[1::2]]
    taken: list[list[Rule]] = [[] for _ in proses]
    for rule in rules:
        at = next((i for i, word in enumerate(words) if word and word & rule.features), words.index(None))
        taken[at].append(rule)
    for prose, word, own in zip(proses, words, taken, strict=True):
        if word and not own:
            raise ProgramError(path, 0, f"no case is left for the place of {', '.join(sorted(word))}")
        yield Part(prose.strip(), tuple(own))
    if end.strip():
        yield Part(end.strip(), ())


def rule_of(program: Program, beside: Path) -> Rule:
    """A case as a line of the page.

    Raises:
        ProgramError: it names no PyTorch page.
    """
    path = Path(program.path or program.id)
    link = Link(path.stem, Path(os.path.relpath(path, beside)).as_posix())
    try:
        pages = tuple(page_of(name.strip()) for name in program.rule.split(","))
    except ValueError as problem:
        line = cases.line_of(program.script or "", "rule:")
        raise ProgramError(str(path), line, str(problem)) from None
    return Rule(escaped(program.title), link, pages, frozenset(program.features))


def page_of(name: str) -> Link:
    """The page that a word of a `rule:` line names.

    Raises:
        ValueError: it is neither an address in PyTorch's documentation nor a public name.
    """
    if name.startswith(DOCS):
        page, _, section = name.removeprefix(DOCS).partition("#")
        text = section if section.startswith("torch.") else section.replace("-", " ")
        return Link(escaped(": ".join(filter(None, [page.removesuffix(".html"), text]))), name)
    if not PUBLIC_NAME.fullmatch(name):
        raise ValueError(f"rule: is the address of a page in {DOCS} or a public name of PyTorch, not {name!r}")
    beginnings = [each for each in SHARED_PAGES if name == each or each.endswith(".") and name.startswith(each)]
    page = SHARED_PAGES[max(beginnings, key=len)] if beginnings else ""
    return Link(escaped(name), DOCS + (page or "generated/{}.html").format(name))
