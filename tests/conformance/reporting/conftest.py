"""Results to report on: of the bundled timer, of one broken on purpose, and made by hand."""

from collections.abc import Callable, Sequence
from typing import Any

import msgspec
import pytest

from purgatory_conformance.describing.states import describe_state
from purgatory_conformance.reporting.results import (
    CauseLine,
    DeviationLine,
    FailureLine,
    Footer,
    Header,
    Hint,
    Results,
    RuleLine,
    results_of,
)
from purgatory_conformance.running.campaign import Budget, Verdict, run_campaign
from purgatory_conformance.specimens.mutants import mutant
from purgatory_conformance.subjects.bundled import bundled_subject
from purgatory_conformance.subjects.bundled.timer import PROFILE
from purgatory_conformance.subjects.subject import Subject
from purgatory_impl.wheel import Wheel
from purgatory_judge.case_judge import CaseJudge
from purgatory_judge.timer.judge import TimerJudge
from purgatory_spec.cases import Step
from purgatory_spec.messages import Implementation
from purgatory_spec.operations import Add, Advance
from purgatory_spec.outcomes import Outcome, expired
from purgatory_spec.profiles import Component, Configuration, TimerConfiguration, TimerProfile
from purgatory_spec.requirements import requirement

_BUDGET = Budget(least_cases=100, shrink_runs=200)
_SMALL_BUDGET = Budget(least_cases=30, most_cases=120, minimum_visits=0, shrink_runs=20)

MakeResults = Callable[..., Results]

SILENT = msgspec.structs.replace(PROFILE, observables=frozenset())
"""The bundled timer's profile, with nothing shown beside events."""

DEVIATIONS = (
    DeviationLine("TIMER-SIZE", "a_variant", "deviations/size.jsonl", "because", "X-1", 4),
    DeviationLine("TIMER-SPAN", "other", "deviations/span.jsonl", "", "", 0),
)
"""A declared deviation that was seen, and one that was not."""


def never_expires(task: str = "t1") -> list[Step]:
    """Two steps: a task should expire in the second, and does not."""
    return [Step(Add(task, 5), Outcome()), Step(Advance(5), Outcome(False))]


def _campaign_results(
    name: str, subject: Subject, component: Component = Component.TIMER, budget: Budget = _BUDGET
) -> Results:
    campaign = run_campaign(subject, component, seed=1, budget=budget)
    subject.close()
    return results_of(
        campaign,
        subject=name,
        implementation=subject.implementation,
        profile=subject.profiles[component],
        suite="quick",
        suite_version="0.1.0",
        schema="0" * 64,
        replays={
            i: f"purgatory-work/{name}/replays/{i}.jsonl" for i in range(len(campaign.causes))
        },
    )


@pytest.fixture(scope="session")
def broken_components() -> tuple[Results, ...]:
    """One wrong subject of each component."""
    names = ("rounds-up", "completes-twice", "pool-strict-wants-more", "channels-asks-for-largest")
    return tuple(
        _campaign_results("several", each.make(), each.component, _SMALL_BUDGET)
        for each in map(mutant, names)
    )


@pytest.fixture(scope="session")
def conformant_components() -> tuple[Results, ...]:
    """The bundled subject of each component."""
    return tuple(
        _campaign_results("bundled", bundled_subject(), component, _SMALL_BUDGET)
        for component in Component
    )


@pytest.fixture(scope="session")
def good_results() -> Results:
    """A campaign on the bundled timer."""
    return _campaign_results("bundled", bundled_subject())


@pytest.fixture(scope="session")
def broken_results() -> Results:
    """A campaign on the bundled timer with every expiry one millisecond too late: two causes."""
    place = Wheel.place

    def late(self: Wheel, task: Any, expiry_ms: int) -> Any:
        return place(self, task, expiry_ms + 1)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(Wheel, "place", late)
        results = _campaign_results("late-timer", bundled_subject())
    assert Wheel.place is place
    return msgspec.structs.replace(results, causes=results.causes[:2])


@pytest.fixture(scope="session")
def make_results() -> MakeResults:
    """Results with one cause, judged by the model, for steps with recorded outcomes."""

    def make(
        steps: Sequence[Step],
        configuration: TimerConfiguration | None = None,
        profile: TimerProfile = SILENT,
        answers: tuple[int, int] | None = None,
        hint: str = "",
        **footer: object,
    ) -> Results:
        configuration = configuration or TimerConfiguration()
        cause = _cause(tuple(steps), configuration, profile, answers)
        if hint:
            cause = msgspec.structs.replace(
                cause, hints=(Hint(hint, "[[deviation]]", "docs/findings.md#a-pool-that-grows"),)
            )
        rule = requirement(cause.rule)
        end = Footer(
            verdict=Verdict.NOT_CONFORMANT.value,
            why="1 cause of failure",
            exit_code=1,
            vectors=0,
            cases=7,
            steps=70,
            seconds=0.5,
        )
        return Results(
            header=Header(
                "by-hand", Implementation(name="by hand"), profile, "0.1.0", "0" * 64, "quick", 1
            ),
            rules=(RuleLine(rule.id, rule.level.value, rule.title, 7, 20, "broken"),),
            causes=(cause,),
            deviations=(),
            failures=(),
            footer=msgspec.structs.replace(end, **footer),
        )

    return make


@pytest.fixture
def eventful_results(make_results: MakeResults) -> Results:
    """Results with everything that can be told beside rules and causes."""
    results = make_results(
        [Step(Add("t1", 1), Outcome(events=(expired("t1"),)))],
        answers=(2, 5),
        verdict="nondeterministic",
        hint="all 41 failing cases pass under rounding up",
    )
    stderr = "\n".join(f"line {number}" for number in range(1, 31))
    failure = FailureLine("hung", "no reply within 10 s", '{"id":9}', "nothing", stderr)
    return msgspec.structs.replace(results, failures=(failure,), deviations=DEVIATIONS)


def _cause(
    steps: tuple[Step, ...],
    configuration: TimerConfiguration,
    profile: TimerProfile,
    answers: tuple[int, int] | None,
) -> CauseLine[Configuration]:
    judge = CaseJudge(TimerJudge(configuration, profile))
    for number, step in enumerate(steps, start=1):
        assert step.outcome is not None
        divergence = judge.step(step.operation, step.outcome).divergence
        if divergence is not None:
            assert number == len(steps), f"step {number} diverges already: {divergence}"
            return CauseLine(
                rule=divergence.rule,
                kind=divergence.kind,
                cases=3,
                expected=divergence.expected,
                seen=divergence.seen,
                before=describe_state(divergence.before),
                after=describe_state(divergence.after),
                configuration=configuration,
                steps=steps,
                replay="purgatory-work/by-hand/replays/0.jsonl",
                source="g0",
                answers=answers,
            )
    raise AssertionError("no step diverges")
