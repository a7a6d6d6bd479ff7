"""Blame for a timer's observables where the model's own wheel has changed in another way."""

import pytest

from purgatory_judge.timer.judge import TimerJudge
from purgatory_model.replacing import replace
from purgatory_model.timing_wheel import TimingWheel
from purgatory_spec import profiles
from purgatory_spec.operations import Add
from purgatory_spec.outcomes import Outcome

PROFILE = profiles.TimerProfile(
    executor=profiles.Executor.STEPPED,
    structure=profiles.Structure.DELAY_QUEUE_WHEEL,
    features=frozenset({profiles.Feature.READD, profiles.Feature.CHANGE_DELAY}),
    observables=frozenset({profiles.Observable.QUEUED_BUCKETS}),
)


def test_a_bucket_that_is_gone_is_a_divergence_and_no_crash(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The step diverges by a rule about adding."""
    remove = TimingWheel.remove

    def forgetting(wheel: TimingWheel, task: str) -> TimingWheel:
        left = remove(wheel, task)
        if task in wheel.places and not left.buckets[wheel.places[task]]:
            return replace(left, buckets=left.buckets.delete(wheel.places[task]))
        return left

    monkeypatch.setattr(TimingWheel, "remove", forgetting)
    judge = TimerJudge(profiles.TimerConfiguration(), PROFILE)
    assert judge.step(Add("a", 5), Outcome(observed={"queued_buckets": 1})).divergence is None
    divergence = judge.step(Add("a", 9), Outcome(observed={"queued_buckets": 2})).divergence
    assert divergence is not None
    assert divergence.rule == "TIMER-READD-PENDING"
    assert (divergence.expected, divergence.seen) == ("queued_buckets = 1", "queued_buckets = 2")
