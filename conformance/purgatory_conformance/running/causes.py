"""From failing cases to causes: cases are shrunk; those that break the same rule share a cause."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from purgatory_conformance.components import on_real_clock
from purgatory_conformance.judging.case_judge import Deviation
from purgatory_conformance.running.case_run import CaseRun, CaseVerdict, run_case
from purgatory_conformance.running.other_profiles import explaining_profiles
from purgatory_conformance.running.shrinking import shrink
from purgatory_conformance.subjects.subject import Subject, profile_of
from purgatory_conformance.support.support import Candidate
from purgatory_spec.profiles import component_of

REPEATS = 5
"""How often a failing case is repeated, to see whether it is answered alike."""

_MOST_CAUSES_SHRUNK = 6

Failing = Mapping[tuple[str, str], Sequence[CaseRun]]
"""The failing cases by the rule and the kind of their divergence, the shortest of each first."""


@dataclass
class Cause:
    """A cause of failures: the shrunk case that shows it, and the number of cases explained."""

    rule: str
    kind: str
    cases: int
    shrunk: CaseRun
    source: str
    answers: tuple[int, int] | None = None
    """Where the subject answers differently: in how many of how many repetitions it failed."""


@dataclass(frozen=True)
class CauseSearch:
    """What is needed to run failing cases again: whom to ask, what is declared, how often."""

    subject: Subject
    deviations: tuple[Deviation, ...]
    seed: int
    shrink_runs: int

    def causes(self, failing: Failing, getting_on: Callable[[], None]) -> list[Cause]:
        """The causes, the most frequent first; ``getting_on`` is called before each is looked for.

        A case of each raw cause is shrunk; raw causes whose shrunk cases break the same rule are
        merged.
        """
        found: dict[str, Cause] = {}
        for raw, runs in sorted(failing.items(), key=lambda item: -len(item[1])):
            getting_on()
            shortest = runs[0]
            failed = self._repeat(shortest)
            if failed is not None:
                answers = failed, REPEATS
                found[shortest.name] = Cause(*raw, len(runs), shortest, shortest.name, answers)
                continue
            shrunk = shortest if len(found) >= _MOST_CAUSES_SHRUNK else self._shrunk(shortest)
            divergence = shrunk.divergence
            assert divergence is not None
            cause = found.get(divergence.rule)
            if cause is None or len(shrunk.steps) < len(cause.shrunk.steps):
                cases = cause.cases if cause else 0
                cause = Cause(divergence.rule, divergence.kind, cases, shrunk, shortest.name)
                found[divergence.rule] = cause
            cause.cases += len(runs)
        return sorted(found.values(), key=lambda cause: -cause.cases)

    def hint(self, failing: Failing) -> str:
        """Under which other choices all failing cases pass, in a sentence; empty where none."""
        everything = [run for runs in failing.values() for run in runs]
        others = explaining_profiles(self.subject, everything, self.deviations)
        if not others:
            return ""
        count = f"all {len(everything)} failing cases pass" if len(everything) > 1 else "it passes"
        return f"{count} under {' or '.join(others)}; if that is your design, declare it"

    def _repeat(self, run: CaseRun) -> int | None:
        """None where repetitions of a case are answered alike; else how many of them fail."""
        runs = [
            run_case(self.subject, run.name, run.configuration, run.operations, self.deviations)
            for _ in range(REPEATS)
        ]
        # On a real clock no two answers have the same readings.
        real = on_real_clock(profile_of(self.subject, component_of(run.configuration)))
        if all(
            again.verdict is run.verdict and (real or again.steps == run.steps) for again in runs
        ):
            return None
        return sum(again.verdict is CaseVerdict.FAIL for again in runs)

    def _shrunk(self, run: CaseRun) -> CaseRun:
        smallest = shrink(
            profile_of(self.subject, component_of(run.configuration)),
            Candidate(run.configuration, run.operations[: len(run.steps)]),
            lambda candidate: self._again(candidate).verdict is CaseVerdict.FAIL,
            seed=self.seed,
            most_runs=self.shrink_runs,
        )
        shrunk = self._again(smallest)
        return shrunk if shrunk.verdict is CaseVerdict.FAIL else run

    def _again(self, case: Candidate) -> CaseRun:
        return run_case(
            self.subject, "shrinking", case.configuration, case.operations, self.deviations
        )
