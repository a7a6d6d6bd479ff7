"""What the doctor says of a good adapter, and of adapters that are wrong in one way each."""

import sys
import threading
import time
from collections import Counter
from pathlib import Path

import pytest

from purgatory_conformance.doctor import Finding, Verdict, examine

MISBEHAVING = Path(__file__).parent / "subjects" / "misbehaving_adapter.py"
HEAP_TIMER = Path(__file__).parents[2] / "conformance" / "adapters" / "python"


def examine_mode(mode: str, time_limit_seconds: float = 10.0) -> list[Finding]:
    """All findings on an adapter of ours; no thread is left by the examination."""
    command = (sys.executable, "-S", str(MISBEHAVING), mode)
    findings = list(examine(command, time_limit_seconds=time_limit_seconds))
    deadline = time.monotonic() + 10
    while any(thread.name == "adapter pipe" for thread in threading.enumerate()):
        assert time.monotonic() < deadline
        time.sleep(0.01)
    return findings


def wrong(findings: list[Finding]) -> list[str]:
    """What is wrong, each problem once, in the order of the conversation."""
    return list(dict.fromkeys(f.explanation for f in findings[:-1] if f.verdict is Verdict.WRONG))


def test_good_adapter() -> None:
    """Nothing is wrong, everything declared is explained, and every request is shown."""
    command = (sys.executable, "-S", "heap_timer_adapter.py")
    findings = list(examine(command, working_folder=HEAP_TIMER))
    assert [finding for finding in findings if finding.verdict is Verdict.WRONG] == []
    assert findings[-1] == Finding(
        Verdict.OK, "the adapter speaks the protocol; the suite can judge it now"
    )
    notes = [finding.explanation for finding in findings if finding.verdict is Verdict.NOTE]
    assert notes == [
        "rounding is down: an expiry is rounded down to the tick; "
        "a task may run early by less than one",
        "same_tick_order is none: tasks of one tick may run in any order",
        "clock is manual: the requests move the clock",
        "executor is inline: an expired task has run, in the same thread, when the reply comes",
        "structure is any: nothing is said of the structure",
        "negative_delay is already_due: a negative delay makes a task that is due already",
        "largest_delay_ms is 2147483647: a longer delay is rejected as 'too_large'",
        "feature cancel: the suite may cancel tasks",
        "feature readd: the suite may add a task again",
        "feature change_delay: the suite may add a task again with another delay",
        "feature elapse: the suite may let time pass without advancing the timer",
        "observable advance_result: 'advance' answers whether anything was due",
        "observable size: the number of tasks that wait in the timer",
    ]
    asked = Counter(
        word
        for finding in findings
        for word in ("add", "cancel", "advance", "elapse", "wobble", "end", "new", "stop", "hello")
        if f'"{word}"' in finding.sent
    )
    assert asked == {
        "add": 14,
        "advance": 7,
        "cancel": 2,
        "elapse": 1,
        "end": 1,
        "hello": 1,
        "new": 9,
        "stop": 1,
        "wobble": 3,
    }


PROBLEMS = {
    "crash at start": [
        "it exited with code 3 instead of answering; its standard error may say why; "
        "answer a failure of the adapter with 'error'"
    ],
    "banner": [
        "the line is no JSON object (Expecting value: line 1 column 1 (char 0)); "
        "write one line for each reply to standard output and nothing else; "
        "banners and logs belong on standard error"
    ],
    "version": ["its 'protocol' is 2, the suite's is 1; use an adapter and a suite of one version"],
    "no component": [
        "its 'components' offer 'purgatory', not 'timer'; "
        'declare at least "components":{"timer":{}}'
    ],
    "error at new": ["the adapter reports a failure of its own: no memory"],
    "needs a tick": ["the adapter reports a failure of its own: tick_ms is missing"],
    "crash": [
        "it exited with code 5 instead of answering; its standard error may say why; "
        "answer a failure of the adapter with 'error'",
        "it fails again and again; mend that first",
    ],
    "wrong id": ["the reply has the id 999; copy the id of the request, 4"],
    "garbage": [
        "the line is no JSON object (Expecting value: line 1 column 1 (char 0)); "
        "write one line for each reply to standard output and nothing else; "
        "banners and logs belong on standard error"
    ],
    "wrong types": [
        "Expected `bool | int | null`, got `str` - at `$.observed[...]`; "
        "compare the reply with the tables of the protocol"
    ],
    "missing observable": [
        "'size' is declared but not in 'observed'; "
        "show it after every operation, or do not declare it"
    ],
    "error": ["the adapter reports a failure of its own: a failure of its own"],
    "unsupported": ["no room (declare only the features that the adapter offers)"],
    "never runs": [
        "the task 'a' did not run within 1120 ms; report each run in 'events' as "
        '{"kind":"ran","task":"a"}'
    ],
    "expired": [
        "advance reports 'expired', which only an executor that is 'stepped' has; "
        "report that tasks ran, or declare it"
    ],
    "keeps the instance": [
        "the size of a fresh instance with one task is 2; 'new' must replace the "
        "instance before it, also where 'end' was not sent"
    ],
    "unknown request": ["the adapter reports a failure of its own: no such request"],
    "flood": [
        "nobody asked for this line; write one reply to each request",
    ],
    "unasked": ["nobody asked for this line; write one reply to each request"],
    "answers stop": ["'stop' has no reply; leave without one"],
}


@pytest.mark.parametrize("mode", PROBLEMS)
def test_the_problem_is_named(mode: str) -> None:
    """Perhaps with what follows from it; the summary repeats the first problem."""
    findings = examine_mode(mode)
    problems = wrong(findings)
    assert problems[: len(PROBLEMS[mode])][:1] == PROBLEMS[mode][:1]
    assert set(PROBLEMS[mode]) <= set(problems)
    assert findings[-1].verdict is Verdict.WRONG
    assert findings[-1].explanation.endswith(f" to mend, the first: {PROBLEMS[mode][0]}")
