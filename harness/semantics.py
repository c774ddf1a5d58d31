"""`refgrad semantics`: the page of rules, made of the topics' READMEs and the titles of their cases.

*Rule*: the sentence at the head of a case. Its `rule:` line names the PyTorch pages that state it, by their
addresses or by the public names that they document, with commas between.
*Place*: a comment `<!-- rules: FEATURE, ... -->` in a README, where the rules with one of these features go;
`<!-- rules -->` is for all that no other place takes; where it is missing, it stands at the end.
"""

import os
import re
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import click
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from harness import cases, known
from harness.cli import fail, write
from harness.outcome import SENTENCES
from harness.program import Program, ProgramError, words
from harness.report.html import TEMPLATES
from harness.report.markdown import code, escaped

DOCS = "https://docs.pytorch.org/docs/stable/"
OUTPUT = "docs/semantics.md"
OWN_PAGE = "generated/{}.html"
# The namespaces whose names PyTorch documents on a page each, and those that stand on one page together.
OWN_PAGES = words(
    "torch torch.Tensor torch.fft torch.func torch.linalg torch.nn torch.nn.functional torch.nn.parameter"
    " torch.nn.utils torch.nn.utils.parametrizations torch.nn.utils.parametrize torch.nn.utils.rnn"
    " torch.optim torch.optim.Optimizer torch.optim.lr_scheduler torch.autograd torch.autograd.forward_ad"
    " torch.autograd.function torch.autograd.function.FunctionCtx torch.autograd.functional"
    " torch.autograd.grad_mode torch.autograd.gradcheck torch.autograd.graph.Node"
)
PAGES = {
    "torch.autograd.graph": "autograd.html#{}",
    "torch.distributions.normal": "distributions.html#{}",
    "torch.nn.Module": "generated/torch.nn.Module.html#{}",
    "torch.nn.init": "nn.init.html#{}",
    "torch.random": "random.html#{}",
    "torch.special": "special.html#{}",
    "torch.testing": "testing.html#{}",
    "torch.utils.checkpoint": "checkpoint.html#{}",
    "torch.utils.data": "data.html#{}",
}
# The names that stand elsewhere than others of their namespace.
PAGES_OF_NAMES = {
    "torch.Tensor": "tensors.html#{}",
    "torch.autograd": "autograd.html",
    "torch.autograd.Function": "autograd.html#{}",
    "torch.autograd.detect_anomaly": "autograd.html#{}",
    "torch.autograd.set_detect_anomaly": "autograd.html#{}",
    "torch.autograd.graph.increment_version": OWN_PAGE,
}
MOST_CASES = 5  # that are linked for a kind of error
PLACE = re.compile(r"^<!-- rules(?:: ([^>]+?))? -->$", re.MULTILINE)


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
    is_known: bool  # whether refgrad is known to differ from PyTorch in it


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


@dataclass(frozen=True)
class Kind:
    """A kind of error: its name, what PyTorch says, some cases that show it, how many more there are."""

    name: str
    sentence: str
    cases: tuple[Link, ...]
    more: int


@click.command()
@click.option("--output", default=OUTPUT, show_default=True, metavar="FILE", help="Write the page here.")
def semantics(output: str) -> None:
    """Write the page of rules: the README of each topic, and each case's rule with its PyTorch pages."""
    folder = Path(cases.FOLDER)
    if not folder.is_dir():
        fail(f"there is no folder {cases.FOLDER!r} here; run in the project's folder")
    try:
        topics = read_topics(folder, Path(output).parent)
        kinds = kinds_of(cases.load([folder]), Path(output).parent)
    except cases.BrokenCases as broken:
        fail(*broken.problems)
    except ProgramError as problem:
        fail(problem)
    write(output, render(topics, kinds))
    click.echo(f"wrote {output}: {sum(topic.count for topic in topics)} rules in {len(topics)} topics")


def kinds_of(programs: Sequence[Program], beside: Path) -> list[Kind]:
    """The kinds of errors that the marks of cases name; links lead from the folder `beside`."""
    found = []
    for name, sentence in SENTENCES.items():
        shows = [program for program in programs if any(s.raises == name for s in program.statements)]
        links = tuple(case_link(program, beside) for program in shows[:MOST_CASES])
        if links:
            found.append(Kind(name, code(sentence), links, len(shows) - len(links)))
    return found


