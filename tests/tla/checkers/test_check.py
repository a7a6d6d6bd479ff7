"""``check`` with the real TLC."""

import os
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings

from purgatory_tla import (
    CheckerError,
    CheckResult,
    Configuration,
    EvaluationFailure,
    IllTyped,
    InvalidSpecification,
    MissingJava,
    Outcome,
    OutOfMemory,
    ParseFailure,
    Progress,
    TimedOut,
    UnknownOperator,
    VacuousRun,
    check,
    function,
    maven_jar,
    to_tla,
    wheel_jar,
)
from purgatory_tla.values.type_annotations import BasicType, Type, type_text
from purgatory_tla.values.values import Value

from ..values.value_strategies import ODD_STRINGS, typed_values

pytestmark = [pytest.mark.java, pytest.mark.slow]

INSTANCE = Configuration(specification="Spec", constants={"Top": "4"}, invariants=("Natural",))
JARS = [
    pytest.param(wheel_jar, id="wheel"),
    pytest.param(
        maven_jar,
        id="maven",
        marks=pytest.mark.skipif(maven_jar() is None, reason="not in the local Maven repository"),
    ),
]


def by_tlc(module: Path, configuration: Configuration = INSTANCE, **changes: object) -> CheckResult:
    """A run of the jar that the extra installs, by a Java that starts quickly."""
    quick = ("-XX:TieredStopAtLevel=1",)
    return check(
        module,
        configuration,
        jar=wheel_jar(),
        java_options=quick,
        **changes,  # type: ignore[arg-type]
    )


@pytest.mark.parametrize("jar", JARS)
def test_both_jars_answer_alike(counter: Path, jar: object) -> None:
    path = jar()  # type: ignore[operator]
    result = check(counter, INSTANCE, jar=path)
    statistics = result.statistics
    assert (result.outcome, result.violated, result.trace) == (Outcome.SUCCESS, None, None)
    assert (statistics.generated, statistics.distinct, statistics.depth) == (11, 10, 10)
    assert result.version.startswith("TLC2 Version 2.1")

    failed = check(counter, INSTANCE, invariants=["Natural", "Small"], jar=path)
    assert (failed.outcome, failed.violated) == (Outcome.INVARIANT, "Small")
    assert failed.trace is not None
    assert [state.values["x"] for state in failed.trace.states] == [0, 1, 2, 3]
    assert [state.meta.get("action") for state in failed.trace.states] == [None, "Up", "Up", "Up"]
    last = failed.trace.states[-1].values
    assert last["named"] == function({"a": 0, "b": 0})
    assert last["numbered"] == function({1: 1, 2: 2})


def test_nothing_is_written_beside_the_module_or_left_behind(
    counter: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(scratch))
    (counter.parent / "Counter.cfg").write_text(INSTANCE.text(), encoding="utf-8")
    before = sorted(counter.parent.iterdir())
    graph = tmp_path / "graph.dot"
    seen: list[Progress] = []
    result = check(counter, jar=wheel_jar(), progress=seen.append, dump=graph)
    assert result.outcome is Outcome.SUCCESS
    assert sorted(counter.parent.iterdir()) == before
    assert list(scratch.iterdir()) == []
    assert graph.read_text(encoding="utf-8").count('[label="Up"') == 8
    assert seen[-1].generated == 11
    assert seen[-1].seconds > 0


def test_a_lasso_and_a_stuttering_end(counter: Path) -> None:
    lasso = by_tlc(counter, specification="FairSpec", invariants=[], properties=["Passes"])
    assert (lasso.outcome, lasso.violated) == (Outcome.PROPERTY, "Passes")
    assert lasso.trace is not None
    assert lasso.trace.loop is not None
    assert lasso.trace.meta["loop_action"] == "Reset"
    back = lasso.trace.states[lasso.trace.loop].values
    assert (lasso.trace.states[-1].values["x"], back["x"]) == (4, 0)

    stuttering = by_tlc(counter, invariants=[], properties=["Reaches"])
    assert (stuttering.outcome, stuttering.violated) == (Outcome.PROPERTY, "Reaches")
    assert stuttering.trace is not None
    assert stuttering.trace.loop == len(stuttering.trace.states) - 1
    assert "loop_action" not in stuttering.trace.meta


