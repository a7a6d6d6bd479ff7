"""A run in columns."""

from purgatory_lab.commands.schedule_class import columns
from purgatory_lab.scheduling.run import Mark, Record
from purgatory_model.overlapping.interleaving import Returned
from purgatory_spec.operations import Check, Operation, operation_name
from purgatory_spec.reasons import Reason


class Named:
    name = "o1"


def marked(*marks: Mark) -> Record:
    return Record(marks=list(marks), names=["first", "second"])


def described(operation: Operation) -> str:
    return operation_name(operation)


def test_each_thread_has_a_column() -> None:
    record = marked(
        Mark(0, "calls", Check("k")),
        Mark(0, "Shard.lock"),
        Mark(1, "calls", Check("l")),
        Mark(1, "DelayedOperation._word", Named()),
        Mark(1, "returns", Returned("second", True)),
        Mark(0, "returns", Returned("first", raised=Reason.CLOSED)),
    )
    assert columns(record, described, width=60) == [
        "a: first                      b: second",
        "> check",
        "  Shard.lock",
        "                              > check",
        "                                DelayedOperation._word of",
        "                                  o1",
        "                              < true",
        "< refused: closed",
    ]


def test_results_of_every_kind_have_words() -> None:
    results = [None, 3, False, ("o1", "o2"), ()]
    record = marked(*(Mark(0, "returns", Returned("first", result)) for result in results))
    assert columns(record, described)[1:] == ["<", "< 3", "< false", "< o1, o2", "< nothing"]


def test_columns_stay_readable_on_a_narrow_page() -> None:
    record = marked(Mark(0, "x" * 20), Mark(1, "y" * 20))
    assert columns(record, described, width=10)[1:] == ["  " + "x" * 20, " " * 28 + "y" * 20]


def test_a_run_in_which_nothing_happens() -> None:
    assert columns(Record(), described) == ["nothing happened"]
