"""The pytest plugin, seen from a project that uses it and from one that does not."""

import textwrap

import pytest
import torch  # noqa: F401  (pytester forgets what an inner run imports, and torch cannot be imported twice)

import harness.report.commands  # noqa: F401

pytest_plugins = "pytester"

AGREEING = '''
"""A gradient accumulates.

topic: accumulate
"""
import torch

a = torch.tensor([1.0, 2.0], requires_grad=True)
(a * 3).sum().backward()
'''
# torch with one lie, and with one name missing.
ENGINES = """
import types
import torch


def standing_in(name, without=(), **lies):
    module = types.ModuleType(name)
    vars(module).update({k: v for k, v in vars(torch).items() if not k.startswith("__") and k not in without})
    vars(module).update(lies, __version__="1.5")
    return module


def doubled_sin(x):
    return torch.sin(x) * 2
"""


@pytest.fixture
def project(pytester):
    """A project with a folder of cases, and engines `liar`, `thin` and `honest` to compare with."""
    pytester.makeini("[pytest]\nrefgrad_cases = cases\n")
    pytester.makepyfile(
        engines=ENGINES,
        liar="import sys, engines as e\nsys.modules[__name__] = e.standing_in(__name__, sin=e.doubled_sin)",
        thin="import sys, engines\nsys.modules[__name__] = engines.standing_in(__name__, without=['sin'])",
        honest="import sys, engines\nsys.modules[__name__] = engines.standing_in(__name__)",
    )
    pytester.syspathinsert()
    return pytester


def write_case(project, path, text):
    file = project.path / "cases" / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(textwrap.dedent(text).strip() + "\n", encoding="utf-8")
    return f"cases/{path}"


def case(topic, statements, title="Something is shown."):
    return f'"""{title}\n\ntopic: {topic}\n"""\nimport torch\n\n{textwrap.dedent(statements).strip()}\n'


SINE = case("engine", "a = torch.tensor([1.0])\nb = torch.sin(a)")


def test_a_case_is_an_item_whose_id_is_its_path(project):
    path = write_case(project, "accumulate/twice.py", AGREEING)
    result = project.runpytest_inprocess("--engine", "module:honest", "--collect-only", "-q", "cases")
    result.stdout.fnmatch_lines([path])
    result = project.runpytest_inprocess("--engine", "module:honest", path)
    result.assert_outcomes(passed=1)


def test_a_difference_shows_statement_fact_values_and_how_to_rerun(project):
    path = write_case(project, "engine/sine.py", SINE)
    result = project.runpytest_inprocess("--engine", "module:liar")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            "liar differs: line 8: b = torch.sin(a)",
            "  b.value",
            "    torch  *0.841*",
            "    liar   *1.68*",
            f"Run it again: refgrad run {path} --engine module:liar",
        ]
    )
    result.stdout.no_fnmatch_line("*Traceback*")
    result.stdout.no_fnmatch_line("*pytest_plugin.py*")


def test_one_of_several_engines_is_named(project):
    write_case(project, "engine/sine.py", SINE)
    result = project.runpytest_inprocess("--engine", "module:honest", "--engine", "module:liar")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["liar differs*"])
    result.stdout.no_fnmatch_line("honest differs*")


def test_a_missing_name_is_a_skip_that_says_which(project):
    write_case(project, "engine/sine.py", SINE)
    result = project.runpytest_inprocess("--engine", "module:thin", "-rs")
    result.assert_outcomes(skipped=1)
    result.stdout.fnmatch_lines(["*thin: lacks *sin*"])


