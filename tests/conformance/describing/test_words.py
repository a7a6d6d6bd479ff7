"""The words for operations, outcomes and rules."""

import pytest

from purgatory_conformance.describing.steps import describe_operation, describe_outcome
from purgatory_conformance.describing.words import (
    counted,
    describe_observed,
    describe_task,
    paragraphs,
    printable,
    replay_command,
    spans,
)
from purgatory_spec import operations as op
from purgatory_spec.operations import Advance, Operation
from purgatory_spec.outcomes import Event, EventKind, Outcome, expired, ran
from purgatory_spec.reasons import Reason


@pytest.mark.parametrize(
    ("operation", "words"),
    [
        (op.Add("t1", 25), "add t1, delay 25 ms"),
        (op.Add("t1", 0, (op.Throw(),)), "add t1, delay 0 ms; when it runs it throws"),
        (
            op.Add("t1", 0, (op.Throw(op.ThrowSort.SEVERE),)),
            "add t1, delay 0 ms; when it runs it throws a severe exception",
        ),
        (
            op.Add("t1", 5, (op.AddInside("t2", -1), op.CancelInside("t3"), op.AdvanceInside())),
            "add t1, delay 5 ms; when it runs it adds t2, delay -1 ms, cancels t3 "
            "and advances the timer",
        ),
        (op.Cancel("t1"), "cancel t1"),
        (op.Elapse(1020), "let the clock reach 1020"),
        (op.Advance(1020), "advance to 1020"),
        (op.Advance(1020, refuse=True), "advance to 1020, the executor refuses"),
        (op.RunOne(), "run one task"),
        (op.Wait(20), "wait 20 ms"),
        (op.Shutdown(), "shut down"),
    ],
)
def test_every_operation_has_words(operation: Operation, words: str) -> None:
    assert describe_operation(operation) == words


@pytest.mark.parametrize(
    ("outcome", "words"),
    [
        (Outcome(), "no event"),
        (Outcome(True, events=(expired("t1"),)), "popped, t1 expired"),
        (Outcome(True), "popped, no event"),
        (Outcome(False), "nothing popped"),
        (Outcome(events=(ran("t1"), ran("t2"))), "t1 ran, t2 ran"),
        (Outcome(rejected=Reason.TOO_LARGE), "rejected: too_large"),
        (Outcome(rejected=Reason.INTERNAL, detail="a\nb"), "rejected: internal (a\\nb)"),
        (
            Outcome(events=(Event(EventKind.REJECTED, "t1", Reason.CLOSED),)),
            "what t1 tried was rejected: closed",
        ),
        (Outcome(events=(Event(EventKind.RAN, "t1", at_ms=1023),)), "t1 ran at 1023"),
    ],
)
def test_every_outcome_has_words(outcome: Outcome, words: str) -> None:
    assert describe_outcome(Advance(1), outcome) == words


def test_observables_are_told_with_their_values() -> None:
    outcome = Outcome(observed={"size": 1, "next_expiry_ms": None}, called_ms=3, returned_ms=4)

    assert describe_observed(outcome) == "size 1, next_expiry_ms null, called at 3, returned at 4"


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("t1", "t1"),
        ("tâche_2.b-c", "tâche_2.b-c"),
        ("two words", "'two words'"),
        ("", "''"),
        ("\x1b[31mred", "'\\x1b[31mred'"),
        ("a\u202eb", "'a\\u202eb'"),
        ("a\nb", "'a\\nb'"),
        ("half \ud800", "'half \\ud800'"),
    ],
)
def test_an_odd_name_is_quoted_and_cannot_leave_its_line(name: str, words: str) -> None:
    assert describe_task(name) == words


def test_what_cannot_be_printed_becomes_its_escape() -> None:
    assert printable("plain, even ✓") == "plain, even ✓"
    assert printable("\x00 \x1b[2J \u2028 \ud800") == "\\x00 \\x1b[2J \\u2028 \\ud800"


def test_the_replay_command_can_be_pasted() -> None:
    path = "purgatory-work/bundled/replays/TIMER-SPAN.jsonl"
    assert replay_command(path) == f"purgatory replay {path}"
    assert replay_command("a b; rm x") == "purgatory replay 'a b; rm x'"


def test_a_rules_text_falls_into_paragraphs_and_pieces() -> None:
    text = "First `a * b` line\nof *two* words.\n\nSee [RULE `x`](#rule)."

    assert paragraphs(text) == ["First `a * b` line of *two* words.", "See [RULE `x`](#rule)."]
    assert spans(paragraphs(text)[0]) == [
        ("text", "First "),
        ("code", "a * b"),
        ("text", " line of "),
        ("emphasis", "two"),
        ("text", " words."),
    ]
    assert spans(paragraphs(text)[1]) == [
        ("text", "See "),
        ("text", "RULE "),
        ("code", "x"),
        ("text", "."),
    ]


def test_numbers_come_with_the_right_word() -> None:
    assert (counted(1, "step"), counted(0, "step")) == ("1 step", "0 steps")


def test_of_a_very_long_name_the_ends_and_the_length_are_told() -> None:
    """So names that differ in their last letter alone are told apart."""
    first, second = (describe_task("0" * 9_999 + end) for end in "12")
    assert first == f"{'0' * 20}…{'0' * 19}1 (10,000 characters)" != second
    assert describe_task("0" * 200) == "0" * 200
