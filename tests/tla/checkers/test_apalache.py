"""Apalache: what it is asked, what its answers mean. A stand-in answers, see ``stand_in_apalache``.

The last test runs the real one on the project's modules, where it is installed.
"""

import json
from pathlib import Path
from typing import Any

import pytest

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
    UnexpectedOutput,
    UnknownOperator,
    VacuousRun,
    check,
    function,
    induction,
    record,
    sequence,
    typecheck,
)
from purgatory_tla.resources import modules_folder

from ..conftest import StandIn, needs_apalache

INSTANCE = Configuration(specification="Spec", constants={"Top": "4"}, invariants=("Small",))
BANNER = ["# APALACHE version: 0.47.2 | build: 0123456", "Output directory: somewhere"]
NO_ERROR = {"lines": [*BANNER, "The outcome is: NoError", "EXITCODE: OK"], "code": 0}
ITF = {
    "#meta": {"format": "ITF", "varTypes": {"x": "Int"}},
    "params": [],
    "vars": ["x", "named", "numbered"],
    "states": [
        {
            "#meta": {"index": 0},
            "x": {"#bigint": "12345678901234567890"},
            "named": {"#map": [["a", {"#bigint": "0"}]]},
            "numbered": {"#map": [[{"#bigint": "1"}, {"#bigint": "-1"}]]},
            "list": [{"#bigint": "1"}, {"f": {"#tup": [True, "é"]}}],
        }
    ],
}
VIOLATION = {
    "lines": [
        *BANNER,
        "State 0: state invariant 0 violated.            E@18:04:16.347",
        "Found 1 error(s)",
        "The outcome is: Error",
        "Checker has found an error",
        "EXITCODE: ERROR (12)",
    ],
    "code": 12,
    "itf": json.dumps(ITF),
}
DEADLOCK = {
    "lines": [*BANNER, "The outcome is: Deadlock", "EXITCODE: ERROR (12)"],
    "code": 12,
    "itf": json.dumps(ITF),
}


def calls(tmp_path: Path) -> list[dict[str, Any]]:
    text = (tmp_path / "answer.json.called").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


def asked(counter: Path, program: Path, **changes: Any) -> CheckResult:
    return check(counter, INSTANCE, backend="apalache", apalache=program, **changes)


def test_nothing_found_is_bounded(counter: Path, stand_in: StandIn, tmp_path: Path) -> None:
    result = asked(counter, stand_in(NO_ERROR), length=7, memory_megabytes=512)
    assert (result.outcome, result.violated, result.trace) == (Outcome.BOUNDED, None, None)
    assert (result.tool, result.version) == ("Apalache", "0.47.2")
    (call,) = calls(tmp_path)
    assert call["words"][:4] == [
        "check",
        "--config=purgatory-tla.cfg",
        "--length=7",
        "--no-deadlock",
    ]
    assert call["words"][-1] == "PurgatoryTlaTyped.tla"
    assert {"Base.tla", "Counter.tla"} < set(call["files"])
    assert call["memory"] == "-Xmx512m"
    assert call["configuration"] == INSTANCE.with_changes(init="Init", next="Next").text()
    assert sorted(path.name for path in counter.parent.iterdir()) == ["Base.tla", "Counter.tla"]


def test_a_violation_with_its_behaviour(counter: Path, stand_in: StandIn) -> None:
    result = asked(counter, stand_in(VIOLATION))
    assert (result.outcome, result.violated) == (Outcome.INVARIANT, "Small")
    assert result.trace is not None
    (state,) = result.trace.states
    assert state.meta == {"index": 0}
    assert state.values == {
        "x": 12345678901234567890,
        "named": function({"a": 0}),
        "numbered": function({1: -1}),
        "list": sequence([1, record({"f": (True, "é")})]),
    }


def test_a_property_is_told_from_an_invariant_by_what_was_asked(
    counter: Path, stand_in: StandIn
) -> None:
    program = stand_in(VIOLATION)
    result = asked(counter, program, invariants=[], properties=["Passes"])
    assert (result.outcome, result.violated) == (Outcome.PROPERTY, "Passes")
    assert asked(counter, program, invariants=["Small", "Natural"]).violated is None
    with pytest.raises(ValueError, match="apart"):
        asked(counter, program, properties=["Passes"])
    with pytest.raises(ValueError, match="constraints"):
        asked(counter, program, constraints=["Small"])
    with pytest.raises(ValueError, match="'workers' is for TLC"):
        asked(counter, program, workers=2)