def test_an_action_property_and_a_deadlock_and_an_assertion(counter: Path) -> None:
    step = by_tlc(counter, invariants=[], properties=["Grows"])
    assert (step.outcome, step.violated) == (Outcome.PROPERTY, "Grows")
    only_up = INSTANCE.with_changes(init="Init", next="Up")
    deadlock = by_tlc(counter, only_up, deadlock=True)
    assert (deadlock.outcome, deadlock.violated) == (Outcome.DEADLOCK, None)
    assert deadlock.trace is not None
    assert len(deadlock.trace.states) == 5
    asserted = by_tlc(counter, invariants=["Asserted"])
    assert (asserted.outcome, asserted.violated) == (Outcome.ASSERTION, None)
    assert "too large" in asserted.raw_log


@pytest.mark.parametrize(
    ("text", "kind", "line", "words"),
    [
        ("Init == x = 0 /\\ \nNext == x' = 1 )", ParseFailure, 5, "Encountered"),
        ("Init == x = Nowhere\nNext == x' = x", UnknownOperator, 4, "Nowhere"),
        ("Init == x = 0\nInit == x = 1\nNext == x' = x", InvalidSpecification, 5, "already"),
    ],
)
def test_a_wrong_module(
    tmp_path: Path, text: str, kind: type[CheckerError], line: int, words: str
) -> None:
    path = tmp_path / "Wrong.tla"
    path.write_text(f"---- MODULE Wrong ----\nEXTENDS Integers\nVARIABLE x\n{text}\n====\n")
    with pytest.raises(InvalidSpecification, match=words) as raised:
        by_tlc(path, Configuration(init="Init", next="Next"), deadlock=True)
    assert type(raised.value) is kind
    assert (raised.value.module, raised.value.line) == ("Wrong", line)
    assert words in raised.value.raw_log


@pytest.mark.parametrize(
    ("changes", "kind", "words"),
    [
        ({"invariants": ["Nowhere"]}, UnknownOperator, "Nowhere"),
        ({"constants": {"Top": "{"}}, ParseFailure, "configuration file"),
        ({"invariants": ["Compared"]}, EvaluationFailure, "should be an integer"),
    ],
)
def test_a_wrong_configuration(
    counter: Path, changes: dict[str, object], kind: type[CheckerError], words: str
) -> None:
    with pytest.raises(InvalidSpecification, match=words) as raised:
        by_tlc(counter, INSTANCE, **changes)
    assert type(raised.value) is kind
    if kind is EvaluationFailure:
        place = next(
            number
            for number, line in enumerate(counter.read_text().splitlines(), start=1)
            if line.startswith("Compared")
        )
        assert (raised.value.module, raised.value.line) == ("Counter", place)


def test_steps_that_cannot_be_evaluated(counter: Path) -> None:
    unfinished = INSTANCE.with_changes(init="Init", next="Unfinished")
    with pytest.raises(EvaluationFailure, match="not completely specified"):
        by_tlc(counter, unfinished)


def test_vacuous_runs(counter: Path) -> None:
    with pytest.raises(VacuousRun, match="no initial state"):
        by_tlc(counter, INSTANCE.with_changes(init="NoState", next="Next"))
    with pytest.raises(VacuousRun, match="nothing is to be checked"):
        by_tlc(counter, invariants=[])


def test_questions_that_make_no_sense_are_refused(counter: Path) -> None:
    with pytest.raises(UnknownOperator, match="Topp"):
        by_tlc(counter, constants={"Topp": "3"})
    with pytest.raises(InvalidSpecification, match="no behaviour"):
        check(counter, Configuration(constants={"Top": "3"}, invariants=("Small",)))
    with pytest.raises(ValueError, match="'length' is for Apalache"):
        by_tlc(counter, length=5)
    with pytest.raises(ValueError, match="'jar' is for TLC"):
        by_tlc(counter, backend="apalache")