def test_a_mark_that_pytorch_does_not_keep_fails(project):
    write_case(project, "engine/mark.py", case("engine", "a = torch.ones(2)  # raises freed-graph"))
    result = project.runpytest_inprocess("--engine", "module:honest")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["torch differs: line 7: a = torch.ones(2)", "*raises freed-graph*"])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("import torch\nx = = 1", "cases/engine/broken.py:2: not valid Python*"),
        ("import torch", "cases/engine/broken.py:1: no front matter; begin with a docstring*"),
        (case("hooks", "a = 1"), "cases/engine/broken.py:3: topic 'hooks' in the folder of 'engine'*"),
    ],
)
def test_a_broken_case_is_a_collection_error_with_one_message(project, text, message):
    write_case(project, "engine/broken.py", text)
    result = project.runpytest_inprocess()
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines([message])
    result.stdout.no_fnmatch_line("*Traceback*")


def test_two_cases_with_one_id(project):
    write_case(project, "engine/one.py", case("engine", "a = 1").replace("topic", "id: same\ntopic"))
    write_case(project, "engine/two.py", case("engine", "a = 2").replace("topic", "id: same\ntopic"))
    result = project.runpytest_inprocess()
    result.stdout.fnmatch_lines(
        ["cases/engine/two.py:1: id 'same' is already that of *one.py; choose another"]
    )


def test_a_case_named_like_a_test_module_is_collected_once(project):
    path = write_case(project, "accumulate/test_twice.py", AGREEING)
    project.runpytest_inprocess("--engine", "module:honest").assert_outcomes(passed=1)
    project.runpytest_inprocess("--engine", "module:honest", path).assert_outcomes(passed=1)


KNOWN = """
[[difference]]
id = "sine-doubles"
engine = "liar"
cases = ["engine/sine"]
kind = "bug"
reason = "its sine is twice the sine"
witness = "engine/sine"
"""


def test_a_known_difference_is_an_expected_failure(project):
    write_case(project, "engine/sine.py", SINE)
    (project.path / "cases/known_differences.toml").write_text(KNOWN)
    result = project.runpytest_inprocess("--engine", "module:liar", "-rx")
    result.assert_outcomes(xfailed=1)
    result.stdout.fnmatch_lines(["*liar: known as sine-doubles (bug)*"])


def test_a_known_difference_that_is_gone_fails(project):
    write_case(project, "engine/sine.py", SINE)
    (project.path / "cases/known_differences.toml").write_text(KNOWN.replace('"liar"', '"honest"'))
    result = project.runpytest_inprocess("--engine", "module:honest")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["known difference sine-doubles: *agrees now on honest; remove the entry*"])


@pytest.mark.parametrize("option", ["--strict", "--strict-facts"])
def test_strict_compares_what_other_engines_are_not_asked_for(project, option):
    project.makepyfile(
        viewing="import sys, engines, torch\n"
        "def sine(x):\n"
        "    return torch.sin(x).view_as(x)\n"
        "sys.modules[__name__] = engines.standing_in(__name__, sin=sine)"
    )
    write_case(project, "engine/sine.py", SINE.replace("[1.0]", "[1.0], requires_grad=True"))
    project.runpytest_inprocess("--engine", "module:viewing").assert_outcomes(passed=1)
    result = project.runpytest_inprocess("--engine", "module:viewing", option)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["  b.is_view", "*--engine module:viewing --strict"])


def test_an_engine_that_does_not_exist_is_a_usage_error(project):
    result = project.runpytest_inprocess("--engine", "nonesuch")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["ERROR: no engine is called 'nonesuch'*"])


def test_a_number_of_programs_is_no_less_than_zero(project):
    result = project.runpytest_inprocess("--generated", "few")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*--generated*few*"])


def test_other_projects_are_left_alone(pytester):
    """Their options may have our names, and their folders too."""
    pytester.makeconftest("def pytest_addoption(parser):\n    parser.addoption('--engine', default='v8')")
    pytester.makepyfile("def test_engine(pytestconfig):\n    assert pytestconfig.getoption('engine') == 'v8'")
    write_case(pytester, "accumulate/twice.py", AGREEING)
    result = pytester.runpytest_inprocess()
    result.assert_outcomes(passed=1)
    result.stdout.no_fnmatch_line("refgrad: *")
