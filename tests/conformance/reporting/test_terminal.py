"""The report at a terminal: complete, in 80 columns, and plain where plain is asked for."""

import contextlib
import io
from collections.abc import Callable

import msgspec
import pytest
from rich.cells import cell_len
from rich.console import Console

from purgatory_conformance.reporting.html import render_html
from purgatory_conformance.reporting.results import DeviationLine, FailureLine, Results
from purgatory_conformance.reporting.terminal import print_results
from purgatory_conformance.reporting.terminal_page import standard_output
from purgatory_spec.cases import Step
from purgatory_spec.operations import Add, Advance, Elapse, Throw
from purgatory_spec.outcomes import Outcome, expired

from .conftest import MakeResults

_PATHS = {"results_path": "work/results.jsonl", "report_path": "work/report.html"}

Printed = Callable[..., str]


@pytest.fixture
def printed(monkeypatch: pytest.MonkeyPatch) -> Printed:
    """Return a function for the printed text, by default to a file and 80 columns wide."""
    for name in ("NO_COLOR", "FORCE_COLOR", "COLUMNS", "TTY_COMPATIBLE"):
        monkeypatch.delenv(name, raising=False)

    monkeypatch.setenv("TERM", "xterm-256color")

    def run(results: Results, width: int = 80, *, terminal: bool | None = None) -> str:
        file = io.StringIO()
        console = Console(file=file, width=width, force_terminal=terminal)
        print_results(console, [results], **_PATHS)
        return file.getvalue()

    return run


@pytest.fixture(scope="module")
def late_advance(make_results: MakeResults) -> Results:
    """Four steps of which the last one diverges."""
    return make_results(
        [
            Step(Add("t1", 25), Outcome()),
            Step(Add("t2", 35, (Throw(),)), Outcome()),
            Step(Elapse(5), Outcome()),
            Step(Advance(25), Outcome(True, events=(expired("t2"),))),
        ]
    )


def test_a_conformant_subject_shows_every_rule_with_its_whole_title(
    good_results: Results, printed: Printed
) -> None:
    lines = printed(good_results).splitlines()

    assert len(lines) < 100
    table = lines[lines.index("") + 2 :]
    titles = " ".join(" ".join(line[52:] for line in table).split())
    for rule in good_results.rules:
        assert rule.title in titles
    for rule in good_results.rules:
        (line,) = [line for line in lines if f" {rule.id} " in line]
        assert line.startswith("✓ held ")
        assert f" {rule.level} " in line
        assert f" {rule.visits} " in line
    assert lines[-3:] == [
        "✓ conformant: every applicable rule was put to the test and held",
        "results work/results.jsonl",
        "report  work/report.html",
    ]


def test_a_failing_subject_shows_what_is_not_well_and_counts_the_rest(
    broken_results: Results, printed: Printed
) -> None:
    text = printed(broken_results)

    states = {rule.id: rule.state for rule in broken_results.rules}
    held = [rule for rule, state in states.items() if state == "held"]
    few = [rule for rule, state in states.items() if state == "too few"]
    assert len(held) > 3
    assert len(few) > 8
    assert not any(f" {rule} " in text for rule in held)
    assert f"✓ held     {len(held)} of {len(states)} rules" in text
    assert f"… too few  {len(few)} rules were visited fewer than 20 times" in text
    for rule, state in states.items():
        if state == "broken":
            assert f"✗ broken   {rule} " in text