def case_link(program: Program, beside: Path) -> Link:
    path = Path(program.path or program.id)
    return Link(path.stem, Path(os.path.relpath(path, beside)).as_posix())


def render(topics: Sequence[Topic], kinds: Sequence[Kind]) -> str:
    """The page as Markdown."""
    environment = Environment(
        loader=FileSystemLoader(TEMPLATES), undefined=StrictUndefined, trim_blocks=True, auto_reload=False
    )
    return environment.get_template("semantics.md").render(topics=topics, kinds=kinds).rstrip() + "\n"


def read_topics(folder: Path, beside: Path) -> list[Topic]:
    """The topics that have cases, in their order; links lead from the folder `beside`.

    Raises:
        BrokenCases: a case cannot be read.
        ProgramError: a topic has no README, or one that does not fit its cases; a case names no page.
    """
    entries = known.load(folder / cases.KNOWN_DIFFERENCES)
    differing = {case for entry in entries for case in (entry.witness, *entry.cases)}
    return [
        read_topic(folder / name, about, beside, differing)
        for name, about in cases.TOPICS.items()
        if any((folder / name).rglob("*.py"))
    ]


def read_topic(folder: Path, about: str, beside: Path, differing: Container[str] = ()) -> Topic:
    """One topic: its README with the rules in their places; `differing` are ids of cases."""
    path = folder / "README.md"
    if not path.is_file():
        raise ProgramError(str(path), 0, "missing; explain the topic in a heading and some paragraphs")
    heading, _, text = path.read_text(encoding="utf-8").strip().partition("\n")
    if not heading.startswith("# ") or not text.strip():
        raise ProgramError(str(path), 1, "begin with a heading, `# ...`, and explain the topic below it")
    rules = [rule_of(program, beside, program.id in differing) for program in cases.load([folder])]
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
    proses, wanted = pieces[::2], [text and set(text.split(", ")) for text in pieces[1::2]]
    taken: list[list[Rule]] = [[] for _ in proses]
    for rule in rules:
        at = next((i for i, some in enumerate(wanted) if some and some & rule.features), wanted.index(None))
        taken[at].append(rule)
    for prose, some, own in zip(proses, wanted, taken, strict=True):
        if some and not own:
            raise ProgramError(path, 0, f"no case is left for the place of {', '.join(sorted(some))}")
        yield Part(prose.strip(), tuple(own))
    if end.strip():
        yield Part(end.strip(), ())


def rule_of(program: Program, beside: Path, is_known: bool) -> Rule:
    """A case as a line of the page.

    Raises:
        ProgramError: it names no PyTorch page.
    """
    path = Path(program.path or program.id)
    try:
        pages = tuple(page_of(name.strip()) for name in program.rule.split(","))
    except ValueError as problem:
        line = cases.line_of(program.script or "", "rule:")
        raise ProgramError(str(path), line, str(problem)) from None
    return Rule(
        escaped(program.title), case_link(program, beside), pages, frozenset(program.features), is_known
    )


def page_of(name: str) -> Link:
    """The page that a word of a `rule:` line names.

    Raises:
        ValueError: it is neither an address in PyTorch's documentation nor a name that stands in it.
    """
    if name.startswith(DOCS):
        page, _, section = name.removeprefix(DOCS).partition("#")
        text = section if section.startswith("torch.") else section.replace("-", " ")
        return Link(escaped(": ".join(filter(None, [page.removesuffix(".html"), text]))), name)
    namespace, _, last = name.rpartition(".")
    own = OWN_PAGE if namespace in OWN_PAGES else None
    form = PAGES_OF_NAMES.get(name) or PAGES.get(namespace) or own
    if form is None or not last.isidentifier() or last.startswith("_"):
        raise ValueError(f"rule: is the address of a page in {DOCS} or a name documented there, not {name!r}")
    return Link(escaped(name), DOCS + form.format(name))
