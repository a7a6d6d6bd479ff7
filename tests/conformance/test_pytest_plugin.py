"""Run the plugin for pytest in suites of its own: a test for each rule, or nothing."""

# Each scene is a suite of its own in a new folder, run by pytest inside of this one.

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest
from click.testing import CliRunner

from purgatory_conformance.commands.replay import replay
from purgatory_conformance.running.campaign import SUITES, Budget
from purgatory_judge.registry import judged
from purgatory_spec.profiles import Component, Executor, Feature, Observable, TimerProfile

pytest_plugins = ["pytester"]

PROFILE = TimerProfile(
    executor=Executor.STEPPED,
    features=frozenset({Feature.CANCEL, Feature.SHUTDOWN}),
    observables=frozenset({Observable.SIZE}),
)

RULES = [rule.id for rule in judged(Component.TIMER).judged_rules(PROFILE)]

CLOSED = "TIMER-SHUTDOWN-CLOSED"

SUBJECTS = """
from purgatory_conformance.specimens.small.timer import SmallTimer, small_subject
from purgatory_conformance.specimens.wrong.executor import taken_after_shutdown
from purgatory_conformance.subjects.subject import FailureKind, SubjectFailure
from tests.conformance.test_pytest_plugin import PROFILE

def right():
    return small_subject(SmallTimer, PROFILE, "right")

def wrong():
    return small_subject(taken_after_shutdown, PROFILE, "wrong")

def gone():
    subject = right()
    def new(case, configuration):
        raise SubjectFailure(FailureKind.CRASHED, "it went away")
    subject.new = new
    return subject
"""

DECLARED = f"""
[subject]
name = "declared"
python = "subjects:wrong"

[[deviation]]
rule = "{CLOSED}"
variant = "taken_after_shutdown"
replay = "purgatory-work/subjects-wrong/replays/{CLOSED}-rejection.jsonl"
reason = "only the executor refuses"
"""