def test_out_of_memory(counter: Path) -> None:
    with pytest.raises(OutOfMemory, match="ran out of memory") as raised:
        by_tlc(counter, invariants=["Huge"], memory_megabytes=16)
    assert raised.value.raw_log


def test_java_that_cannot_make_its_heap(counter: Path) -> None:
    with pytest.raises(OutOfMemory, match="heap"):
        by_tlc(counter, memory_megabytes=1)


@pytest.mark.verify
def test_time_out_ends_the_process(counter: Path) -> None:
    deep = INSTANCE.with_changes(init="Init", next="Deep")
    others = _children()
    began = time.monotonic()
    with pytest.raises(TimedOut, match="after 10 s") as raised:
        by_tlc(counter, deep, timeout=10)
    assert time.monotonic() - began < 300  # its search has no end
    assert _children() == others
    assert "Starting" in raised.value.raw_log


@pytest.mark.verify
def test_an_interruption_ends_the_process(counter: Path) -> None:
    deep = INSTANCE.with_changes(init="Init", next="Deep")
    others = _children()

    def interrupt(progress: Progress) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        by_tlc(counter, deep, progress=interrupt, timeout=900)
    assert _children() == others


def test_java_that_is_no_java(
    counter: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    program = tmp_path / "bin" / "java"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\necho 'Unable to locate a Java Runtime.'\nexit 1\n")
    program.chmod(0o755)
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", f"{program.parent}{os.pathsep}{os.environ['PATH']}")
    with pytest.raises(MissingJava, match="install Java 11"):
        by_tlc(counter)


def test_a_value_of_another_type_than_declared(counter: Path) -> None:
    text = counter.read_text(encoding="utf-8")
    counter.write_text(text.replace("@type: Str -> Int;", "@type: Str -> Bool;"), encoding="utf-8")
    with pytest.raises(IllTyped, match="named in state 1 of Counter"):
        by_tlc(counter, invariants=["Small"])


def test_values_come_back_from_tlc(tmp_path: Path) -> None:
    values: list[tuple[Type, Value]] = [(BasicType("Str"), text) for text in ODD_STRINGS]

    @settings(
        max_examples=60, derandomize=True, database=None, suppress_health_check=list(HealthCheck)
    )
    @given(typed_values())
    def draw(typed: tuple[Type, Value]) -> None:
        values.append(typed)

    draw()
    module = _printing_module(tmp_path, values)
    configuration = Configuration(init="Init", next="Next", invariants=("Wrong",))
    result = by_tlc(module, configuration)
    assert result.trace is not None
    (state,) = result.trace.states
    assert {name: state.values[name] for name in state.values if name != "n"} == {
        f"v{number}": value for number, (_, value) in enumerate(values)
    }


def _printing_module(folder: Path, values: list[tuple[Type, Value]]) -> Path:
    """A module whose initial state holds the values."""
    declared = "".join(
        f",\n  \\* @type: {type_text(one)};\n  v{number}" for number, (one, _) in enumerate(values)
    )
    initial = "".join(
        f"\n  /\\ v{number} = {to_tla(value)}" for number, (_, value) in enumerate(values)
    )
    names = ", ".join(f"v{number}" for number in range(len(values)))
    path = folder / "Printing.tla"
    path.write_text(
        "---- MODULE Printing ----\nEXTENDS Integers, TLC\nVARIABLES\n  \\* @type: Int;\n"
        f"  n{declared}\nInit ==\n  /\\ n = 0{initial}\n"
        f"Next == UNCHANGED <<n, {names}>>\nWrong == n = 1\n====\n",
        encoding="utf-8",
    )
    return path


def _children() -> set[str]:
    """Java processes that this one has started and that still run; one may be Spark's."""
    found: set[str] = set()
    for entry in Path("/proc").glob("[0-9]*/stat"):
        try:
            _, _, rest = entry.read_text().partition("(")
            name, _, fields = rest.rpartition(")")
        except OSError:
            continue
        if name == "java" and fields.split()[1] == str(os.getpid()):
            found.add(entry.parent.name)
    return found
