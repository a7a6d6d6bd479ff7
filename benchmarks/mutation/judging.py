"""The conformance suite as the judge of a mutant of the implementation; runs in a forked child."""

import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import sys
from collections.abc import Callable, Mapping, Sequence
from types import ModuleType

from benchmarks.mutation.mutants import Mutant
from benchmarks.mutation.runner import End, Killed
from purgatory_conformance.knowledge import vectors
from purgatory_conformance.running.campaign import Budget, Campaign, Verdict, run_campaign
from purgatory_conformance.running.case_run import CaseVerdict
from purgatory_conformance.subjects.subject import Subject
from purgatory_spec.profiles import Component

IMPLEMENTATION = "purgatory_impl"
_BUNDLED = "purgatory_conformance.subjects.bundled"

CASES = 400
SEEDS = (1, 2)
"""Each seed is a campaign of so many cases; the golden vectors are in the first.

The suite generates as many, unless some rule was not put to the test often enough. A mutant may
bring that about, and would be followed for a minute.
"""

_BUDGET = Budget(least_cases=CASES, most_cases=CASES, seconds=600)


class SuiteJudge:
    """Judges a mutant as ``purgatory check bundled`` judges the implementation."""

    def __init__(self, components: Mapping[str, Sequence[Component]]) -> None:
        """Take for each mutated module the components whose campaigns may find its mutants."""
        self._components = components

    def __call__(self, mutant: Mutant, getting_on: Callable[[], None]) -> None:
        """Let the mutant take its module's place and run campaigns until a case fails.

        Raises:
            Killed: the mutant was found out.
        """
        try:
            subject = subject_with(mutant.module, mutant.source)
        except Exception as failure:
            raise Killed(End.NOT_IMPORTED, type(failure).__name__) from failure
        for component in self._components[mutant.module]:
            for seed in SEEDS:
                _judge(subject, component, seed, getting_on)


def subject_with(module: str, source: str) -> Subject:
    """The bundled subject, on an implementation in which one module has another source.

    Everything that holds a name of the implementation is imported anew, in the order in which the
    modules ask for each other, so that nobody keeps what the original module had defined.
    """
    for name in list(sys.modules):
        if name.split(".")[0] == IMPLEMENTATION or name.startswith(_BUNDLED):
            del sys.modules[name]
    sys.meta_path.insert(0, _InPlace(f"{IMPLEMENTATION}.{module}", source))
    bundled = importlib.import_module(_BUNDLED)
    subject: Subject = bundled.bundled_subject()
    return subject


class _InPlace(importlib.abc.MetaPathFinder, importlib.abc.InspectLoader):
    """Finds one module, whose source is at hand."""

    def __init__(self, name: str, source: str) -> None:
        self._name = name
        self._source = source

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if fullname != self._name:
            return None
        return importlib.util.spec_from_loader(fullname, self)

    def get_source(self, fullname: str) -> str:
        return self._source


def _judge(
    subject: Subject, component: Component, seed: int, getting_on: Callable[[], None]
) -> None:
    def watch(campaign: Campaign, _phase: str) -> None:
        getting_on()
        failed = campaign.verdicts[CaseVerdict.FAIL]
        if campaign.failures or failed:
            raise Killed(End.JUDGED, f"{component.value}, seed {seed}, case {campaign.cases}")

    getting_on()
    campaign = run_campaign(
        subject,
        component,
        seed=seed,
        budget=_BUDGET,
        vectors=vectors(component) if seed == SEEDS[0] else (),
        progress=watch,
    )
    if campaign.verdict not in (Verdict.CONFORMANT, Verdict.INCONCLUSIVE):
        raise Killed(End.JUDGED, campaign.verdict.value)
