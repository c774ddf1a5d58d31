"""Programs: cutting scripts into statements, marks, front matter, and what a statement's text tells."""

import pytest

from harness.program import Program, ProgramError, compiled

CASE = '''\
"""A tensor that sin saved is overwritten:
backward raises.

topic: inplace
features: version-counter, error
rule: torch.autograd, in-place
  correctness checks
lane: exact
"""
import torch

a = torch.ones(2); b = a * 2
@torch.no_grad()
def f(x):  # raises nothing, this is a comment
    return x
c = (b +
     1)  # raises version-mismatch
text = """
# raises not-a-mark"""
'''


def test_front_matter_and_statements() -> None:
    program = Program.parse(CASE, "inplace/sin", "cases/inplace/sin.py")

    assert program.title == "A tensor that sin saved is overwritten: backward raises."
    assert program.topic == "inplace"
    assert program.features == ("version-counter", "error")
    assert program.rule == "torch.autograd, in-place correctness checks"
    assert program.is_exact
    assert [(s.line, s.raises) for s in program.statements] == [
        (10, None),
        (12, None),
        (12, None),
        (13, None),
        (16, "version-mismatch"),
        (18, None),
    ]
    assert program.statements[2].text == "b = a * 2"
    assert (
        program.statements[3].text
        == "@torch.no_grad()\ndef f(x):  # raises nothing, this is a comment\n    return x"
    )


@pytest.mark.parametrize("text", ["x = 1", "with a:\n    b", "x = f(\n    1\n)", 'x = """\na"""'])
def test_a_mark_survives_writing_and_reading(text: str) -> None:
    program = Program.from_statements(["import torch", f"{text}  # raises overlap"])

    again = Program.parse(program.text)

    assert [(s.text, s.raises) for s in again.statements] == [("import torch", None), (text, "overlap")]


def test_line_numbers_of_statements_given_as_text() -> None:
    program = Program.from_statements(["import torch", "def f():\n    return 1", "f()"])

    assert [s.line for s in program.statements] == [1, 2, 4]


def test_a_syntax_error_has_file_and_line() -> None:
    with pytest.raises(ProgramError, match=r"^x\.py:2: not valid Python: "):
        Program.parse("import torch\nx = = 1\n", "x", "x.py")


def test_phases_come_from_the_text_alone() -> None:
    program = Program.from_statements(
        [
            "import torch",
            "def f(x): x.backward()",
            "y = x * 2",
            "g = torch.autograd.grad(y, x, create_graph=False)",
            "g = torch.autograd.grad(y, x, create_graph=True)",
            "g[0].backward()",
            "x.grad.zero_()",
        ]
    )

    assert program.phases == (
        "build",
        "build",
        "forward",
        "backward",
        "backward",
        "double backward",
        "forward",
    )


@pytest.mark.parametrize(
    ("text", "kind", "binds", "has_effect"),
    [
        ("a, (b, *c) = f.x(y)", "x", ("a", "b", "c"), False),
        ("x.sum().backward()", "backward", (), True),
        ("x[0] = 1", "setitem", (), True),
        ("x.grad = None", "set grad", (), True),
        ("x += y", "add in place", ("x",), True),
        ("with torch.no_grad():\n    z = y * 2", "with", ("z",), True),
        ("w = [t for t in ts]", "listcomp", ("w",), False),
        ("z = (n := y + 1) * 2", "mult", ("z", "n"), False),
        ("torch.add(x, 1, out=y)", "add", (), True),
        ("import torch.nn.functional as F", "import", ("F",), False),
        ("out = model(x)", "model", ("out",), True),
        ("y = x.exp()", "exp", ("y",), False),
        ("x = = 1", "syntax", (), False),
    ],
)
def test_what_a_text_tells(text: str, kind: str, binds: tuple[str, ...], has_effect: bool) -> None:
    found = compiled(text)

    assert (found.kind, found.binds, found.has_effect) == (kind, binds, has_effect)


def test_a_function_that_writes_a_global_binds_it() -> None:
    assert compiled("def f():\n    global g\n    g = 1").binds == ("f", "g")


def test_what_is_guarded_as_main_is_a_step_each() -> None:
    program = Program.parse(
        "import torch\n\n\ndef f():\n    return 1\n\n\n"
        'if __name__ == "__main__":\n    x = f()\n'
        "    with torch.no_grad():\n        y = x  # raises shape\n\n    z = y\n"
    )

    assert [(s.text, s.line) for s in program.statements[2:]] == [
        ("x = f()", 9),
        ("with torch.no_grad():\n    y = x", 10),
        ("z = y", 13),
    ]
    assert program.statements[3].raises == "shape"


@pytest.mark.parametrize(
    "text",
    [
        'if __name__ == "__main__":\n    x = """a\n    b"""\n',
        'if __name__ == "__main__":\n    x = 1\nelse:\n    x = 2\n',
    ],
)
def test_a_guard_that_cannot_be_opened_stays_whole(text: str) -> None:
    assert [statement.text for statement in Program.parse(text).statements] == [text.rstrip()]