@pytest.fixture
def suite(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    """A folder with subjects, and a test of the user's own; few cases are generated."""
    few = Budget(least_cases=60, minimum_visits=1, shrink_runs=100)
    monkeypatch.setitem(SUITES, "quick", few)
    pytester.makepyfile(subjects=SUBJECTS, test_mine="def test_mine(): pass")
    return pytester


def ended(result: pytest.RunResult) -> dict[str, str]:
    """Return the end of each rule's test by the rule's id, read from pytest's own JUnit file."""
    found = {}
    path = Path(re.findall(r"generated xml file: (\S+)", result.stdout.str())[0])
    for case in ElementTree.parse(path).iter("testcase"):
        name = case.attrib["name"]
        if name in RULES or name == "verdict":
            found[name] = case[0].attrib.get("type", case[0].tag) if len(case) else "passed"
    return found


def test_a_right_subject_passes_a_test_for_each_rule(suite: pytest.Pytester) -> None:
    """There is a test for each rule, and one for the verdict, beside the user's, and all pass."""
    result = suite.runpytest_inprocess("--purgatory", "subjects:right", "--junitxml=junit.xml")
    result.assert_outcomes(passed=len(RULES) + 2)
    assert result.ret == pytest.ExitCode.OK
    assert ended(result) == dict.fromkeys([*RULES, "verdict"], "passed")
    result.stdout.fnmatch_lines(
        [
            "purgatory: subjects:right; quick suite, version * (purgatory-spec *), seed 1",
            "purgatory: purgatory-work/subjects-right has report.html and results.jsonl",
        ]
    )
    assert (suite.path / "purgatory-work/subjects-right/report.html").is_file()


def test_tests_of_packages_in_the_work_folder_are_not_collected(suite: pytest.Pytester) -> None:
    """Adapters in Python have their packages there, with tests of their own."""
    for folder in ("purgatory-work", "other-work"):
        inside = suite.path / folder / "adapters"
        inside.mkdir(parents=True)
        (inside / "test_theirs.py").write_text(
            "def test_theirs(): assert False\n", encoding="utf-8"
        )
    ended = suite.runpytest()
    ended.assert_outcomes(passed=1, failed=1)


def test_a_broken_rule_fails_with_the_steps_and_the_command(suite: pytest.Pytester) -> None:
    result = suite.runpytest_inprocess("--purgatory", "subjects:wrong", "--junitxml=junit.xml")
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    results = ended(result)
    assert results.pop(CLOSED) == "failure"
    results.pop("TIMER-LARGEST-DELAY")  # it refuses a delay that is too large as such
    assert set(results.values()) == {"passed"}
    result.stdout.fnmatch_lines(
        [
            f"_* purgatory::subjects:wrong::timer::{CLOSED} _*",
            f"{CLOSED} (SHOULD): adding after shutdown is rejected",
            "expected rejected: closed, seen accepted",
            "  1  shut down*",
            "  2  add *<- diverges",
            f"purgatory replay purgatory-work/subjects-wrong/replays/{CLOSED}-rejection.jsonl "
            "--subject subjects:wrong",
        ]
    )
    result.stdout.no_fnmatch_line("*Traceback*")
    kept = next((suite.path / "purgatory-work/subjects-wrong/replays").iterdir())
    again = CliRunner().invoke(replay, [str(kept), "--subject", "subjects:wrong"])
    assert again.exit_code == 1
    assert f"diverges from {CLOSED}" in again.stdout


def test_a_declared_deviation_is_an_expected_failure(suite: pytest.Pytester) -> None:
    """The test of the rule is an expected failure, and nothing fails."""
    suite.runpytest_inprocess("--purgatory", "subjects:wrong")
    (suite.path / "purgatory.toml").write_text(DECLARED, encoding="utf-8")
    result = suite.runpytest_inprocess("--purgatory", ".", "--junitxml=junit.xml", "-rx")
    assert result.ret == pytest.ExitCode.OK
    result.assert_outcomes(passed=len(RULES) + 1, xfailed=1)
    assert ended(result)[CLOSED] == "pytest.xfail"
    result.stdout.fnmatch_lines(["*taken_after_shutdown*only the executor refuses*"])


def test_a_deviation_that_is_mended_fails(suite: pytest.Pytester) -> None:
    suite.runpytest_inprocess("--purgatory", "subjects:wrong")
    mended = DECLARED.replace("subjects:wrong", "subjects:right")
    (suite.path / "purgatory.toml").write_text(mended, encoding="utf-8")
    result = suite.runpytest_inprocess("--purgatory", ".", "--junitxml=junit.xml")
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    assert ended(result)[CLOSED] == "failure"
    result.stdout.fnmatch_lines(["*withdraw the declaration"])


def test_too_few_visits_of_a_must_fail_and_of_a_should_are_skipped(
    suite: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rules that were hardly put to the test fail where they are a MUST, else are skipped."""
    monkeypatch.setitem(SUITES, "quick", Budget(least_cases=1, most_cases=1))
    result = suite.runpytest_inprocess("--purgatory", "subjects:right", "--junitxml=junit.xml")
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    assert "failure" in ended(result).values()
    assert ended(result)[CLOSED] == "pytest.skip"
    result.stdout.fnmatch_lines(["*at least 20 are needed"])


def test_a_subject_that_gives_no_answers_fails_the_verdict(suite: pytest.Pytester) -> None:
    result = suite.runpytest_inprocess("--purgatory", "subjects:gone", "--junitxml=junit.xml")
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    assert ended(result)["verdict"] == "failure"
    result.stdout.fnmatch_lines(["the subject answers", "the subject crashed: it went away"])


def test_rules_can_be_chosen_as_tests_are(suite: pytest.Pytester) -> None:
    """Given a timer with one broken rule: it alone runs, and ends as before."""
    asked = ("--purgatory", "subjects:wrong", "-k")
    suite.runpytest_inprocess(*asked, "TIMER-SIZE").assert_outcomes(
        passed=1, deselected=len(RULES) + 1
    )
    suite.runpytest_inprocess(*asked, CLOSED).assert_outcomes(failed=1, deselected=len(RULES) + 1)
    suite.runpytest_inprocess(*asked, "nothing", "-m", "purgatory").assert_outcomes(
        deselected=len(RULES) + 2
    )


@pytest.mark.parametrize(
    ("word", "told"),
    [("kafak", "'kafak' is no subject"), ("subjects:nobody", "'subjects:nobody' cannot be imp")],
)
def test_what_is_no_subject_is_a_usage_error(suite: pytest.Pytester, word: str, told: str) -> None:
    result = suite.runpytest_inprocess("--purgatory", word)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"ERROR: --purgatory {word}: {told}*"])


# What it costs

TELL_MODULES = """
import sys
def pytest_unconfigure():
    print("imported:", *sorted(each.partition(".")[0] for each in sys.modules if "purg" in each
        or each in ("click", "msgspec", "rich")), file=sys.stderr)
"""


def imported(suite: pytest.Pytester, *words: str) -> list[str]:
    suite.makeconftest(TELL_MODULES)
    result = suite.runpytest_subprocess("-p", "no:hypothesispytest", *words)
    told = re.search(r"imported:(.*)", result.stderr.str())
    assert told is not None
    return told[1].split()


def test_nothing_is_imported_where_no_subject_is_given(suite: pytest.Pytester) -> None:
    """Of all our modules the plugin alone was imported, and no library that they need."""
    assert imported(suite) == ["purgatory_conformance", "purgatory_conformance"]
    assert set(imported(suite, "--purgatory", "subjects:right", "-k", "TIMER-SIZE")) >= {
        *("msgspec", "purgatory_judge", "purgatory_model")
    }
