"""Findings of the doctor on a good adapter, and on adapters that are wrong in one way each."""

import re
import shlex
import sys
import time
from collections import Counter
from collections.abc import Callable, Generator, Iterator
from pathlib import Path

import msgspec
import pytest
from click.testing import CliRunner

from purgatory_conformance.commands.doctor import doctor
from purgatory_conformance.describing.words import noun
from purgatory_conformance.doctor.examination import declaration, examine
from purgatory_conformance.doctor.finding import Finding, Severity, explain
from purgatory_conformance.kits import Clock, Language, project, write
from purgatory_conformance.knowledge import profile_fields
from purgatory_judge.components import PROFILES
from purgatory_spec.profiles import Component, Profile
from tests.conformance.subjects.started_adapters import LONG_S, eventually, pipe_threads
from tests.known_cases import known_rows

MISBEHAVING = Path(__file__).parent / "subjects" / "misbehaving_adapter.py"
BUNDLED = Path(__file__).parent / "subjects" / "bundled_adapter.py"


def examine_mode(mode: str, time_limit_seconds: float = LONG_S) -> list[Finding]:
    """All findings on an adapter of ours; no thread is left by the examination."""
    command = (sys.executable, "-S", str(MISBEHAVING), mode)
    findings = list(examine(command, time_limit_seconds=time_limit_seconds))
    eventually(lambda: not pipe_threads())
    return findings


def wrong(findings: list[Finding]) -> list[str]:
    """Return the problems, each of them once, in the order of the conversation."""
    return list(dict.fromkeys(f.explanation for f in findings[:-1] if f.verdict is Severity.WRONG))


def noted(findings: list[Finding]) -> list[Finding]:
    """Return the findings that the doctor only notes."""
    return [finding for finding in findings if finding.verdict is Severity.NOTE]


def test_good_adapter(tmp_path: Path) -> None:
    """Nothing is wrong, everything declared is explained, and every request is shown."""
    write(project(Language.PYTHON, [Component.TIMER], Clock.VIRTUAL, "mine"), tmp_path)
    findings = list(examine((sys.executable, "-S", "adapter.py"), working_folder=tmp_path))
    assert [finding for finding in findings if finding.verdict is Severity.WRONG] == []
    assert findings[-1] == Finding(
        Severity.OK, "the adapter speaks the protocol; the suite can judge it now"
    )
    said = [f.explanation for f in findings if f.verdict is Severity.DECLARED]
    assert len(said) == 26
    assert "timer, clock is manual: the requests move the clock" in said
    assert "timer, feature cancel: the suite may cancel tasks" in said
    assert "timer, observable size: the number of tasks that wait in the timer" in said
    assert noted(findings) == []
    offered = {"add", "advance", "cancel", "elapse", "reachable", "shutdown"}
    assert asked(findings) == {*offered, "wobble"}
    sent = "".join(finding.sent for finding in findings)
    requests = Counter(re.findall(r'"request":"([a-z]+)"', sent))
    assert (requests["hello"], requests["end"], requests["stop"]) == (1, 1, 1)
    assert requests["new"] > 5


DECLARED_ONLY = "declare only the features that the adapter offers"

PROBLEMS: dict[str, str] = {
    row["mode"]: row["problem"]
    for row in known_rows(Path(__file__).with_name("doctor_problems.jsonl"))
}


@pytest.mark.parametrize(("mode", "problem"), PROBLEMS.items(), ids=PROBLEMS.keys())
def test_the_problem_is_named(mode: str, problem: str) -> None:
    """It comes first, before what follows from it, and the summary counts it."""
    findings = examine_mode(mode)
    assert wrong(findings)[0] == problem
    assert findings[-1].verdict is Severity.WRONG
    assert findings[-1].explanation.endswith(" to mend")


def test_adapter_that_keeps_failing_is_given_up() -> None:
    problems = wrong(examine_mode("crash at new"))
    assert problems[-1] == "it fails repeatedly; mend that first"


@pytest.mark.parametrize(
    ("mode", "problem"),
    [
        ("hang at hello", "no reply within 3 s; "),
        ("flood", "nobody asked for this line; write one reply to each request"),
        ("ignores stop", "it still runs 3 s after 'stop'; it must exit"),
    ],
)
def test_hanging_adapter(mode: str, problem: str) -> None:
    began = time.monotonic()
    problems = wrong(examine_mode(mode, time_limit_seconds=3.0))
    assert problems[0].startswith(problem)
    assert time.monotonic() - began < 50  # by itself it would end after a minute


def test_command_that_cannot_be_started(tmp_path: Path) -> None:
    findings = list(examine((str(tmp_path / "missing"),)))
    assert [finding.verdict for finding in findings] == [Severity.WRONG, Severity.WRONG]
    assert "cannot be started" in findings[0].explanation


def test_what_is_shown_but_not_declared_is_noted() -> None:
    findings = examine_mode("undeclared observable")
    assert wrong(findings) == []
    note = "advance: 'mood' is shown but not declared, so the suite ignores it"
    assert note in [f.explanation for f in noted(findings)]


