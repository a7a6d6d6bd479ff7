"""The command line, as a person uses it: what it prints, what it writes, how it exits."""

import json
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path
from xml.etree import ElementTree

import pytest

from purgatory_conformance.kits import Clock, Language, project, write
from purgatory_conformance.knowledge import profile_fields
from purgatory_conformance.subjects.bundled import bundled_subject
from purgatory_judge.registry import judged
from purgatory_spec.profiles import Component
from purgatory_spec.requirements import all_requirements
from tests.conformance.command import SCRIPT, purgatory, purgatory_process

RULES_OF_BUNDLED = sum(
    len(judged(component).judged_rules(profile))
    for component, profile in bundled_subject().profiles.items()
)
"""The number of rules that the bundled subject is judged by."""


@pytest.fixture(scope="module")
def checked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which everything bundled was checked."""
    folder = tmp_path_factory.mktemp("checked")
    finished = purgatory_process(folder, "check", "bundled", "--suite", "quick", "--seed", "1")
    assert finished.returncode == 0, finished.stdout + finished.stderr
    (folder / "terminal.txt").write_text(finished.stdout, encoding="utf-8")
    return folder


def test_check_of_what_is_bundled(checked: Path) -> None:
    """The terminal gives the verdict, and results and report are written, with all components."""
    text = (checked / "terminal.txt").read_text(encoding="utf-8")
    assert "conformant" in text
    assert "\x1b" not in text
    lines = (checked / "purgatory-work/bundled/results.jsonl").read_text("utf-8").splitlines()
    kinds = [json.loads(line)["line"] for line in lines]
    assert (kinds[0], kinds[-1], kinds.count("rule")) == ("header", "footer", RULES_OF_BUNDLED)
    judged = [json.loads(line) for line in lines]
    assert [line["component"] for line in judged if line["line"] == "header"] == list(Component)
    assert {line["verdict"] for line in judged if line["line"] == "footer"} == {"conformant"}
    page = (checked / "purgatory-work/bundled/report.html").read_text(encoding="utf-8")
    assert all(rule in page for rule in ("TIMER-CASCADE", "PURGATORY-FORCE", "POOL-STRICT"))


@pytest.mark.parametrize(
    ("words", "judged"),
    [
        (("--component", "memory_pool"), [Component.MEMORY_POOL]),
        (("--rule", "POOL-STRICT", "--rule", "TIMER-CANCEL"), list(Component)[::2]),
    ],
)
def test_components_are_chosen_by_name_or_by_rules(
    tmp_path: Path, words: tuple[str, ...], judged: list[Component]
) -> None:
    """These alone are judged, and by no other rule than those that were named."""
    finished = purgatory(tmp_path, "check", "bundled", "--suite", "quick", *words)
    assert finished.returncode == 0, finished.stdout + finished.stderr
    assert finished.stderr == ""
    text = (tmp_path / "purgatory-work/bundled/results.jsonl").read_text(encoding="utf-8")
    lines = [json.loads(line) for line in text.splitlines()]
    assert [line["component"] for line in lines if line["line"] == "header"] == judged
    rules = {line["id"] for line in lines if line["line"] == "rule"}
    assert "--component" in words or rules == {"POOL-STRICT", "TIMER-CANCEL"}


@pytest.mark.parametrize("form", ["html", "junit", "markdown", "badge"])
def test_reports_are_derived_from_results(checked: Path, form: str) -> None:
    """Given the results of a check: it is well formed and names the verdict."""
    results = "purgatory-work/bundled/results.jsonl"
    finished = purgatory(checked, "report", results, form)
    assert finished.returncode == 0, finished.stderr
    if form == "junit":
        suite = ElementTree.fromstring(finished.stdout)
        assert len(suite.findall(".//testcase")) == RULES_OF_BUNDLED
        assert suite.findall(".//failure") == []
    elif form == "badge":
        assert "conformant" in json.loads(finished.stdout)["message"]
    else:
        assert "conformant" in finished.stdout


def test_a_broken_pool_fails_and_its_replay_reproduces_it(tmp_path: Path) -> None:
    """Both exit with 1, and both name the rule."""
    finished = purgatory(tmp_path, "check", "mutant:pool-zero-granted", "--suite", "quick")
    assert finished.returncode == 1, finished.stdout + finished.stderr
    assert "POOL-ZERO-REQUEST" in finished.stdout
    (line,) = [t for t in finished.stdout.splitlines() if "purgatory replay " in t][:1]
    words = line.split("purgatory replay ")[1].split()
    again = purgatory(tmp_path, "replay", words[0])
    assert again.returncode == 1
    assert "diverges from POOL-ZERO-REQUEST (MUST)" in again.stdout
    recorded = purgatory(tmp_path, "replay", words[0], "--recorded")
    assert (recorded.returncode, recorded.stdout) == (1, again.stdout)
    mended = purgatory(tmp_path, "replay", words[0], "--subject", "bundled")
    assert mended.returncode == 0
    assert "steps, all as the rules say" in mended.stdout


@pytest.mark.parametrize(
    ("words", "code", "sentence"),
    [
        (("check", "nothing-like-it"), 2, "'nothing-like-it' is no subject"),
        (("check", "mutant:none"), 2, "there is no mutant 'none'"),
        (("check", "no.module:factory"), 2, "cannot be imported"),
        (("check", "--rule", "TIMER-NONE"), 2, "there is no rule TIMER-NONE"),
        (("check", "bundled", "--command", "true"), 2, "not both"),
        (
            ("check", "--rule", "POOL-STRICT", "--component", "timer"),
            2,
            "a rule is one of the memory pool, which is not to be judged",
        ),
        (("check", "heap-timer", "--component", "purgatory"), 3, "does not offer the component"),
        (("check", "heap-timer", "--component", "memory-pool"), 3, "memory_pool was asked for"),
        (("check", "--component", "memory-reef"), 2, "is not one of"),
        (("check", "--suite", "huge"), 2, "is not one of"),
        (("explain", "TIMER-NONE"), 2, "there is no rule TIMER-NONE"),
        (("replay", "missing.jsonl"), 2, "missing.jsonl: no such file"),
        (("report", "missing.jsonl", "html"), 2, "missing.jsonl: no such file"),
        (("model", "break", "run", "none"), 2, "there is no mutant 'none'"),
        (("fly",), 2, "No such command"),
        (("check", "--command", "/no/such/program"), 3, "not started"),
        (("check", "--command", f"{sys.executable} -c pass"), 3, "subject failed"),
        (("check", "bundled", "--seconds", "0"), 4, "inconclusive"),
    ],
)
def test_usage_and_failures_have_their_exit_codes(
    tmp_path: Path, words: tuple[str, ...], code: int, sentence: str
) -> None:
    finished = purgatory(tmp_path, *words)
    assert finished.returncode == code, finished.stdout + finished.stderr
    text = " ".join((finished.stdout + finished.stderr).split())
    assert sentence in text
    assert "Traceback" not in text


def test_a_missing_tool_exits_with_five(tmp_path: Path) -> None:
    """Given a machine without Java: the exit code is 5 and the sentence says what to install."""
    finished = purgatory(tmp_path, "check", "kafka", environment={"PATH": str(tmp_path)})
    assert finished.returncode == 5
    assert "install" in finished.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="interrupts are sent differently")
def test_an_interrupt_exits_with_130(tmp_path: Path) -> None:
    """Given a long check, when it is interrupted, it exits with 130."""
    begun = tmp_path / "begun"
    write(project(Language.PYTHON, [Component.TIMER], Clock.VIRTUAL, "mine"), tmp_path / "mine")
    adapter = tmp_path / "mine" / "adapter.py"
    (tmp_path / "adapter.py").write_text(
        "import pathlib, runpy, sys\n"
        f"sys.path.insert(0, {str(adapter.parent)!r})\n"
        f"pathlib.Path({str(begun)!r}).touch()\n"
        f"runpy.run_path({str(adapter)!r}, run_name='__main__')\n",
        encoding="utf-8",
    )
    command = f"{sys.executable} {tmp_path / 'adapter.py'}"
    process = subprocess.Popen(
        [str(SCRIPT), "check", "--command", command, "--suite", "long"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # A shell has its background jobs ignore interrupts, and their children with them.
        preexec_fn=partial(signal.signal, signal.SIGINT, signal.SIG_DFL),
    )
    with process:
        try:
            for _ in range(3000):
                if begun.exists():
                    break
                time.sleep(0.1)
            assert begun.exists(), "the check has not begun"
            time.sleep(0.5)
            process.send_signal(signal.SIGINT)
            _, errors = process.communicate(timeout=300)
        finally:
            process.kill()
    assert process.returncode == 130, errors
    assert "interrupted" in errors
    assert "Traceback" not in errors


def test_heap_timer_is_conformant_as_a_child_process(tmp_path: Path) -> None:
    """Given the adapter template: it is conformant, and the doctor finds nothing to mend."""
    finished = purgatory(tmp_path, "check", "heap-timer", "--suite", "quick")
    assert finished.returncode == 0, finished.stdout + finished.stderr
    doctor = purgatory(tmp_path, "doctor", "heap-timer")
    assert doctor.returncode == 0, doctor.stdout


def test_naive_purgatory_is_conformant_as_a_child_process(tmp_path: Path) -> None:
    """The pool is conformant, and the doctor finds nothing to mend."""
    words = ("--component", "memory-pool", "--suite", "quick", "--seed", "1")
    finished = purgatory(tmp_path, "check", "naive-purgatory", *words)
    assert finished.returncode == 0, finished.stdout + finished.stderr
    results = tmp_path / "purgatory-work/naive-purgatory/results.jsonl"
    lines = [json.loads(line) for line in results.read_text(encoding="utf-8").splitlines()]
    judged = [line["component"] for line in lines if line["line"] == "header"]
    assert judged == [Component.MEMORY_POOL]
    assert {line["verdict"] for line in lines if line["line"] == "footer"} == {"conformant"}
    doctor = purgatory(tmp_path, "doctor", "naive-purgatory")
    assert doctor.returncode == 0, doctor.stdout


def test_a_declaration_in_the_present_folder_is_used(tmp_path: Path) -> None:
    subject = 'name = "mine"\npython = "purgatory_conformance.subjects.bundled:bundled_subject"\n'
    (tmp_path / "purgatory.toml").write_text(f"[subject]\n{subject}", encoding="utf-8")
    words = ("check", "--suite", "quick", "--component", "memory-pool")
    finished = purgatory(tmp_path, *words)
    assert finished.returncode == 0, finished.stdout + finished.stderr
    assert "mine" in finished.stdout
    (tmp_path / "purgatory.toml").unlink()
    (tmp_path / "pyproject.toml").write_text(
        f"[tool.purgatory.subject]\n{subject}", encoding="utf-8"
    )
    finished = purgatory(tmp_path, *words)
    assert finished.returncode == 0, finished.stdout + finished.stderr
    assert "mine" in finished.stdout


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("[subject", "purgatory.toml: "),
        ("[subject]\nname = 'a'\n", "needs either command or python"),
        ("[subject]\nname = 'a'\ncommand = ['x']\nextra = 1\n", "unknown field `extra`"),
        (
            "[subject]\nname = 'a'\ncommand = ['x']\n"
            "[[deviation]]\nrule = 'TIMER-NONE'\nvariant = 'long_arithmetic'\nreplay = 'a'\n",
            "deviation from TIMER-NONE: there is no such rule",
        ),
        (
            "[subject]\nname = 'a'\ncommand = ['x']\n"
            "[[deviation]]\nrule = 'TIMER-SIZE'\nvariant = 'any'\nreplay = 'a'\n",
            "there is no variant 'any'",
        ),
        (
            "[subject]\nname = 'a'\ncommand = ['x']\n[[deviation]]\n"
            "rule = 'TIMER-SIZE'\nvariant = 'long_arithmetic'\nreplay = 'gone.jsonl'\n",
            "gone.jsonl: no such file",
        ),
    ],
)
def test_a_faulty_declaration_is_explained(tmp_path: Path, text: str, sentence: str) -> None:
    """The exit code is 2 and the sentence names the file and the fault."""
    (tmp_path / "purgatory.toml").write_text(text, encoding="utf-8")
    finished = purgatory(tmp_path, "check")
    assert finished.returncode == 2, finished.stdout + finished.stderr
    assert sentence in " ".join(finished.stderr.split())


def test_rules_are_explained_and_listed(tmp_path: Path) -> None:
    """Text, model function, vector, mutant and known deviation are shown, and all rules listed."""
    words = " ".join(purgatory(tmp_path, "explain", "TIMER-LARGEST-DELAY").stdout.split())
    for part in (
        "TIMER-LARGEST-DELAY (MUST)",
        "purgatory_model.kafka_timer.refusal",
        "purgatory_impl.timer",
        "purgatory_tla.Timer.",
        "vector largest-delay",
        "mutant",
        "known deviation of kafka",
    ):
        assert part in words, part
    listed = purgatory(tmp_path, "list", "rules").stdout
    assert all(rule.id in listed for rule in all_requirements())


@pytest.mark.parametrize(
    "what", ["rules", "vectors", "subjects", "profiles", "mutants", "variants"]
)
def test_everything_can_be_listed(tmp_path: Path, what: str) -> None:
    """Given a kind of thing, when it is listed, there is more than one line."""
    finished = purgatory(tmp_path, "list", what)
    assert finished.returncode == 0
    assert len(finished.stdout.splitlines()) > 2


def test_profiles_are_listed_as_they_can_be_declared(tmp_path: Path) -> None:
    """The purgatory offers none, and each default comes first."""
    listed = purgatory(tmp_path, "list", "profiles").stdout
    rows = [" ".join(line.split()) for line in listed.splitlines()]
    assert "timer executor inline, stepped, thread, threads" in rows
    assert "purgatory executor inline, stepped" in rows
    for component in Component:
        for field in profile_fields(component):
            if field.choice is not None and not field.several:
                assert field.values[0] is field.default


def test_a_failure_at_hello_describes_no_component(tmp_path: Path) -> None:
    """The sentence says so, and neither terminal nor page describes a timer."""
    reply = '{"id":1,"protocol":1,"implementation":{"name":"x"},"components":{"memory-pool":{}}}'
    program = tmp_path / "adapter.py"
    program.write_text(f"input()\nprint({reply!r}, flush=True)\ninput()\n", encoding="utf-8")
    finished = purgatory(tmp_path, "check", "--command", f"{sys.executable} {program}")
    assert finished.returncode == 3
    text = " ".join(finished.stdout.split())
    assert "'memory-pool' is no component; did you mean 'memory_pool'?" in text
    assert "what it declares is not known" in text
    assert "rounding" not in text
    page = (tmp_path / "purgatory-work" / "adapter" / "report.html").read_text(encoding="utf-8")
    assert "Nothing was judged" in page
    assert "declared choices" not in page


def test_check_leaves_nothing_but_its_own_folder(tmp_path: Path) -> None:
    """Only the folder for what is written is there afterwards."""
    words = ("check", "mutant:pool-empty-pool", "--suite", "quick", "--seconds", "3", "--seed", "1")
    assert purgatory(tmp_path, *words).returncode == 1
    assert [path.name for path in tmp_path.iterdir()] == ["purgatory-work"]


def test_coverage_shows_where_rules_are_stated_and_visited(checked: Path) -> None:
    """Each rule has a line with the numbers of statements and of visits."""
    finished = purgatory(checked, "coverage")
    assert finished.returncode == 0
    rows = {line.split()[0]: line.split()[1:] for line in finished.stdout.splitlines() if line}
    level, model, implementation, vectors, _, visits, pairs, tla, *_ = rows["TIMER-CASCADE"]
    assert level == "MUST"
    assert min(int(model), int(implementation), int(vectors), int(tla.rstrip(":"))) >= 1
    assert int(visits) >= 20
    met, rules = map(int, pairs.split("/"))
    assert 10 < met < rules


def test_coverage_tells_the_pairs_that_were_not_met(checked: Path) -> None:
    """Each has steps that show it to be possible, or is said to be shown by none."""
    finished = purgatory(checked, "coverage", "--pairs")
    assert finished.returncode == 0
    first, *pairs = finished.stdout.splitlines()
    assert "pairs met" in first
    assert any(line.endswith(": not shown") for line in pairs)
    assert any(": add " in line for line in pairs)
