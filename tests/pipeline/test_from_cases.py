"""Cases as traces: golden vectors conform, failing cases diverge by the rule of the suite."""

from pathlib import Path

import msgspec
import pytest

from purgatory_conformance.running.case_run import CaseRun, CaseVerdict, run_case
from purgatory_conformance.specimens.mutant import Mutant
from purgatory_conformance.specimens.mutants import mutants
from purgatory_conformance.subjects.subject import profile_of
from purgatory_conformance.support.registry import support_of
from purgatory_spec import operations as op
from purgatory_spec import profiles
from purgatory_spec.cases import Case, Step, case_header, read_case
from purgatory_traces.results.rows import VerdictRow
from purgatory_traces.traces.from_cases import instance_of, trace_of_case, trace_of_steps
from purgatory_traces.traces.lines import Begin
from tests.strangers.test_strangers import STRANGERS

from .replay.run_lines import cases, deviations, verdict_of

REUSED = {"first-try-throws", "watch-completed"}
"""Vectors that watch a name again whose operation is finished: a new operation to who forgets."""

DEVIATIONS = deviations()


def test_every_golden_vector_is_a_trace_that_conforms() -> None:
    verdicts = {}
    for case in cases():
        row = verdict_of(trace_of_case(case))
        verdicts[case.header.case] = row.verdict, row.judged
    assert verdicts == {case.header.case: ("conforms", len(case.steps) + 2) for case in cases()}


def test_nearly_every_golden_vector_conforms_for_a_judge_that_forgets() -> None:
    diverging = {
        case.header.case
        for case in cases()
        if verdict_of(trace_of_case(case, keeps_names=False)).verdict != "conforms"
    }
    assert diverging == REUSED


@pytest.mark.parametrize("path", DEVIATIONS, ids=lambda path: path.stem)
def test_a_replay_file_of_a_deviation_diverges_unless_it_is_declared(path: Path) -> None:
    case = read_case(path)
    row = verdict_of(trace_of_case(case))
    assert (row.verdict, row.rule) == ("diverges", case.header.breaks)
    assert row.subject == case.header.subject
    row = verdict_of(trace_of_case(case, declares=True))
    assert (row.verdict, row.deviated) == ("conforms", (case.header.breaks,))


def failing_case(wrong: Mutant, golden: list[Case]) -> CaseRun | None:
    """The first golden case in which a mutant is caught."""
    subject = wrong.make()
    profile = profile_of(subject, wrong.component)
    for case in golden:
        if case.component is not wrong.component:
            continue
        operations = support_of(wrong.component).suited(case, profile)
        if operations is None:
            continue
        run = run_case(subject, case.header.case, case.header.configuration, operations)
        if run.verdict is CaseVerdict.FAIL:
            return run
    return None


def verdict_on(wrong: Mutant, run: CaseRun, *, keeps_names: bool = True) -> VerdictRow:
    """The verdict on a failing case, as a trace."""
    instance = instance_of(run.configuration, profile_of(wrong.make(), wrong.component))
    begin = Begin(run="r", seq=0, instance=instance, keeps_names=keeps_names)
    return verdict_of(trace_of_steps(begin, run.steps))


@pytest.mark.verify
def test_failing_cases_of_mutants_diverge_by_the_same_rule() -> None:
    """Overlook one, as a judge that forgets does: it refuses to force what was never watched."""
    golden = cases()
    caught, disagreeing, overlooked = 0, [], set()
    # Few of the reported bugs fail a vector, and those that wait in a circle hang in one.
    own = [each for each in mutants() if not each.report and each.rule != "PURGATORY-NO-CIRCLE"]
    for each in own:
        run = failing_case(each, golden)
        if run is None or run.divergence is None:
            continue
        caught += 1
        row = verdict_on(each, run)
        expected = ("diverges", run.divergence.rule, len(run.steps))
        if (row.verdict, row.rule, row.seq) != expected:
            disagreeing.append((each.name, row.verdict, row.rule, row.seq))
        if verdict_on(each, run, keeps_names=False).verdict != "diverges":
            overlooked.add(each.name)
    assert disagreeing == []
    assert overlooked == {"force-only-watched"}
    assert caught >= len(own) * 2 // 3


CHOICES: dict[str, tuple[tuple[op.Operation, ...], dict[str, object], str]] = {
    "HashSetPurgatory": (
        (op.Watch("o1", ("a",), 9), op.Watch("o2", ("a",), 9), op.Check("a")),
        {"check_order": profiles.CheckOrder.AS_WATCHED},
        "PURGATORY-CHECK-ORDER",
    ),
    "JournalPurgatory": (
        (
            *(op.Watch(name, ("a",), 9) for name in ("o1", "o2", "o3")),
            op.Force("o1"),
            op.Advance(0),
        ),
        {"purge_due": profiles.PurgeDue.FIXED},
        "PURGATORY-PURGE-START",
    ),
    "OneTablePurgatory": (
        (op.Watch("o1", ("a",), 9, op.Script((op.Answer.COMPLETE,))), op.Check("a")),
        {"first_try": profiles.FirstTry.BEFORE_WATCHING},
        "PURGATORY-WATCH-FIRST-TRY",
    ),
    "RotatingPurgatory": (
        (op.Watch("o1", ("a",), 9), op.Force("o1"), op.CancelForKey("a")),
        {"cancel_result": profiles.CancelResult.WHOLE_LIST},
        "PURGATORY-CANCEL-RESULT",
    ),
}
"""The question to a stranger, with the usual choice for its own, and the rule that this breaks."""


@pytest.mark.parametrize("name", CHOICES)
def test_a_trace_of_a_stranger_is_judged_by_its_choice(name: str) -> None:
    operations, usual, rule = CHOICES[name]
    subject = STRANGERS[name].subject()
    profile = profile_of(subject, profiles.Component.PURGATORY)
    run = run_case(subject, name, profiles.PurgatoryConfiguration(purge_interval=0), operations)
    verdicts = []
    for declared in (profile, msgspec.structs.replace(profile, **usual)):
        begin = Begin(run="r", seq=0, instance=instance_of(run.configuration, declared))
        row = verdict_of(trace_of_steps(begin, run.steps))
        verdicts.append((row.verdict, row.rule))
    assert verdicts == [("conforms", ""), ("diverges", rule)]


def test_what_is_no_trace_is_refused() -> None:
    timer = profiles.TimerConfiguration()
    header = case_header("c", timer, profiles.TimerProfile())
    with pytest.raises(ValueError, match="step 1 has no outcome"):
        trace_of_case(Case(header, (Step(op.Cancel("t")),)))
    with pytest.raises(ValueError, match="recorded on a real clock"):
        instance_of(timer, profiles.TimerProfile(clock=profiles.Clock.WALL))
    with pytest.raises(ValueError, match="two components"):
        instance_of(timer, profiles.PurgatoryProfile())
