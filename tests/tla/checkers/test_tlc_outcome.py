"""The meaning of TLC's output, above all of output that is not a success."""

from pathlib import Path

import pytest

from purgatory_tla import errors
from purgatory_tla.checkers.configurations import Configuration
from purgatory_tla.checkers.results import CheckResult, Outcome
from purgatory_tla.checkers.tlc.log import BoundedText, Message, Progress, TlcLog, parse_progress
from purgatory_tla.checkers.tlc.outcome import Run, check_result
from purgatory_tla.modules.module_text import read_module

MODULE = r"""---- MODULE Toy ----
EXTENDS Integers
\* @type: Int;
VARIABLE x
Init == x = 0
Up == x' = x + 1
Next == Up \/ x' = 0
Low == x < 2
Grows == [][x' > x]_x
====
"""


def message(code: int, kind: int, text: str) -> str:
    return f"@!@!@STARTMSG {code}:{kind} @!@!@\n{text}\n@!@!@ENDMSG {code} @!@!@\n"


BEGIN = message(2262, 0, "TLC2 Version 2.15 of Day Month 20?? (rev: d5b5a7f)") + message(
    2190, 0, "Finished computing initial states: 1 distinct state generated at 2026-01-01 00:00:00."
)
PROGRESS = message(
    2200,
    0,
    "Progress(3) at 2026-01-01 00:00:01: 1,234 states generated (1 s/min), "
    "567 distinct states found (1 ds/min), 8 states left on queue.",
)
NO_ERROR = message(2193, 0, "Model checking completed. No error has been found.")
COUNTS = message(
    2199, 0, "1,234 states generated, 567 distinct states found, 0 states left on queue."
)
DEPTH = message(2194, 0, "The depth of the complete state graph search is 12.")
FINISHED = message(2186, 0, "Finished in 1ms at (2026-01-01 00:00:01)")
SUCCESS = BEGIN + PROGRESS + NO_ERROR + COUNTS + DEPTH + FINISHED

VIOLATED = message(2110, 1, "Invariant Low is violated.")
STATES = (
    message(2121, 1, "The behavior up to this point is:")
    + message(2217, 4, "1: <Initial predicate>\nx = 0\n")
    + message(2217, 4, "2: <Up line 6, col 7 to line 6, col 16 of module Toy>\nx = 1\n")
    + message(2217, 4, "3: <Action line 7, col 15 to line 7, col 20 of module Toy>\nx = 2\n")
)
VIOLATION = BEGIN + VIOLATED + STATES + COUNTS + DEPTH + FINISHED
BACK = message(2122, 4, "2: Back to state: <Up line 6, col 7 to line 6, col 16 of module Toy>\n")


@pytest.fixture
def module(tmp_path: Path) -> Path:
    path = tmp_path / "Toy.tla"
    path.write_text(MODULE, encoding="utf-8")
    return path


def judged(module: Path, output: str, exit_code: int = 0, **changes: object) -> CheckResult:
    log = TlcLog()
    for line in output.split("\n"):
        log.add(line)
    configuration = Configuration(specification="Spec", invariants=("Low",))
    configuration = configuration.with_changes(**changes)  # type: ignore[arg-type]
    return check_result(Run(read_module(module), configuration, log, exit_code, 1.5))


def test_a_success(module: Path) -> None:
    result = judged(module, SUCCESS)
    assert (result.outcome, result.violated, result.trace) == (Outcome.SUCCESS, None, None)
    statistics = result.statistics
    assert (statistics.generated, statistics.distinct, statistics.depth) == (1234, 567, 12)
    assert (statistics.seconds, result.tool) == (1.5, "TLC")
    assert result.version == "TLC2 Version 2.15 of Day Month 20?? (rev: d5b5a7f)"
    assert "Model checking completed" in result.raw_log


