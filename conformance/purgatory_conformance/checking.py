"""A check: one component of an open subject after another is judged, and the replays are kept.

The command ``purgatory check``, the plugin for pytest and ``purgatory deviations`` are made of it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from purgatory_conformance.knowledge import vectors
from purgatory_conformance.problems import EXIT_CONTRADICTED, Problem
from purgatory_conformance.reporting.html import render_html
from purgatory_conformance.reporting.results import Results, results_of
from purgatory_conformance.reporting.results_file import write_results
from purgatory_conformance.running.campaign import (
    SUITES,
    Budget,
    Campaign,
    Progress,
    no_progress,
    run_campaign,
)
from purgatory_conformance.running.golden_vectors import contradictions
from purgatory_conformance.running.replay_file import write_replay
from purgatory_conformance.subjects.open_subject import OpenSubject
from purgatory_conformance.subjects.subject import SubjectFailure, profile_of
from purgatory_conformance.version import PACKAGE_VERSION, SUITE_VERSION
from purgatory_conformance.whole_files import write_whole
from purgatory_conformance.work_folder import own_folder
from purgatory_judge.components import PROFILES
from purgatory_spec.messages import Implementation, schema_digest
from purgatory_spec.profiles import Component
from purgatory_spec.requirements import component_of_rule


@dataclass(frozen=True, eq=False)
class Check:
    """The subject to judge, by which suite and seed, and the folder that everything is kept in.

    Where ``rules`` are given, coverage of these alone is judged; ``budget`` is that of the suite
    unless it is given.
    """

    opened: OpenSubject
    suite: str
    seed: int
    work: Path
    rules: frozenset[str] = frozenset()
    budget: Budget | None = None

    @property
    def limits(self) -> Budget:
        """Return the budget of the check."""
        return self.budget or SUITES[self.suite]

    @property
    def folder(self) -> Path:
        """Return the folder of the results, the report and the replay files.

        Raises:
            ForeignFolder: the folder holds the results of another subject of this name.
        """
        return own_folder(self.work, self.opened)


def offered(asked: OpenSubject) -> tuple[Component, ...]:
    """Return the components that the subject offers; the first of all where asking it fails."""
    try:
        return tuple(each for each in Component if each in asked.subject.profiles)
    except SubjectFailure:
        return (Component.TIMER,)


def hold_to_vectors(component: Component) -> None:
    """Hold the model of a component to the golden vectors.

    Raises:
        Problem: the model contradicts a vector, so that nobody may be judged by it.
    """
    contradiction = next(contradictions(vectors(component)), None)
    if contradiction is not None:
        raise Problem(str(contradiction), EXIT_CONTRADICTED)


def judged(
    check: Check,
    component: Component,
    progress: Progress = no_progress,
) -> Results:
    """Judge a component; the replay file of each cause is written.

    Raises:
        ForeignFolder: the folder of the results holds those of another subject.
    """
    folder = check.folder
    return results_in(check, campaign_of(check, component, progress), folder)


def campaign_of(check: Check, component: Component, progress: Progress = no_progress) -> Campaign:
    """Judge a component, and write nothing."""
    asked = check.opened
    return run_campaign(
        asked.subject,
        component,
        seed=check.seed,
        budget=check.limits,
        vectors=vectors(component),
        deviations=tuple(
            each for each in asked.deviations if component_of_rule(each.rule) is component
        ),
        replays=tuple(
            (rule, case) for rule, case in asked.replays if component_of_rule(rule) is component
        ),
        only_rules=check.rules,
        progress=progress,
    )


def keep(check: Check, results: Sequence[Results]) -> tuple[Path, Path]:
    """Write the results and the report, and tell where they are."""
    folder = check.folder
    file, page = folder / "results.jsonl", folder / "report.html"
    write_results(results, file)
    write_whole(page, render_html(results).encode())
    return file, page


def results_in(check: Check, campaign: Campaign, kept_in: Path) -> Results:
    """Return the results of a campaign; the replay file of each cause is written to a folder."""
    opened, component = check.opened, campaign.component
    try:
        implementation = opened.subject.implementation
        profile = profile_of(opened.subject, component)
    except SubjectFailure:
        implementation, profile = Implementation(name=opened.name), PROFILES[component]()
    folder = kept_in / "replays"
    replays = {
        index: str(write_replay(folder, cause.shrunk, cause.rule, opened, cause.compared(profile)))
        for index, cause in enumerate(campaign.causes)
    }
    return results_of(
        campaign,
        subject=opened.name,
        implementation=implementation,
        profile=profile,
        suite=check.suite,
        suite_version=SUITE_VERSION,
        schema=schema_digest(),
        replays=replays,
        package_version=PACKAGE_VERSION,
        again=opened.again,
    )
