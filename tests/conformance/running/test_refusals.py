"""Refusals of a subject are counted and shown, and no verdict rests on many of them."""

import io
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

import pytest
from rich.console import Console

from purgatory_conformance.reporting.html import render_html
from purgatory_conformance.reporting.machine import render_junit, render_markdown
from purgatory_conformance.reporting.results import Results, results_of
from purgatory_conformance.reporting.terminal import print_results
from purgatory_conformance.running.campaign import SUITES, Budget, Campaign, Verdict, run_campaign
from purgatory_conformance.running.refusals import MOST_REFUSED
from purgatory_conformance.subjects.bundled import bundled_subject
from purgatory_conformance.subjects.in_process import InProcessSubject
from purgatory_conformance.subjects.subject import UnsupportedConfigurationError
from purgatory_judge.components import narrowed
from purgatory_spec import profiles
from purgatory_spec.operations import Add, Allocate, Construct, Operation
from purgatory_spec.outcomes import Outcome
from purgatory_spec.reasons import Reason

QUICK = SUITES["quick"]
ENDED = replace(QUICK, most_cases=150)
"""For campaigns that would go on until time is up, since a rule is never put to the test."""


class Refusing(InProcessSubject):
    """The bundled implementation, which refuses some instances and operations."""

    def __init__(
        self,
        instance: Callable[[profiles.Configuration], str] = lambda configuration: "",
        operation: Callable[
            [profiles.Configuration, Operation], str
        ] = lambda configuration, asked: "",
    ) -> None:
        inner = bundled_subject()
        super().__init__(inner.implementation, inner.profiles, inner._make)
        self.refuses_instance, self.refuses_operation = instance, operation

    def new(self, case: str, configuration: profiles.Configuration) -> None:
        if reason := self.refuses_instance(configuration):
            raise UnsupportedConfigurationError(reason)
        super().new(case, configuration)
        self.configuration = configuration

    def do_all(self, operations: Iterable[Operation]) -> Iterator[Outcome]:
        for operation in operations:
            reason = self.refuses_operation(self.configuration, operation)
            if reason:
                yield Outcome(rejected=Reason.UNSUPPORTED, detail=reason)
            else:
                yield from super().do_all([operation])


def campaign_of(
    subject: Refusing, component: profiles.Component, budget: Budget = QUICK
) -> Campaign:
    return run_campaign(subject, component, seed=1, budget=budget)


def results_on(campaign: Campaign, subject: Refusing) -> Results:
    return results_of(
        campaign,
        subject="refusing",
        implementation=subject.implementation,
        profile=subject.profiles[campaign.component],
        suite="quick",
        suite_version="0",
        schema="",
        replays={},
    )


def only_at_once(configuration: profiles.Configuration) -> str:
    asked = narrowed(configuration, profiles.PurgatoryConfiguration)
    return "purges at once, always" if asked.purge_interval else ""


def test_a_boundary_that_was_always_refused_makes_the_verdict_inconclusive() -> None:
    """It is inconclusive, and every report says how much was refused and why."""
    subject = Refusing(instance=only_at_once)
    campaign = campaign_of(subject, profiles.Component.PURGATORY, ENDED)
    assert campaign.verdict is Verdict.INCONCLUSIVE
    assert "cases were refused (purges at once, always)" in campaign.why
    assert "an instance with purge interval above 0" in campaign.why
    results = results_on(campaign, subject)
    (line,) = results.refusals
    assert line.reason == "purges at once, always"
    # A number beyond 32 bits may always be refused, and is told of all the same.
    assert line.cases == campaign.refusals.reasons.total() >= campaign.refusals.refused > 100
    file = io.StringIO()
    print_results(Console(file=file, width=100), [results], results_path="", report_path="")
    words = f"{line.cases} cases: purges at once, always"
    for text in (file.getvalue(), render_html([results]), render_junit([results])):
        assert words in text
    assert words in render_markdown([results])


@pytest.mark.recorded
def test_operations_that_are_refused_count_as_well() -> None:
    """That is no breach of a rule, and no verdict either: it was never put to the test."""

    def of_one_wheel(configuration: profiles.Configuration, operation: Operation) -> str:
        wheel = narrowed(configuration, profiles.TimerConfiguration)
        far = isinstance(operation, Add) and operation.delay_ms >= wheel.tick_ms * wheel.wheel_size
        return "one wheel only" if far else ""

    campaign = campaign_of(Refusing(operation=of_one_wheel), profiles.Component.TIMER, ENDED)
    assert (campaign.verdict, campaign.causes) == (Verdict.INCONCLUSIVE, [])
    assert "(one wheel only)" in campaign.why
    assert "the operation add beyond the lowest wheel" in campaign.why


@pytest.mark.recorded
def test_a_few_refusals_leave_the_verdict_and_are_shown() -> None:
    """The first is conformant and its refusals are in the results; the second is inconclusive."""

    def every(number: int) -> Callable[[profiles.Configuration], str]:
        cases = iter(range(1, 100_000))
        return lambda configuration: "busy" if next(cases) % number == 0 else ""

    seldom, often = Refusing(instance=every(40)), Refusing(instance=every(10))
    campaign = campaign_of(seldom, profiles.Component.TIMER)
    assert campaign.verdict is Verdict.CONFORMANT
    assert [line.reason for line in results_on(campaign, seldom).refusals] == ["busy"]
    campaign = campaign_of(often, profiles.Component.TIMER)
    assert campaign.refusals.refused > MOST_REFUSED * campaign.refusals.asked
    assert campaign.verdict is Verdict.INCONCLUSIVE


@pytest.mark.recorded
def test_numbers_beyond_32_bits_may_always_be_refused() -> None:
    """The first is conformant, with its refusals in the results; the second is inconclusive."""

    def of_bits(bits: int) -> Refusing:
        def refusal(configuration: profiles.Configuration, operation: Operation) -> str:
            size = operation.size_bytes if isinstance(operation, Allocate | Construct) else 0
            return "" if -(2**bits) <= size < 2**bits else f"{bits} bits"

        return Refusing(operation=refusal)

    campaign = campaign_of(of_bits(31), profiles.Component.MEMORY_POOL)
    assert campaign.verdict is Verdict.CONFORMANT, campaign.why
    (line,) = results_on(campaign, of_bits(31)).refusals
    assert (line.reason, line.cases > MOST_REFUSED * campaign.refusals.asked) == ("31 bits", True)
    campaign = campaign_of(of_bits(5), profiles.Component.MEMORY_POOL)
    assert campaign.verdict is Verdict.INCONCLUSIVE
