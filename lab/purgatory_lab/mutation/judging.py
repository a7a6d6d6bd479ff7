"""The conformance suite as the judge of a mutant of the implementation.

First the suite judges the implementation itself, as ``purgatory check bundled`` does, and every
case is kept with its outcomes. A mutant is then asked the same cases. Where all its outcomes are
those of the original, the verdict is the original's, since a judge sees nothing but outcomes;
where one differs, the judge is asked. That is what the suite would say of the mutant, in a fraction
of the time: it generates the same cases as long as none fails.
"""

import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import ModuleType

from purgatory_conformance.knowledge import vectors
from purgatory_conformance.running.campaign import SUITES, Budget, Verdict, run_campaign
from purgatory_conformance.subjects.subject import Subject
from purgatory_judge.judgement import TooManyStates
from purgatory_judge.registry import judged
from purgatory_lab.mutation.mutants import Mutant
from purgatory_lab.mutation.runner import End, Killed
from purgatory_lab.mutation.scope import IMPORT, Trial
from purgatory_spec.messages import Implementation
from purgatory_spec.operations import Operation
from purgatory_spec.outcomes import Outcome
from purgatory_spec.profiles import Component, Configuration, Profile

IMPLEMENTATION = "purgatory_impl"
_BUNDLED = "purgatory_conformance.subjects.bundled"


@dataclass(frozen=True)
class Campaigns:
    """The campaigns of a trial, one for each seed; the golden vectors are in the first."""

    seeds: tuple[int, ...]
    budget: Budget

    @staticmethod
    def of(trial: Trial) -> "Campaigns":
        """Return the campaigns of users, or enough for the trials with smaller constants."""
        return AS_USERS_RUN if trial.as_shipped else FURTHER


def _cases(count: int) -> Budget:
    return Budget(least_cases=count, most_cases=count, minimum_visits=0)


AS_USERS_RUN = Campaigns((1,), SUITES["standard"])
FURTHER = Campaigns((1, 2), _cases(400))


class OriginalFails(Exception):
    """The suite finds fault with the implementation itself, so that a kill would mean nothing."""


@dataclass
class RecordedCase:
    """A case that the original has passed, with its outcomes."""

    name: str
    configuration: Configuration
    operations: list[Operation] = field(default_factory=list)
    outcomes: list[Outcome] = field(default_factory=list)


@dataclass
class Recording:
    """The profile that the original declares, and the cases that the original passes."""

    profile: Profile
    cases: list[RecordedCase]


def record(trial: Trial, campaigns: Campaigns | None = None) -> Recording:
    """Judge the original, and keep all cases.

    Args:
        trial: What to judge, and as what.
        campaigns: Seeds and budget; without them, the trial's own.

    Raises:
        OriginalFails: it is not conformant.
    """
    subject = _Recorder(_subject(trial))
    chosen = campaigns or Campaigns.of(trial)
    for seed in chosen.seeds:
        with _made_small(trial):
            campaign = run_campaign(
                subject,
                trial.component,
                seed=seed,
                budget=chosen.budget,
                vectors=vectors(trial.component) if seed == chosen.seeds[0] else (),
                deviations=trial.deviations,
            )
        if campaign.verdict not in (Verdict.CONFORMANT, Verdict.CONFORMANT_WITH_DEVIATIONS):
            raise OriginalFails(f"{trial.name}, seed {seed}: {campaign.why}")
    return Recording(subject.profiles[trial.component], subject.cases)


class SuiteJudge:
    """Judges a mutant as ``purgatory check bundled`` judges the implementation; in the child."""

    def __init__(
        self, trials: Mapping[str, Sequence[Trial]], recorded: Mapping[Trial, Recording]
    ) -> None:
        """Take for each mutated module the trials that it goes through, and their cases."""
        self._trials = trials
        self._recorded = recorded

    def __call__(self, mutant: Mutant, getting_on: Callable[[str], None]) -> None:
        """Let the mutant take its module's place and ask it the cases until one fails.

        Raises:
            Killed: the mutant was found out.
        """
        getting_on(IMPORT)
        try:
            replace_module(mutant.module, mutant.source)
            subjects = {trial: _subject(trial) for trial in self._trials[mutant.module]}
        except Exception as failure:
            raise Killed(End.NOT_IMPORTED, type(failure).__name__) from failure
        for trial, subject in subjects.items():
            with _made_small(trial):
                _try(subject, trial, self._recorded[trial], getting_on)


