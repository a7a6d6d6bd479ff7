"""A trace from which an expiry is missing is not conformant, and no short one is called so."""

import re
import shlex
from pathlib import Path
from typing import Any

import msgspec
import pytest
from click.testing import CliRunner

from purgatory_conformance.command_line import purgatory
from purgatory_traces.traces.byte_streams import CHECKSUM

README = Path(__file__).parents[2] / "README.md"


def commands_of_the_readme() -> list[list[str]]:
    """The commands that record a trace and check it, as the README has them."""
    text = README.read_text(encoding="utf-8")
    found = re.findall(r"^\$ purgatory (trace (?:record|check) .*)$", text, re.MULTILINE)
    return [shlex.split(command) for command in found]


def without_a_run(lines: list[bytes]) -> list[bytes]:
    """The trace without one run of a task that is not heard of again, numbered without a gap."""
    told: list[dict[str, Any]] = [msgspec.json.decode(line) for line in lines]
    last: dict[str, int] = {}
    for place, line in enumerate(told):
        task = line.get("task") or line.get("operation", {}).get("task")
        last[task] = place
    runs = [place for place in last.values() if told[place].get("event") == "ran"]
    del told[min(runs)]
    return [msgspec.json.encode({**line, "seq": number}) for number, line in enumerate(told)]


def checked(arguments: list[str]) -> tuple[int, str]:
    done = CliRunner().invoke(purgatory, arguments)
    return done.exit_code, " ".join(done.output.split())


@pytest.mark.slow
def test_the_trace_of_the_readme_shows_that_an_expiry_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    record, check = commands_of_the_readme()
    assert checked(record)[0] == 0
    code, words = checked(check)
    assert (code, "each allowed by the rules" in words) == (0, True), words
    trace = Path(check[-1])
    trace.write_bytes(b"\n".join(without_a_run(trace.read_bytes().splitlines())) + b"\n")
    beside = trace.with_name(trace.name + CHECKSUM)
    code, words = checked(check)
    assert (code, f"its SHA-256 is not that in {beside}" in words) == (4, True), words
    beside.unlink()
    code, words = checked(check)
    assert (code, "TIMER-LATENESS" in words) == (1, True), words


def trace_until(end_ms: int) -> bytes:
    """A task that is added at 0 with 10 ms and runs in time; the lateness is 50 ms."""
    lines: list[dict[str, object]] = [
        {
            "kind": "begin",
            "run": "r",
            "instance": {"component": "timer"},
            "clock": {"kind": "wall", "lateness_ms": 50},
        },
        {"kind": "call", "at_ns": 0, "thread": "t", "operation": ADD},
        {"kind": "return", "at_ns": 0, "thread": "t"},
        {"kind": "event", "at_ns": 12_000_000, "thread": "e", "event": "ran", "task": "a"},
        {"kind": "end", "at_ns": end_ms * 1_000_000},
    ]
    numbered = ({"run": "r", **line, "seq": seq} for seq, line in enumerate(lines))
    return b"".join(msgspec.json.encode(line) + b"\n" for line in numbered)


ADD = {"op": "add", "task": "a", "delay_ms": 10}


@pytest.mark.parametrize(("end_ms", "exit_code"), [(59, 4), (60, 4), (61, 0)])
def test_a_run_that_is_too_short_to_show_it_says_so(
    tmp_path: Path, end_ms: int, exit_code: int
) -> None:
    trace = tmp_path / "t.jsonl"
    trace.write_bytes(trace_until(end_ms))
    code, words = checked(["trace", "check", str(trace), "--out", str(tmp_path / "out")])
    assert code == exit_code, words
    too_short = "no run went on long enough to show that an expiry is missing (TIMER-NOT-LATE)"
    assert (too_short in words) == (exit_code == 4)