def test_process_that_fails_shows_its_standard_error() -> None:
    finding = next(f for f in examine_mode("crash") if f.verdict is Severity.WRONG)
    assert explain(finding).splitlines() == [
        f"wrong  {PROBLEMS['crash']}",
        '         sent      {"request":"do","id":4,"operation":{"op":"advance","to_ms":10}}',
        "         stderr    mode crash",
    ]


def test_examination_can_be_left_early() -> None:
    command = (sys.executable, "-S", str(MISBEHAVING), "good")
    findings = examine(command)
    assert isinstance(findings, Generator)
    assert next(findings).verdict is Severity.OK
    findings.close()
    assert pipe_threads() == []


def examine_bundled(mode: str = "") -> list[Finding]:
    return list(examine((sys.executable, str(BUNDLED), *([mode] if mode else ()))))


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        ("check-without-result", "'check' has no 'result'; answer an integer"),
        ("entries-negative", "the observable 'entries' is -1; it must be an integer that is not"),
        ("allocate-counts", "the result of 'allocate' is 7; it must be true or false"),
        ("available-missing", "'available_bytes' is declared but not in 'observed'"),
        ("never-times-out", "no event 'timed_out' of operation 'b' was reported"),
        ("purgatory-runs", "run_one reports 'ran' in 'events', which a purgatory has not"),
    ],
)
def test_a_wrong_answer_of_a_further_component_is_named(fault: str, words: str) -> None:
    """The first thing to mend names the field."""
    assert words in wrong(examine_bundled(fault))[0]


def asked(findings: list[Finding]) -> set[str]:
    """The operations that were asked for."""
    return {word for f in findings for word in re.findall(r'"op":"([a-z_]+)"', f.sent)}


def test_each_declared_feature_is_tried() -> None:
    """Nothing is wrong or noted, the greeting names them."""
    findings = examine_bundled()
    assert (wrong(findings), noted(findings)) == ([], [])
    assert findings[0].explanation.endswith("offers a timer, a purgatory and a memory pool")
    watched = {"watch", "check", "force", "cancel_for_key", "elapse", "advance", "run_one"}
    lent = {"allocate", "release", "release_foreign", "release_nothing", "lose", "fill", "read"}
    armed = {"add", "cancel", "reachable"}
    assert asked(findings) == armed | watched | lent | {"construct", "shutdown", "wobble"}
    sent = "".join(f.sent for f in findings)
    for part in (
        '"fail":true',
        '"form":"slice"',
        '"form":"copy"',
        '"time_outs":false',
        '"throw"]',
        '"strict":',
    ):
        assert part in sent, part
    for inside in ("throw", "watch", "check", "cancel_for_key", "force"):
        assert f'"do":"{inside}"' in sent


@pytest.mark.parametrize(
    "operation",
    ["force", "cancel_for_key", "shutdown", "run_one", "release_foreign", "lose", "construct"],
)
def test_a_declared_feature_that_is_missing_is_named_once(operation: str) -> None:
    """That is the one thing to mend: nothing is complained of that follows from it."""
    findings = examine_bundled(operation)
    problems = [f for f in findings[:-1] if f.verdict is Severity.WRONG]
    assert [f"no such operation ({DECLARED_ONLY})"] == [f.explanation for f in problems]
    assert f'"op":"{operation}"' in problems[0].sent
    assert findings[-1].explanation == "one thing to mend"


@pytest.mark.parametrize("mode", ["only_unbounded", "only_strict"])
def test_a_pool_is_asked_for_pools_that_it_declares(mode: str) -> None:
    """Given a memory pool of one sort: every instance that is asked for is of that sort."""
    findings = examine_bundled(mode)
    assert wrong(findings) == []
    made = [f.sent for f in findings if '"request":"new"' in f.sent]
    word = '"unbounded":true' if mode == "only_unbounded" else '"strict":true'
    assert made
    assert all(word in line for line in made)


@pytest.mark.parametrize("mode", ["missing observable", "wrong types"])
def test_a_reply_that_cannot_be_read_is_one_complaint(mode: str) -> None:
    """That is said once, and not that nothing ran: the reply may have said so."""
    findings = examine_mode(mode)
    problems = [f.explanation for f in findings[:-1] if f.verdict is Severity.WRONG]
    assert problems == [PROBLEMS[mode]]


RUN_BY = {
    "run_one": ("throw", "add", "cancel", "advance"),
    "check": ("watch", "check", "cancel_for_key", "force"),
}


@pytest.mark.parametrize(
    ("action", "step"), [(action, step) for step, actions in RUN_BY.items() for action in actions]
)
def test_a_script_that_is_declared_and_ignored_is_named(action: str, step: str) -> None:
    """The script and its feature are named, with the step in which it ought to have run."""
    findings = examine_bundled(f"ignores-{action}")[:-1]
    (problem,) = [finding for finding in findings if finding.verdict is Severity.WRONG]
    assert problem.explanation.endswith(f"or do not declare 'script_{action}'")
    assert f'"do":"{action}"' in problem.explanation
    assert f'"op":"{step}"' in problem.sent
    assert '"task":"scripted"' in problem.received


