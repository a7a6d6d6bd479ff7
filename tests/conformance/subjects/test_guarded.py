"""A call that a subject in this process does not return from is left behind; all else goes on."""

import threading
import time
from _thread import interrupt_main
from collections.abc import Callable
from pathlib import Path

import pytest

from purgatory_conformance.subjects.calling_thread import LEFT_BEHIND
from purgatory_conformance.subjects.guarded import GuardedSubject
from purgatory_conformance.subjects.in_process import InProcessSubject
from purgatory_conformance.subjects.subject import FailureKind, SubjectFailure
from purgatory_spec.operations import Add, Advance, Cancel
from purgatory_spec.profiles import TimerConfiguration
from tests.conformance.command import purgatory, purgatory_process
from tests.conformance.hanging_subjects import loops, waits_for_a_lock

STEPS = (Add("a", 5), Add("b", 5), Cancel("b"), Advance(9))


@pytest.mark.parametrize("make", [waits_for_a_lock, loops])
def test_the_answers_before_it_come_and_the_next_instance_is_fresh(
    make: Callable[[], InProcessSubject],
) -> None:
    subject = GuardedSubject(make(), 0.3)
    for _ in range(2):
        subject.new("case", TimerConfiguration())
        outcomes = subject.do_all(STEPS)
        came = [next(outcomes), next(outcomes)]
        with pytest.raises(SubjectFailure) as raised:
            next(outcomes)
        assert [outcome.observed["size"] for outcome in came] == [1, 2]
        assert raised.value.kind is FailureKind.HUNG
        assert raised.value.explanation == "a step has not returned within 0.3 s"
        assert "hanging_subjects.py" in raised.value.standard_error
    subject.new("case", TimerConfiguration())
    assert len(list(subject.do_all([Add("a", 5), Advance(9)]))) == 2
    subject.close()


def test_a_loop_is_ended() -> None:
    subject = GuardedSubject(loops(), 0.2)
    subject.new("case", TimerConfiguration())
    before = set(LEFT_BEHIND)
    with pytest.raises(SubjectFailure):
        list(subject.do_all(STEPS))
    (left,) = LEFT_BEHIND - before
    left.join(60)
    assert not left.is_alive()


def test_ctrl_c_leaves_a_step_behind_at_once() -> None:
    subject = GuardedSubject(waits_for_a_lock(), 600)
    subject.new("case", TimerConfiguration())
    outcomes = subject.do_all(STEPS)
    threading.Timer(0.3, interrupt_main).start()
    with pytest.raises(KeyboardInterrupt):
        list(outcomes)
    subject.close()
    subject.new("case", TimerConfiguration())
    assert len(list(subject.do_all([Add("a", 5)]))) == 1
    subject.close()


def test_many_steps_are_carried_out_in_order() -> None:
    """More than are given to the thread at a time, and all of them as soon as they are asked."""
    subject = GuardedSubject(waits_for_a_lock(), 30)
    subject.new("case", TimerConfiguration())
    sizes = [each.observed["size"] for each in subject.do_all(Add(f"t{n}", 5) for n in range(100))]
    assert sizes == list(range(1, 101))
    subject.end()
    subject.close()


DECLARED = """[subject]
name = "waits"
python = "waiting:keeps_the_process"
time_limit_seconds = 1.0
"""


def test_a_check_of_a_subject_that_hangs_ends_with_a_rule_and_a_replay_file(
    tmp_path: Path,
) -> None:
    """Though a thread of the subject, which is no daemon, waits for ever as well."""
    source = Path(__file__).parents[1] / "hanging_subjects.py"
    (tmp_path / "waiting.py").write_text(source.read_text(encoding="utf-8"), encoding="utf-8")
    (tmp_path / "purgatory.toml").write_text(DECLARED, encoding="utf-8")
    began = time.monotonic()
    done = purgatory_process(tmp_path, "check", ".", "--suite", "quick", "--seed", "1")
    assert (done.returncode, done.stderr) == (1, ""), done.stdout
    assert time.monotonic() - began < 300
    for words in (
        "✗ broken  TIMER-CANCEL (MUST)",
        "→ no answer  ← diverges",
        "the subject hung: a step has not returned within 1 s",
        "waiting.join()",
    ):
        assert words in done.stdout
    (file,) = (tmp_path / "purgatory-work" / "waits" / "replays").glob("*.jsonl")
    again = purgatory_process(tmp_path, "replay", str(file), "--subject", "purgatory.toml")
    assert again.returncode == 1
    assert "cancel" in again.stdout
    assert "no answer" in again.stdout
    assert "diverges from TIMER-CANCEL (MUST)" in again.stdout
    right = purgatory(tmp_path, "replay", str(file), "--subject", "bundled")
    assert right.returncode == 0
