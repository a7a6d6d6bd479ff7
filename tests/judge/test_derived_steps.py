"""A subject without a stepped executor is judged by the base steps that explain what it shows."""

import pytest

from purgatory_judge.timer.judge import TimerJudge
from purgatory_spec import profiles
from purgatory_spec.operations import Add, Advance, Operation
from purgatory_spec.outcomes import Outcome, ran

INLINE = profiles.TimerProfile(
    executor=profiles.Executor.INLINE,
    features=frozenset(
        {
            profiles.Feature.CANCEL,
            profiles.Feature.READD,
            profiles.Feature.SCRIPT_ADD,
            profiles.Feature.SCRIPT_CANCEL,
            profiles.Feature.ELAPSE,
        }
    ),
    observables=frozenset({profiles.Observable.SIZE}),
)


def judged(*steps: tuple[Operation, Outcome]) -> list[str | None]:
    """For each step the rule that it breaks, or None; nothing after the first divergence."""
    judge = TimerJudge(profiles.TimerConfiguration(), INLINE)
    rules: list[str | None] = []
    for operation, outcome in steps:
        divergence = judge.step(operation, outcome).divergence
        rules.append(divergence.rule if divergence else None)
        if divergence:
            break
    return rules


@pytest.mark.parametrize(
    ("rounding", "ran_at_ms"),
    [(profiles.Rounding.DOWN, 30), (profiles.Rounding.UP, 40), (profiles.Rounding.EXACT, 35)],
)
@pytest.mark.parametrize("already_due", profiles.AlreadyDue)
def test_what_has_no_tick_expires_to_the_millisecond(
    rounding: profiles.Rounding, ran_at_ms: int, already_due: profiles.AlreadyDue
) -> None:
    """The task is expected at the reading that the rounding says, and no other."""
    profile = profiles.TimerProfile(rounding=rounding, already_due=already_due)
    for seen_ms in (30, 35, 40):
        judge = TimerJudge(profiles.TimerConfiguration(tick_ms=10), profile)
        judge.step(Add("a", 35), Outcome())
        advances = [
            judge.step(Advance(now), Outcome(events=(ran("a"),) if now == seen_ms else ()))
            for now in range(1, seen_ms + 1)
        ]
        broken = [each.divergence.rule for each in advances if each.divergence]
        assert broken[:1] == ([] if seen_ms == ran_at_ms else ["TIMER-ROUNDING"])