def replace_module(module: str, source: str) -> None:
    """Replace the source of one module of the implementation, from the next import on.

    Everything that holds a name of the implementation is forgotten, to be imported anew, so that
    nobody keeps what the original module had defined.
    """
    for name in list(sys.modules):
        package, _, last = name.rpartition(".")
        if name.split(".")[0] == IMPLEMENTATION or name.startswith(_BUNDLED):
            del sys.modules[name]
            # A package keeps its modules as attributes too, and imports look there first.
            if package in sys.modules:
                delattr(sys.modules[package], last)
    sys.meta_path.insert(0, _InPlace(f"{IMPLEMENTATION}.{module}", source))


def _subject(trial: Trial) -> Subject:
    bundled = importlib.import_module(_BUNDLED)
    subject: Subject = getattr(bundled, trial.maker)()
    return subject


@contextmanager
def _made_small(trial: Trial) -> Iterator[None]:
    """Set the constants of a trial to the trial's sizes, and restore the old values at the end."""
    modules = {size: importlib.import_module(size.module) for size in trial.sizes}
    before = {size: getattr(module, size.name) for size, module in modules.items()}
    try:
        for size, module in modules.items():
            setattr(module, size.name, size.value)
        yield
    finally:
        for size, module in modules.items():
            setattr(module, size.name, before[size])


def _try(
    subject: Subject, trial: Trial, recording: Recording, getting_on: Callable[[str], None]
) -> None:
    """Ask a mutant the cases of one trial.

    Raises:
        Killed: a case has failed.
    """
    for case in recording.cases:
        getting_on(trial.name)
        subject.new(case.name, case.configuration)
        outcomes = list(subject.do_all(case.operations))
        subject.end()
        if outcomes != case.outcomes:
            _ask_the_judge(trial, recording.profile, case, outcomes)


def _ask_the_judge(
    trial: Trial, profile: Profile, case: RecordedCase, outcomes: Iterable[Outcome]
) -> None:
    """Judge outcomes that differ from the original's, under the profile that it has declared.

    A mutant's own profile would say nothing, where it is made of the implementation's constants.
    """
    judge = judged(trial.component).judge(case.configuration, profile, trial.deviations)
    try:
        for operation, outcome in zip(case.operations, outcomes, strict=True):
            divergence = judge.step(operation, outcome).divergence
            if divergence is not None:
                raise Killed(End.JUDGED, divergence.rule)
    except TooManyStates:
        # Inconclusive, which is no failure.
        return


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
        # With a file, since a module may look at its own name to see whether it is compiled.
        spec = importlib.util.spec_from_loader(fullname, self, origin=f"{fullname}.py")
        if spec is not None:
            spec.has_location = True
        return spec

    def get_source(self, fullname: str) -> str:
        return self._source


class _Recorder:
    """A subject whose cases are kept."""

    def __init__(self, subject: Subject) -> None:
        self._subject = subject
        self.cases: list[RecordedCase] = []

    @property
    def implementation(self) -> Implementation:
        return self._subject.implementation

    @property
    def profiles(self) -> Mapping[Component, Profile]:
        return self._subject.profiles

    def new(self, case: str, configuration: Configuration) -> None:
        self._subject.new(case, configuration)
        self.cases.append(RecordedCase(case, configuration))

    def do_all(self, operations: Iterable[Operation]) -> Iterator[Outcome]:
        asked = list(operations)
        case = self.cases[-1]
        for operation, outcome in zip(asked, self._subject.do_all(asked), strict=True):
            case.operations.append(operation)
            case.outcomes.append(outcome)
            yield outcome

    def end(self) -> None:
        self._subject.end()

    def close(self) -> None:
        self._subject.close()
