"""The commands ``purgatory tla``, as a person uses them."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from purgatory_conformance.problems import Problem
from purgatory_tla.commands import commands
from purgatory_tla.commands import recorded_models as recorded_models_commands
from purgatory_tla.manifest.manifest import InvalidManifest, Manifest

from ..conftest import StandIn, Toys, needs_apalache


@pytest.fixture
def run(toys: Toys, monkeypatch: pytest.MonkeyPatch) -> "Run":
    """The commands on the toy's models."""
    models = toys.manifest(
        toys.claim, toys.must_fail, {**toys.witness, "run_time": "large", "distinct": 9}
    )
    return Run(toys, models, monkeypatch)


class Run:
    """Runs a command; a problem is returned like the result of one that ran."""

    def __init__(self, toys: Toys, models: Manifest, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(commands, "modules_folder", lambda: toys.folder)
        monkeypatch.setattr(recorded_models_commands, "read_manifest", lambda: models)

    def __call__(self, *words: str) -> Result:
        return CliRunner(env={"COLUMNS": "120"}).invoke(commands.tla, words)


def problem(result: Result) -> Problem:
    assert isinstance(result.exception, Problem), result.output
    return result.exception


@pytest.mark.java
@pytest.mark.slow
def test_check_prints_the_table_of_the_small_models(run: Run) -> None:
    result = run("check")
    assert result.exit_code == 1, result.output
    claim, broken = sorted(line for line in result.output.splitlines() if "toy-" in line)
    assert re.fullmatch(r"✓ toy-bound +success +as expected +7 +\d+\.\d  TLC 2\.\d+", claim)
    assert re.match(r"✗ toy-bound-two-threads +Bounded violated +as expected", broken)
    assert "toy-reaches-two" not in result.output
    assert "\x1b" not in result.output


@pytest.mark.java
@pytest.mark.slow
def test_check_names_what_differs(run: Run) -> None:
    result = run("check", "--large")
    assert result.exit_code == 1
    assert "differs: expected distinct 9, found" in result.output
    assert "1 model: 1 differs" in result.output


@pytest.mark.java
@pytest.mark.slow
def test_explain_tells_a_counterexample_and_writes_the_page(run: Run, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    result = run("explain", "toy-bound-two-threads", "--html", str(page))
    text = page.read_text(encoding="utf-8")
    for words in ("Two threads test", "begins at 2", "claim broken: bounded", "Both begin below"):
        assert words in result.output
        assert words in text
    assert text.count("<script>") == 1, "the viewer"
    assert "src=" not in text


@pytest.mark.java
@pytest.mark.slow
def test_explain_says_that_a_claim_holds(run: Run) -> None:
    result = run("explain", "toy-bound")
    assert (result.exit_code, "It holds: 7 distinct states" in result.output) == (0, True)


def test_list_shows_every_model(run: Run) -> None:
    assert run("list").output.count("toy-") == 3
    witnesses = run("list", "--kind", "witness").output
    assert "The total gets as far as two." in witnesses
    assert witnesses.count("toy-") == 1


@pytest.mark.parametrize("command", ["check", "explain"])
def test_an_unknown_model_is_a_usage_error_with_near_names(run: Run, command: str) -> None:
    near = problem(run(command, "toy-bounds"))
    assert (near.exit_code, "did you mean toy-bound" in str(near)) == (2, True)
    far = problem(run(command, "xyz"))
    assert (far.exit_code, "see: purgatory tla list" in str(far)) == (2, True)


@pytest.mark.parametrize("command", ["check", "explain"])
def test_a_missing_tool_exits_with_five(
    run: Run, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    monkeypatch.setenv("PATH", "")
    monkeypatch.delenv("JAVA_HOME", raising=False)
    found = problem(run(command, "toy-bound"))
    assert (found.exit_code, "install" in str(found)) == (5, True)


@pytest.mark.java
@pytest.mark.slow
def test_a_run_that_takes_too_long_exits_with_four(
    run: Run, toys: Toys, monkeypatch: pytest.MonkeyPatch
) -> None:
    endless = toys.manifest({**toys.claim, "constants": {"Most": "100000000"}})
    monkeypatch.setattr(recorded_models_commands, "read_manifest", lambda: endless)
    result = run("check", "--timeout", "1")
    assert (result.exit_code, "1 inconclusive" in result.output) == (4, True)
    assert problem(run("explain", "toy-bound", "--timeout", "1")).exit_code == 4


def test_no_model_of_a_kind_is_inconclusive(run: Run) -> None:
    assert problem(run("check", "--large", "--kind", "claim")).exit_code == 4


def test_a_faulty_manifest_is_a_usage_error(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken() -> Manifest:
        raise InvalidManifest("toy: no title")

    monkeypatch.setattr(recorded_models_commands, "read_manifest", broken)
    found = problem(run("list"))
    assert (found.exit_code, str(found)) == (2, "toy: no title")


def test_nothing_but_the_commands_needs_the_command_line() -> None:
    code = "import sys, purgatory_tla; sys.exit('purgatory_conformance' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


# Apalache; a stand-in answers.

HELD = ("# APALACHE version: 0.61.0", "The outcome is: NoError", "EXITCODE: OK")
ILL_TYPED = ("[Toy.tla:21:9-21:26]: Arguments to = should have the same type.",)


def symbolic(run: Run, stand_in: StandIn, code: int, lines: tuple[str, ...], *words: str) -> Result:
    program = stand_in({"lines": lines, "code": code})
    return run("check", "--with", "apalache", "--apalache", str(program), *words)


def test_apalache_checks_up_to_a_length(run: Run, stand_in: StandIn) -> None:
    result = symbolic(run, stand_in, 0, HELD, "toy-bound", "--length", "3")
    assert result.exit_code == 0, result.output
    _, row, *_ = result.output.splitlines()
    assert re.fullmatch(
        r"✓ toy-bound +no violation within 3 steps +as expected +\d+\.\d  Apalache 0\.61\.0", row
    )


def test_apalache_finds_no_violation_where_one_must_be(run: Run, stand_in: StandIn) -> None:
    result = symbolic(run, stand_in, 0, HELD, "toy-bound-two-threads", "--length", "3")
    assert result.exit_code == 1
    assert "expected Bounded violated within 3 steps, found no violation" in result.output


def test_a_type_error_is_told_as_one(run: Run, stand_in: StandIn) -> None:
    result = symbolic(run, stand_in, 120, ILL_TYPED, "toy-bound", "--length", "3")
    assert result.exit_code == 1
    assert re.search(r"✗ toy-bound +\S.* ill-typed", result.output)
    assert f"differs: {ILL_TYPED[0]}" in result.output


def test_without_apalache_the_exit_code_says_so(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    monkeypatch.delenv("APALACHE_HOME", raising=False)
    found = problem(run("check", "--with", "apalache", "toy-bound", "--length", "3"))
    assert (found.exit_code, "Apalache is not installed" in str(found)) == (5, True)


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("--with", "apalache", "toy-bound"), 2, "names no run of Apalache for toy-bound"),
        (("--with", "apalache"), 4, "names no such model for Apalache"),
        (("--length", "3"), 2, "go with --with apalache"),
    ],
)
def test_what_apalache_is_not_asked_for(
    run: Run, words: tuple[str, ...], code: int, said: str
) -> None:
    found = problem(run("check", *words))
    assert (found.exit_code, said in str(found)) == (code, True)


@needs_apalache
@pytest.mark.java
@pytest.mark.slow
def test_the_real_one_checks_the_toy(run: Run) -> None:
    sound = run("check", "--with", "apalache", "toy-bound", "--length", "3")
    assert sound.exit_code == 0, sound.output
    broken = run("check", "--with", "apalache", "toy-bound-two-threads", "--length", "7")
    assert broken.exit_code == 0, broken.output
    assert "Bounded violated within 7 steps" in broken.output
