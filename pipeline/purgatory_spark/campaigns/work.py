"""The two steps of a campaign that have work in them, as functions from batches to batches.

They are called in this process or by Spark's Python workers. Each function holds one batch at a
time.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

import pyarrow as pa

from purgatory_conformance.describing.steps import describe_operation
from purgatory_conformance.running.case_run import CaseRun, CaseVerdict, run_case
from purgatory_conformance.subjects.subject import FailureKind, Subject, SubjectFailure
from purgatory_judge.case_judge import Deviation
from purgatory_spark.campaigns.drawing import Drawing, decode_drawn, encode_drawn
from purgatory_spark.campaigns.isolation import SubjectChoice
from purgatory_spark.campaigns.tables import DONE, DRAWN, batch_of
from purgatory_spec.profiles import Component
from purgatory_spec.requirements import component_of_rule

CRASHED, HUNG, FAILED = "crashed", "hung", "failed"
"""Verdicts on a run in which the subject gave no valid answer; all others are ``CaseVerdict``'s."""

NO_ANSWER = frozenset({CRASHED, HUNG, FAILED})

_VERDICTS = {
    FailureKind.NOT_STARTED: CRASHED,
    FailureKind.CRASHED: CRASHED,
    FailureKind.CLOSED_PIPE: CRASHED,
    FailureKind.HUNG: HUNG,
}
_ROWS_OF_A_BATCH = 256
_LONGEST_WORDS = 300


@dataclass(frozen=True)
class DrawCases:
    """Turns numbers into drawn cases; see ``Drawing`` for what they depend on."""

    drawings: Mapping[str, Drawing]

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Draw the cases of each batch."""
        for batch in batches:
            for part in _pieces(batch):
                yield batch_of(self._rows(part), DRAWN)

    def _rows(self, batch: pa.RecordBatch) -> Iterator[tuple[object, ...]]:
        columns = (batch.column(name).to_pylist() for name in ("component", "number"))
        for component, number in zip(*columns, strict=True):
            drawing = self.drawings[component]
            case = drawing.draw(number)
            yield component, number, drawing.run_id(case), encode_drawn(case)


@dataclass(frozen=True)
class CarryOut:
    """Turns drawn cases into rows about their runs.

    Attributes:
        choice: The subject.
        served: Whether the subject is no adapter, and is served in a process of its own.
        deviations: The rules that the subject is declared to break.
        lent: The subject in a process of its own, where all is done in this process; otherwise
            each task starts one.
    """

    choice: SubjectChoice
    served: bool
    deviations: tuple[Deviation, ...] = ()
    lent: Subject | None = None

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Carry out and judge; whatever the subject does, each case gets its row."""
        subject = self.lent or self.choice.isolated(served=self.served)
        try:
            for batch in batches:
                for part in _pieces(batch):
                    yield batch_of(self._rows(subject, part), DONE)
        finally:
            if self.lent is None:
                subject.close()

    def _rows(self, subject: Subject, batch: pa.RecordBatch) -> Iterator[tuple[object, ...]]:
        columns = (batch.column(name).to_pylist() for name in DRAWN.names)
        for component, number, run_id, case in zip(*columns, strict=True):
            drawn = decode_drawn(Component(component), case)
            declared = declared_of(self.deviations, Component(component))
            run = run_case(
                subject, name_of(run_id), drawn.configuration, drawn.operations, declared
            )
            yield component, number, run_id, *judged(run)


def declared_of(deviations: Iterable[Deviation], component: Component) -> tuple[Deviation, ...]:
    """Return the deviations from rules of the component."""
    return tuple(each for each in deviations if component_of_rule(each.rule) is component)


def name_of(run: str) -> str:
    """Return the name that a run goes by with a subject and in files."""
    return f"run-{run[:12]}"


def judged(run: CaseRun) -> tuple[object, ...]:
    """Return a run's values for the tables, from the column ``verdict`` on."""
    visits = [{"rule": rule, "visits": count} for rule, count in sorted(run.visits.items())]
    steps = len(run.steps)
    if run.divergence is not None:
        told = run.divergence
        # A subject that also fails when its instance is dropped has broken the rule all the same.
        verdict = run.verdict
        if verdict is CaseVerdict.SUBJECT_FAILED:
            verdict = CaseVerdict.FAIL
        return verdict.value, steps, told.rule, told.kind, told.expected, told.seen, visits
    if run.failure is not None:
        verdict_word = _VERDICTS.get(run.failure.kind, FAILED)
        expected, seen = _unanswered(run), _said(run.failure)
        return verdict_word, steps, "", run.failure.kind.value, expected, seen, visits
    return run.verdict.value, steps, "", "", "", "", visits


def _unanswered(run: CaseRun) -> str:
    """Return the missing answer in words, without numbers that depend on earlier runs."""
    count = len(run.steps)
    if count == len(run.operations):
        return "an answer to the end of the case"
    return f"an answer to step {count + 1}: {describe_operation(run.operations[count])}"


def _said(failure: SubjectFailure) -> str:
    """Return the failure in words, with the last line that the subject wrote on standard error."""
    lines = [line.strip() for line in failure.standard_error.splitlines() if line.strip()]
    if not lines or lines[-1] in failure.explanation:
        return failure.explanation
    return f"{failure.explanation} ({lines[-1][:_LONGEST_WORDS]})"


def _pieces(batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
    for first in range(0, batch.num_rows, _ROWS_OF_A_BATCH):
        yield batch.slice(first, _ROWS_OF_A_BATCH)