def test_a_script_whose_exception_reaches_nobody_is_noted() -> None:
    sentences = [f.explanation for f in noted(examine_bundled("ignores-throw"))]
    assert [sentence.partition(" is not rejected as 'thrown'")[0] for sentence in sentences] == [
        "check (its try throws)",
        "check (its callback acts)",
    ]


def test_an_allocation_beyond_the_pool_is_noted() -> None:
    """That answer is noted, and not called fine; for the others it is told what to declare."""
    (note, about_nothing, in_vain) = noted(examine_bundled("allocate-grants"))
    assert "is granted, though 'a' holds all 10 bytes; answer false" in note.explanation
    assert '"buffer":"b"' in note.sent
    assert "is what 'zero_request' \"grant\" means; declare that" in about_nothing.explanation
    assert '"size_bytes":0' in about_nothing.sent
    assert "have the pool's allocator fail, or do not declare 'fail'" in in_vain.explanation
    assert '"fail":true' in in_vain.sent


def test_a_result_of_advance_that_is_not_declared_is_noted() -> None:
    (note,) = noted(examine_mode("undeclared result"))
    assert note.explanation.endswith("declare the observable 'advance_result', or leave it out")
    assert '"result":true' in note.received


def test_a_declared_result_of_advance_that_is_missing_is_named() -> None:
    findings = examine_bundled("advance-without-result")
    assert wrong(findings) == [PROBLEMS["result"]]


@pytest.mark.parametrize(
    ("findings", "seen"),
    [
        (lambda: examine_mode("expires at once"), "add (due by the clock, after idleness) expires"),
        (lambda: examine_mode("own clock turns"), "advance (nothing is pending) shows the wheel's"),
        (lambda: examine_bundled("watch-expires-at-once"), "watch (due by the clock, after idlen"),
    ],
    ids=["expires at once", "own clock turns", "purgatory"],
)
def test_a_wheel_that_turns_with_the_clock_is_not_kafkas(
    findings: Callable[[], list[Finding]], seen: str
) -> None:
    """The answer that shows it is noted, and 'any' is proposed."""
    (note,) = noted(findings())
    assert note.explanation.startswith(seen)
    assert "declare 'any'" in note.explanation
    assert note.received


def test_a_watch_that_tries_once_is_told_how_to_declare_that() -> None:
    """The answer that shows it is noted, and 'first_try' 'none' is proposed."""
    (note,) = noted(examine_bundled("watch-tries-once"))
    assert note.explanation.startswith("watch tries once; ")
    assert "declare 'first_try' 'none'" in note.explanation
    assert '"op":"watch"' in note.sent


@pytest.mark.parametrize("mode", ["good", "crash at start"])
def test_the_verdict_comes_first_and_the_rest_on_demand(mode: str) -> None:
    """The verdict is the first line, what is wrong follows, and what is fine is told on demand."""
    command = shlex.join((sys.executable, "-S", str(MISBEHAVING), mode))
    short, long = (
        CliRunner().invoke(doctor, ["--command", command, *options]) for options in ([], ["--all"])
    )
    good = mode == "good"
    assert (short.exit_code, long.exit_code) == ((0, 0) if good else (3, 3))
    lines = short.stdout.splitlines()
    verdict = "ok     the adapter speaks the protocol" if good else "wrong  one thing to mend"
    assert lines[0].startswith(verdict)
    assert lines[1].startswith("wrong  it exited") is not good
    assert lines[-1].endswith("choices are declared: --all shows them")
    assert [line for line in lines[1:] if line.startswith(("ok", "says"))] == []
    assert long.stdout.startswith("\n".join(lines[:-1]) + "\n\n")
    assert ("says   timer, clock is manual" in long.stdout) is good
    assert ("ok     add is answered as it should be" in long.stdout) is good


def _everything(component: Component) -> Iterator[Profile]:
    """Profiles of a component that together declare every value there is."""
    fields = profile_fields(component)
    every = {field.name: frozenset(field.choice or ()) for field in fields if field.several}
    whole = msgspec.structs.replace(PROFILES[component](), **every)
    yield whole
    for field in fields:
        for value in (field.choice or ()) if not field.several else ():
            yield msgspec.structs.replace(whole, **{field.name: value})


@pytest.mark.parametrize("component", Component)
def test_every_choice_can_be_explained(component: Component) -> None:
    """There is a sentence for all that can be declared."""
    fields = profile_fields(component)
    said = {each.explanation for p in _everything(component) for each in declaration(p)}
    for field in fields:
        for value in field.choice or ():
            word = {"features": "feature ", "observables": "observable "}
            begin = f"{noun(component)}, {word.get(field.name, f'{field.name} is ')}{value.value}: "
            assert any(sentence.startswith(begin) for sentence in said), begin
