"""Campaigns on one component of Kafka, with the deviations that are declared for it."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from purgatory_conformance.knowledge import vectors
from purgatory_conformance.opening import open_subject
from purgatory_conformance.running.campaign import SUITES, Campaign, run_campaign
from purgatory_conformance.subjects.open_subject import OpenSubject
from purgatory_conformance.subjects.subject import Subject
from purgatory_spec.operations import Operation
from purgatory_spec.outcomes import Outcome
from purgatory_spec.profiles import Component, Configuration
from purgatory_spec.requirements import component_of_rule

from .adapter_process import WORK_FOLDER, need_java_and_maven

Falsify = Callable[[Operation, Outcome], Outcome]
"""Returns the outcome that a planted defect makes of a right one."""


class Falsified:
    """A subject with a defect planted: shown are outcomes that it did not have."""

    # The defect is made anew for each case, since it may remember what happened before.

    def __init__(self, inner: Subject, defect: Callable[[], Falsify]) -> None:
        self.inner = inner
        self.implementation = inner.implementation
        self.profiles = inner.profiles
        self.defect = defect
        self.falsify = defect()

    def new(self, case: str, configuration: Configuration) -> None:
        self.falsify = self.defect()
        self.inner.new(case, configuration)

    def do_all(self, operations: Iterable[Operation]) -> Iterator[Outcome]:
        planned = list(operations)
        for operation, outcome in zip(planned, self.inner.do_all(planned), strict=True):
            yield self.falsify(operation, outcome)

    def end(self) -> None:
        self.inner.end()

    def close(self) -> None:
        self.inner.close()


def judged(
    word: str,
    component: Component,
    *,
    suite: str = "standard",
    defect: Callable[[], Falsify] | None = None,
) -> Campaign:
    """The campaign on a component of a registered subject, perhaps with a defect planted."""
    need_java_and_maven()
    opened = open_subject(word, work_folder=WORK_FOLDER)
    try:
        subject = Falsified(opened.subject, defect) if defect else opened.subject
        return campaign_on(opened, subject, component, suite)
    finally:
        opened.subject.close()


def campaign_on(
    opened: OpenSubject, subject: Subject, component: Component, suite: str
) -> Campaign:
    """The campaign on a component, with what is declared for it."""

    def is_ours(rule: str) -> bool:
        return component_of_rule(rule) is component

    return run_campaign(
        subject,
        component,
        seed=11,
        budget=replace(SUITES[suite], shrink_runs=150),
        vectors=vectors(component),
        deviations=tuple(each for each in opened.deviations if is_ours(each.rule)),
        replays=tuple((rule, case) for rule, case in opened.replays if is_ours(rule)),
    )
