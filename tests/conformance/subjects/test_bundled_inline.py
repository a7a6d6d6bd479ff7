"""The bundled timer and purgatory with an executor that runs what expires at once."""

from pathlib import Path

import pytest

from purgatory_conformance.opening import open_subject
from purgatory_conformance.running.campaign import Budget, Campaign, Verdict, run_campaign
from purgatory_conformance.subjects.bundled import bundled_inline_subject, bundled_subject
from purgatory_conformance.subjects.bundled.purgatory import PurgatoryInstance
from purgatory_conformance.subjects.bundled.timer import TimerInstance
from purgatory_conformance.subjects.in_process import InProcessSubject
from purgatory_impl import LARGEST_DELAY_MS
from purgatory_spec.operations import (
    Add,
    AddInside,
    Advance,
    CancelInside,
    RunOne,
    Watch,
)
from purgatory_spec.outcomes import completed, ran, timed_out, tried
from purgatory_spec.profiles import (
    Component,
    Executor,
    PurgatoryConfiguration,
    TimerConfiguration,
)
from purgatory_spec.reasons import Reason

BUDGET = Budget(least_cases=80, seconds=20, shrink_runs=100)


def judged(subject: InProcessSubject, component: Component) -> Campaign:
    campaign = run_campaign(subject, component, seed=1, budget=BUDGET)
    subject.close()
    return campaign


@pytest.mark.slow
@pytest.mark.parametrize("component", [Component.TIMER, Component.PURGATORY])
def test_it_is_conformant(component: Component) -> None:
    campaign = judged(bundled_inline_subject(), component)
    assert (campaign.verdict, campaign.causes) == (Verdict.CONFORMANT, [])


@pytest.mark.slow
@pytest.mark.parametrize("component", [Component.TIMER, Component.PURGATORY])
def test_it_is_not_what_it_does_not_declare(component: Component) -> None:
    """Given the same profiles, declared by instances whose executor is stepped.

    When they are judged.
    Then they are not conformant.
    """
    inline, stepped = bundled_inline_subject(), bundled_subject()
    subject = InProcessSubject(inline.implementation, inline.profiles, stepped._make)
    assert judged(subject, component).verdict is Verdict.NOT_CONFORMANT


def test_it_goes_by_its_name(tmp_path: Path) -> None:
    opened = open_subject("bundled-inline", work_folder=tmp_path)
    assert opened.name == "bundled-inline"
    executors = {each.executor for each in opened.subject.profiles.values()}  # type: ignore[union-attr]
    assert executors == {Executor.INLINE}
    assert (opened.deviations, opened.replays) == ((), ())
    opened.subject.close()


def test_a_task_runs_in_the_step_that_makes_it_expire() -> None:
    """Given a timer whose clock stands at 0.

    When a task is added that is due, and adds another one, which an advance reaches.
    Then each runs in the same step, with the script of that very add.
    """
    instance = TimerInstance(TimerConfiguration(), inline=True)
    first = instance.do(Add("a", 0, (AddInside("b", 5),)))
    assert (first.events, first.observed["size"], first.observed["queued"]) == ((ran("a"),), 1, 0)
    assert instance.do(Advance(5)).events == (ran("b"),)
    instance.close()


def test_an_add_that_is_refused_leaves_the_script_before() -> None:
    """Given a pending task with a script.

    When it is added once more with another script and a delay that is too large, and then expires.
    Then the add is refused, and what it runs is the script before.
    """
    instance = TimerInstance(TimerConfiguration(), inline=True)
    instance.do(Add("other", 9))
    instance.do(Add("a", 5, (CancelInside("other"),)))
    refused = instance.do(Add("a", LARGEST_DELAY_MS + 1, ()))
    assert refused.rejected is Reason.TOO_LARGE
    assert instance.do(Advance(5)).observed["size"] == 0
    instance.close()


def test_a_time_out_runs_in_the_advance_that_reaches_it() -> None:
    instance = PurgatoryInstance(PurgatoryConfiguration(), inline=True)
    assert instance.do(Watch("a", ("k",), 5)).events == (tried("a"), tried("a"))
    assert instance.do(Advance(5)).events == (completed("a"), timed_out("a"))
    instance.close()


@pytest.mark.parametrize("inline", [True, False])
def test_running_one_is_for_a_stepped_executor(inline: bool) -> None:
    timer = TimerInstance(TimerConfiguration(), inline=inline)
    purgatory = PurgatoryInstance(PurgatoryConfiguration(), inline=inline)
    for instance in (timer, purgatory):
        if inline:
            with pytest.raises(ValueError, match="no such operation"):
                instance.do(RunOne())
        else:
            assert instance.do(RunOne()).rejected is None
        instance.close()