@pytest.mark.parametrize("end", [len(SUCCESS) * part // 25 for part in range(25)])
def test_a_log_that_breaks_off_is_no_success(module: Path, end: int) -> None:
    with pytest.raises(errors.CheckerError):
        judged(module, SUCCESS[:end])


@pytest.mark.parametrize("missing", [NO_ERROR, COUNTS, FINISHED])
def test_a_log_in_which_something_is_missing_is_no_success(module: Path, missing: str) -> None:
    with pytest.raises(errors.UnexpectedOutput):
        judged(module, SUCCESS.replace(missing, ""))


def test_another_exit_code_is_no_success(module: Path) -> None:
    with pytest.raises(errors.UnexpectedOutput, match="exit code 1"):
        judged(module, SUCCESS, exit_code=1)


def test_states_on_the_queue_are_no_success(module: Path) -> None:
    with pytest.raises(errors.UnexpectedOutput, match="3 states were not expanded"):
        judged(module, SUCCESS.replace(" 0 states left", " 3 states left"))


def test_an_unknown_error_is_no_success(module: Path) -> None:
    with pytest.raises(errors.UnexpectedOutput, match="never seen"):
        judged(module, BEGIN + message(9999, 1, "never seen") + NO_ERROR + COUNTS + FINISHED)


def test_symmetry_may_hide_a_violation_of_liveness(module: Path) -> None:
    warning = message(2279, 3, "Declaring symmetry during liveness checking is dangerous.")
    with pytest.raises(errors.InvalidSpecification, match="dangerous"):
        judged(module, warning + SUCCESS)


def test_no_initial_state_is_vacuous(module: Path) -> None:
    none = SUCCESS.replace("1 distinct state generated", "0 distinct states generated")
    with pytest.raises(errors.VacuousRun, match="no initial state"):
        judged(module, none)


def test_a_violation_with_its_behaviour(module: Path) -> None:
    result = judged(module, VIOLATION, 12)
    assert (result.outcome, result.violated) == (Outcome.INVARIANT, "Low")
    assert result.trace is not None
    assert [state.values for state in result.trace.states] == [{"x": 0}, {"x": 1}, {"x": 2}]
    assert [state.meta for state in result.trace.states] == [
        {"index": 0},
        {"index": 1, "action": "Up"},
        {"index": 2, "action": "Next"},
    ]
    assert (result.trace.loop, result.trace.vars) == (None, ["x"])


def test_a_violation_that_breaks_off_is_no_result(module: Path) -> None:
    with pytest.raises(errors.UnexpectedOutput, match="before it had finished"):
        judged(module, BEGIN + VIOLATED + STATES, 12)
    with pytest.raises(errors.UnexpectedOutput, match="no behaviour"):
        judged(module, BEGIN + VIOLATED + COUNTS + FINISHED, 12)


def test_a_lasso_and_a_stuttering_end(module: Path) -> None:
    temporal = message(2116, 1, "Temporal properties were violated.\n")
    heading = message(2264, 1, "The following behavior constitutes a counter-example:")
    states = STATES.partition("\n@!@!@STARTMSG 2217")[0]
    states = STATES[len(states) + 1 :]
    for ending, loop, action in ((BACK, 1, "Up"), (message(2218, 4, "4: Stuttering"), 2, None)):
        output = BEGIN + PROGRESS + temporal + heading + states + ending + COUNTS + FINISHED
        result = judged(module, output, 13, properties=["Live"])
        assert (result.outcome, result.violated) == (Outcome.PROPERTY, "Live")
        assert result.statistics.depth == 3
        assert result.trace is not None
        assert (result.trace.loop, result.trace.meta.get("loop_action")) == (loop, action)
        two = judged(module, output, 13, properties=["Live", "Other"])
        assert two.violated is None


def test_a_property_is_named_by_its_place(module: Path) -> None:
    placed = message(
        2112, 1, "Action property line 9, col 13 to line 9, col 18 of module Toy is violated."
    )
    output = BEGIN + placed + STATES + COUNTS + FINISHED
    assert judged(module, output, 13, properties=["Other", "Grows"]).violated == "Grows"


@pytest.mark.parametrize(
    ("outside", "messages", "kind", "line"),
    [
        ("Error: java.lang.OutOfMemoryError: Java heap space", BEGIN, errors.OutOfMemory, None),
        ("", BEGIN + message(1001, 1, "Java ran out of memory."), errors.OutOfMemory, None),
        ("Error: Could not find or load main class tlc2.TLC", "", errors.MissingTool, None),
        ("java.lang.UnsupportedClassVersionError: tlc2/TLC", "", errors.MissingJava, None),
        ("", "", errors.UnexpectedOutput, None),
        (
            "***Parse Error***\nat line 5, column 1\n\nIn module Toy",
            BEGIN + message(3002, 1, "Parsing or semantic analysis failed."),
            errors.ParseFailure,
            5,
        ),
        (
            "line 4, col 13 to line 4, col 15 of module Toy\n\nUnknown operator: `Foo'.",
            BEGIN + message(3002, 1, "Parsing or semantic analysis failed."),
            errors.UnknownOperator,
            4,
        ),
        (
            "Cannot find source file for module Nowhere imported in module Toy.",
            BEGIN + message(3002, 1, "Parsing or semantic analysis failed."),
            errors.InvalidSpecification,
            None,
        ),
        ("", BEGIN + message(2229, 1, "The invariant Nope ..."), errors.UnknownOperator, None),
        ("", BEGIN + message(2222, 1, "The constant Top ..."), errors.InvalidSpecification, None),
        (
            "",
            BEGIN
            + message(1000, 1, "The exception was a X\n: too bad")
            + message(
                2103,
                1,
                "0. Line 7, column 9 to line 7, column 9 in Toy\n"
                "1. Line 8, column 3 to line 8, column 4 in Toy",
            ),
            errors.EvaluationFailure,
            8,
        ),
        ("", BEGIN + message(1000, 2, "a defect of TLC"), errors.UnexpectedOutput, None),
    ],
)
def test_errors(
    module: Path, outside: str, messages: str, kind: type[errors.CheckerError], line: int | None
) -> None:
    with pytest.raises(errors.CheckerError) as raised:
        judged(module, f"{outside}\n{messages}", 1)
    assert type(raised.value) is kind
    assert getattr(raised.value, "line", None) == line
    assert raised.value.raw_log.strip() == f"{outside}\n{messages}".strip()


def test_a_message_in_a_message_is_part_of_the_error() -> None:
    log = TlcLog()
    for line in [
        "@!@!@STARTMSG 1000:1 @!@!@",
        "The exception was",
        ": @!@!@STARTMSG 5006:0 @!@!@",
        "inside",
        "@!@!@ENDMSG 5006 @!@!@",
        "@!@!@ENDMSG 1000 @!@!@",
        "printed by the specification",
    ]:
        log.add(line)
    assert log.messages == [Message(5006, 1, "inside"), Message(1000, 1, "The exception was\n: ")]
    assert str(log.outside) == "printed by the specification"
    assert log.is_complete


def test_progress_is_reported_and_only_the_last_is_kept() -> None:
    seen: list[Message] = []
    log = TlcLog(seen.append)
    for line in (PROGRESS * 1000).split("\n"):
        log.add(line)
    assert (len(seen), len(log.messages)) == (1000, 1)
    assert parse_progress(seen[0].text, 2.0) == Progress(1234, 567, 8, 2.0)
    simulated = (
        "Progress(-1) at 2026-01-01 00:00:01: 9 states generated, "
        "-1 distinct states found, -1 states left on queue."
    )
    assert parse_progress(simulated, 1.0) == Progress(9, None, None, 1.0)
    assert parse_progress("something else", 1.0) is None


def test_a_long_text_keeps_its_ends() -> None:
    text = BoundedText(100)
    for number in range(100_000):
        text.add(f"line {number}")
    lines = str(text).splitlines()
    assert (lines[0], lines[-1]) == ("line 0", "line 99999")
    assert len(lines) < 40
    (gap,) = [line for line in lines if "left out" in line]
    assert len(lines) - 1 + int(gap.split()[0][1:]) == 100_000