def test_deadlocks(counter: Path, stand_in: StandIn) -> None:
    program = stand_in(DEADLOCK)
    assert asked(counter, program, deadlock=True).outcome is Outcome.DEADLOCK
    assert asked(counter, program).outcome is Outcome.BOUNDED
    none = {name: value for name, value in DEADLOCK.items() if name != "itf"}
    with pytest.raises(VacuousRun, match="no initial state"):
        asked(counter, stand_in(none))


@pytest.mark.parametrize(
    ("code", "lines", "kind", "place"),
    [
        (
            120,
            ["[Counter.tla:21:9-21:26]: Arguments to = should have the same type."],
            IllTyped,
            ("Counter", 21, 9),
        ),
        (
            75,
            ["Counter.tla:15:14-15:27: unsupported expression: Seq(_) produces an infinite set"],
            EvaluationFailure,
            ("Counter", 15, 14),
        ),
        (
            150,
            ["line 4, col 13 to line 4, col 15 of module Counter", "Unknown operator: `Foo'."],
            UnknownOperator,
            ("Counter", 4, 13),
        ),
        (150, ["Parsing error: Encountered )"], ParseFailure, (None, None, None)),
        (
            255,
            ["Typing input error: Expected a type annotation for VARIABLE step"],
            IllTyped,
            (None, None, None),
        ),
        (255, ["Configuration error: no Init"], InvalidSpecification, (None, None, None)),
        (255, ["java.lang.OutOfMemoryError: Java heap space"], OutOfMemory, None),
        (255, ["java.lang.UnsupportedClassVersionError: x"], MissingJava, None),
        (255, ["something else"], UnexpectedOutput, None),
        (1, [], UnexpectedOutput, None),
    ],
)
def test_failures(
    counter: Path,
    stand_in: StandIn,
    code: int,
    lines: list[str],
    kind: type[CheckerError],
    place: tuple[str | None, int | None, int | None] | None,
) -> None:
    program = stand_in({"lines": [*BANNER, *lines, f"EXITCODE: ERROR ({code})"], "code": code})
    with pytest.raises(CheckerError) as raised:
        asked(counter, program)
    assert type(raised.value) is kind
    assert all(line in raised.value.raw_log for line in lines)
    if isinstance(raised.value, InvalidSpecification):
        assert (raised.value.module, raised.value.line, raised.value.column) == place


@pytest.mark.parametrize(
    "answer",
    [
        {**NO_ERROR, "code": 1},
        {**NO_ERROR, "lines": [*BANNER, "The outcome is: NoError"]},
        {**NO_ERROR, "lines": [*BANNER, "EXITCODE: OK"]},
        {**NO_ERROR, "lines": []},
        {**VIOLATION, "code": 0},
        {**VIOLATION, "itf": "{"},
        {**VIOLATION, "itf": '{"vars": [], "states": []}'},
        {name: value for name, value in VIOLATION.items() if name != "itf"},
        {"lines": [*BANNER, "The outcome is: RuntimeError", "EXITCODE: OK"], "code": 0},
    ],
)
def test_answers_that_do_not_fit_together_are_no_verdict(
    counter: Path, stand_in: StandIn, answer: dict[str, Any]
) -> None:
    with pytest.raises(UnexpectedOutput):
        asked(counter, stand_in(answer))


def test_induction_asks_three_questions(counter: Path, stand_in: StandIn, tmp_path: Path) -> None:
    program = stand_in(NO_ERROR)
    result = induction(
        counter,
        INSTANCE,
        inductive_invariant="Range",
        implies="Natural",
        backend="apalache",
        apalache=program,
    )
    assert (result.holds, result.step.outcome) == (True, Outcome.BOUNDED)
    questions = [
        (call["words"][2], call["configuration"].replace("\n", "; ")) for call in calls(tmp_path)
    ]
    constant = "CONSTANT Top = 4"
    assert questions == [
        ("--length=0", f"INIT Init; NEXT Next; {constant}; INVARIANT Range; "),
        ("--length=1", f"INIT Range; NEXT Next; {constant}; INVARIANT Range; "),
        ("--length=0", f"INIT Range; NEXT Next; {constant}; INVARIANT Natural; "),
    ]
    assert not any("--no-deadlock" in call["words"] for call in calls(tmp_path))


def test_an_induction_that_fails_or_is_vacuous(counter: Path, stand_in: StandIn) -> None:
    def proof(program: Path) -> str | None:
        return induction(
            counter, INSTANCE, inductive_invariant="Range", backend="apalache", apalache=program
        ).failed

    assert proof(stand_in(VIOLATION)) == "base"
    with pytest.raises(VacuousRun, match="no state satisfies"):
        proof(stand_in(DEADLOCK))