def test_what_reads_a_pipe_gets_whole_lines_without_padding(
    broken_results: Results, good_results: Results, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is wrapped and nothing is padded; ``COLUMNS`` asks for both."""
    monkeypatch.delenv("COLUMNS", raising=False)
    for results in (good_results, broken_results):
        file = io.StringIO()
        with contextlib.redirect_stdout(file):
            print_results(standard_output(), [results], **_PATHS)
        lines = file.getvalue().splitlines()
        assert any(
            line.endswith(f"{rule.id}  {rule.level}  {rule.visits}  {rule.title}")
            for rule in results.rules
            for line in lines
        )
        assert not any("   " in line.strip() for line in lines)
        for cause in results.causes:
            assert f"  expected  {cause.expected}" in lines
    monkeypatch.setenv("COLUMNS", "80")
    file = io.StringIO()
    with contextlib.redirect_stdout(file):
        print_results(standard_output(), [broken_results], **_PATHS)
    assert max(map(len, file.getvalue().splitlines())) <= 80
    assert any("   " in line.strip() for line in file.getvalue().splitlines())


def test_what_held_is_not_said_beside_a_subject_that_hung(
    good_results: Results, printed: Printed
) -> None:
    failure = FailureLine("hung", "no reply within 10 s", "", "", "")
    footer = msgspec.structs.replace(good_results.footer, why="it hung", exit_code=3)
    text = printed(msgspec.structs.replace(good_results, failures=(failure,), footer=footer))
    assert "! the subject hung" in text
    assert "held" not in text


def test_what_is_broken_stands_first(broken_results: Results, printed: Printed) -> None:
    """The rules in the order of the table: the broken ones, then those that were folded away."""
    lines = printed(broken_results).splitlines()
    states = [line[2:9].strip() for line in lines if line[:2] in ("✗ ", "≠ ", "? ", "… ", "✓ ")]
    first = states[: states.index("held")]
    assert first == sorted(first, key=["broken", "doubtful", "deviates", "too few"].index)
    assert first.count("too few") == 1


def test_every_cause_is_told_with_its_steps_and_its_command(
    broken_results: Results, printed: Printed
) -> None:
    lines = printed(broken_results).splitlines()

    assert broken_results.causes
    for number, cause in enumerate(broken_results.causes, start=1):
        assert any(line.startswith(f"── cause {number} of ") for line in lines)
        assert f"  purgatory replay {cause.replay}" in lines
    assert sum("← diverges" in line for line in lines) == len(broken_results.causes)
    assert any(line.startswith("✗ not conformant: ") for line in lines[-4:])


def test_a_cause_is_a_screenful(late_advance: Results, printed: Printed) -> None:
    lines = printed(late_advance).splitlines()

    (begin,) = [n for n, line in enumerate(lines) if line.startswith("── cause 1 of 1 ")]
    cause = lines[begin : lines.index("  purgatory replay purgatory-work/by-hand/replays/0.jsonl")]
    assert len(cause) < 30
    (rule,) = late_advance.rules
    assert cause[1] == f"✗ broken  {rule.id} ({rule.level}): {rule.title}"
    steps = cause.index("  a timer with tick 1 ms, wheel size 20, clock at 0")
    assert cause[steps - 1] == "3 failing cases; the simplest found, from g0:"
    assert cause[steps + 1 : steps + 6] == [
        "     1  add t1, delay 25 ms                   → no event",
        "     2  add t2, delay 35 ms; when it runs it throws",
        "          → no event",
        "     3  let the clock reach 5                 → no event",
        "  ✗  4  advance to 25                         → popped, t2 expired  ← diverges",
    ]
    assert "  expected        t1 expired" in cause
    assert "  seen            t2 expired" in cause
    assert any(line.startswith("  state before    clock 5; own clock 0") for line in cause)
    assert any(line.startswith("  expected after  clock 25; own clock 25") for line in cause)


def test_no_line_is_longer_than_the_terminal_is_wide(
    good_results: Results, broken_results: Results, make_results: MakeResults, printed: Printed
) -> None:
    odd = make_results(
        [
            Step(Add("[red]名前" * 30, 5), Outcome()),
            Step(Advance(5), Outcome(True, events=(expired("name with blanks " * 9),))),
        ],
        why="too many words " * 30,
        hint="what you could do about it " * 9,
    )
    odd = msgspec.structs.replace(
        odd,
        failures=(FailureLine("crashed", "why " * 50, "x" * 500, "y" * 99, "\tz" * 200),),
        deviations=(DeviationLine("TIMER-SIZE", "v" * 100, "replay", "because " * 40, "", 1),),
    )

    for results in (good_results, broken_results, odd):
        for width in (80, 60, 132):
            lines = printed(results, width).splitlines()
            assert max(cell_len(line) for line in lines) <= width
            assert not any(line.endswith(" ") for line in lines)
    assert "[red]名前" in printed(odd)


def test_a_long_replay_command_stays_on_one_line(late_advance: Results, printed: Printed) -> None:
    path = "work/" + "long/" * 30 + "0.jsonl"
    (cause,) = late_advance.causes
    results = msgspec.structs.replace(
        late_advance, causes=(msgspec.structs.replace(cause, replay=path),)
    )

    assert f"\n  purgatory replay {path}\n" in printed(results)


def test_colour_only_on_a_terminal_and_never_under_no_color(
    broken_results: Results, printed: Printed, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = printed(broken_results)
    coloured = printed(broken_results, terminal=True)
    monkeypatch.setenv("NO_COLOR", "1")
    without = printed(broken_results, terminal=True)

    assert "\x1b[" in coloured
    assert "\x1b" not in plain
    assert without == plain


def test_no_name_or_message_of_a_subject_reaches_the_terminal_raw(
    make_results: MakeResults, printed: Printed
) -> None:
    results = make_results(
        [
            Step(Add("\x1b[2J\x07[bold]", 5), Outcome()),
            Step(Advance(5), Outcome(False, detail="\x1b]0;title\x07")),
        ]
    )
    failure = FailureLine("crashed", "\x1b[2J", "\r", "\x9b31m", "\x1b[31mred\x1b[0m\r\n\x00")
    results = msgspec.structs.replace(results, failures=(failure,))

    text = printed(results)

    assert not {letter for letter in text if not letter.isprintable()} - {"\n"}
    assert "│ \\x1b[31mred\\x1b[0m" in text
    assert "add '\\x1b[2J\\x07[bold]', delay 5 ms" in text


def test_a_console_without_unicode_gets_ascii(broken_results: Results) -> None:
    raw = io.BytesIO()
    file = io.TextIOWrapper(raw, encoding="ascii")

    print_results(Console(file=file, width=80), [broken_results], **_PATHS)
    file.flush()

    text = raw.getvalue().decode("ascii")
    assert "x broken" in text
    assert "<- diverges" in text


def test_three_causes_in_full_and_the_others_in_a_line_each(
    late_advance: Results, printed: Printed
) -> None:
    (cause,) = late_advance.causes
    causes = [
        msgspec.structs.replace(cause, cases=cases, replay=f"{cases}.jsonl")
        for cases in range(1, 6)
    ]

    lines = printed(msgspec.structs.replace(late_advance, causes=tuple(causes))).splitlines()

    assert [line for line in lines if line.startswith("── cause")][-1].startswith("── cause 3 of 5")
    commands = [line.split()[-1] for line in lines if "purgatory replay" in line]
    assert commands == ["5.jsonl", "4.jsonl", "3.jsonl", "2.jsonl", "1.jsonl"]
    rest = lines[lines.index("2 more causes") :]
    assert f"  ✗ {cause.rule}: 2 cases, expected t1 expired, seen t2 expired" in rest


def test_of_many_steps_the_last_are_shown(make_results: MakeResults, printed: Printed) -> None:
    steps = [Step(Elapse(t), Outcome()) for t in range(1, 40)]
    results = make_results([*steps, Step(Add("t1", 0), Outcome(events=(expired("t1"),)))])

    lines = printed(results).splitlines()

    assert "    … 26 steps before these, all in the replay file" in lines
    assert not any(line.startswith("    26  ") for line in lines)
    assert any(line.startswith("    27  let the clock reach 27 ") for line in lines)
    assert any(line.startswith("  ✗ 40  add t1, delay 0 ms ") for line in lines)


def test_nondeterminism_the_hint_failures_and_deviations_are_told(
    eventful_results: Results, printed: Printed
) -> None:
    lines = printed(eventful_results).splitlines()

    assert "  failed in 2 of 5 repetitions" in lines
    assert "  hint  all 41 failing cases pass under rounding up" in lines
    assert "        [[deviation]]" in lines
    assert "        see docs/findings.md#a-pool-that-grows" in lines
    assert "! the subject hung" in lines
    assert "  no reply within 10 s" in lines
    assert '  request   {"id":9}' in lines
    assert "  received  nothing" in lines
    assert "    │ line 30" in lines
    assert "    │ line 20" not in lines
    assert "  ≠ TIMER-SIZE, as a_variant: shown by 4 cases" in lines
    assert "    because, X-1" in lines
    assert "    replay file: deviations/size.jsonl" in lines
    assert "  ≠ TIMER-SPAN, as other: not seen" in lines
    assert lines[-3].startswith("✗ nondeterministic: ")


def test_an_inconclusive_run_names_every_rule_with_too_few_visits(
    good_results: Results, printed: Printed
) -> None:
    rules = tuple(
        msgspec.structs.replace(rule, visits=3, state="too few") for rule in good_results.rules
    )
    footer = msgspec.structs.replace(
        good_results.footer, verdict="inconclusive", why="few", exit_code=4
    )
    results = msgspec.structs.replace(good_results, rules=rules, footer=footer)

    lines = printed(results).splitlines()

    assert sum(line.startswith("… too few  TIMER-") for line in lines) == len(rules)
    assert f"✓ held    0 of {len(rules)} rules" not in lines
    assert "… inconclusive: few" in lines


def test_a_deviation_is_told_beside_its_rule(good_results: Results, printed: Printed) -> None:
    rules = tuple(
        msgspec.structs.replace(rule, state="deviates") if rule.id == "TIMER-SIZE" else rule
        for rule in good_results.rules
    )

    lines = printed(msgspec.structs.replace(good_results, rules=rules)).splitlines()

    assert any(line.startswith("≠ deviates TIMER-SIZE ") for line in lines)


def test_a_subject_that_never_answered_has_no_rules_to_show(
    good_results: Results, printed: Printed
) -> None:
    footer = msgspec.structs.replace(
        good_results.footer, verdict="subject failed", why="not started", exit_code=3
    )
    failure = FailureLine("not started", "no such file", "", "", "")
    results = msgspec.structs.replace(good_results, rules=(), footer=footer, failures=(failure,))

    lines = printed(results).splitlines()

    assert not any(line.startswith("state ") for line in lines)
    assert "! the subject not started" in lines
    assert lines[-3] == "! subject failed: not started"
    assert "what it declares is not known" in lines
    assert "rounding" not in printed(results)


def test_the_sign_of_a_completed_operation_is_explained(
    late_advance: Results, printed: Printed
) -> None:
    """A legend stands once below the states; without the sign there is none."""
    (cause,) = late_advance.causes
    marked = msgspec.structs.replace(cause, before="lists [a: o1*]", after="lists [a: o1*]")
    results = msgspec.structs.replace(late_advance, causes=(marked,))
    assert printed(results).count("* completed") == 1
    assert render_html([results]).count("* completed") == 1
    assert "* completed" not in printed(late_advance)
    assert "* completed" not in render_html([late_advance])