def test_types(counter: Path, stand_in: StandIn, tmp_path: Path) -> None:
    well = stand_in({"lines": [*BANNER, "Type checker [OK]", "EXITCODE: OK"], "code": 0})
    assert typecheck(counter, apalache=well).version == "0.47.2"
    assert calls(tmp_path)[0]["words"][0] == "typecheck"
    ill = stand_in({"lines": [*BANNER, "[Counter.tla:3:4-3:5]: no"], "code": 120})
    with pytest.raises(IllTyped, match=r"Counter\.tla:3:4"):
        typecheck(counter, apalache=ill)
    with pytest.raises(UnexpectedOutput):
        typecheck(counter, apalache=stand_in({"lines": BANNER, "code": 0}))


def test_an_empty_set_gets_the_type_of_its_constant(
    counter: Path, stand_in: StandIn, tmp_path: Path
) -> None:
    """A configuration has no types: the constant is defined in a module around the given one."""
    text = counter.read_text(encoding="utf-8")
    counter.write_text(
        text.replace("CONSTANTS\n", "CONSTANTS\n  \\* @type: Set(Str);\n  Defects,\n", 1), "utf-8"
    )
    asked(counter, stand_in(NO_ERROR), constants={"Defects": "{}"})
    (call,) = calls(tmp_path)
    assert call["words"][-1] == "PurgatoryTlaTyped.tla"
    assert "CONSTANT Defects <- PurgatoryTlaTypedDefects" in call["configuration"]
    assert call["module"].splitlines()[1:4] == [
        "EXTENDS Counter",
        "\\* @type: () => Set(Str);",
        "PurgatoryTlaTypedDefects == {}",
    ]
    counter.write_text(
        counter.read_text("utf-8").replace("  \\* @type: Set(Str);\n", "", 1), "utf-8"
    )
    with pytest.raises(IllTyped, match="no type for the constant Defects"):
        asked(counter, stand_in(NO_ERROR), constants={"Defects": "{}"})


@pytest.mark.parametrize("specification", ["Spec", "FairSpec"])
def test_fairness_does_not_stand_in_the_way_of_invariants(
    specification: str, counter: Path, stand_in: StandIn, tmp_path: Path
) -> None:
    asked(counter, stand_in(NO_ERROR), specification=specification)
    (call,) = calls(tmp_path)
    assert call["configuration"].splitlines()[:2] == ["INIT Init", "NEXT Next"]


def test_fairness_stays_where_a_property_is_asked_for(
    counter: Path, stand_in: StandIn, tmp_path: Path
) -> None:
    program = stand_in(NO_ERROR)
    asked(counter, program, specification="FairSpec", invariants=[], properties=["Passes"])
    assert calls(tmp_path)[0]["configuration"].splitlines()[0] == "SPECIFICATION FairSpec"


# The real one, where it is installed.

UNTYPED = {
    "ChannelMutingHistory": "a label of any length has no type",
    "ExactAccountingHistory": "a label of any length has no type",
    "MemoryPoolCalls": "a recursive sum",
    "MemoryPoolCallsHistory": "a label of any length has no type",
    "MemoryPoolHistory": "a label of any length has no type",
    "PurgatoryCalls": "recursive walks",
    "PurgatoryCallsHistory": "a label of any length has no type",
    "PurgatoryExactCalls": "it extends a history",
    "PurgatoryExactHistory": "a label of any length has no type",
    "PurgatoryExactSequential": "it extends a history",
    "PurgatoryProposalHistory": "a label of any length has no type",
    "PurgatoryProposalPasses": "it extends a history",
    "TimerHistory": "a label of any length has no type",
    "TimingWheelHistory": "a label of any length has no type",
    "TimingWheelSteps": "a definition of TimingWheel has the name of a variable, level",
}
"""The modules whose types Apalache 0.61.0 does not find right, with the reason."""


@needs_apalache
@pytest.mark.java
@pytest.mark.slow
@pytest.mark.parametrize("module", sorted(path.stem for path in modules_folder().glob("*.tla")))
def test_the_real_one_finds_the_types_of_our_modules_right(module: str) -> None:
    path = modules_folder() / f"{module}.tla"
    if module in UNTYPED:
        with pytest.raises(CheckerError):
            typecheck(path)
    else:
        assert typecheck(path).tool == "Apalache"


def test_the_untyped_modules_exist() -> None:
    assert all((modules_folder() / f"{module}.tla").is_file() for module in UNTYPED)
