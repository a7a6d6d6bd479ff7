"""The lines of a peer: hello, answers, errors, and the end of the input."""

import json
import subprocess
import sys
from dataclasses import replace

import pytest

import purgatory_impl
from purgatory_lab.benchmarks.python_peer.conversation import ask_fresh_process
from purgatory_lab.benchmarks.python_peer.messages import CannotMeasure
from purgatory_lab.benchmarks.python_peer.peers import peers
from tests.lab.benchmarks.python_peer.asking import said

EVERYTHING = {
    *(
        f"{what}/{clock}"
        for what in ("hot", "fifo", "random", "expire")
        for clock in ("virtual", "system")
    ),
    "purgatory",
    "event",
    "pool",
    "memory/timer",
    "memory/purgatory",
    "pause",
    "workload",
}


def test_what_each_peer_offers() -> None:
    offered = {name: set(peer.measures) for name, peer in peers().items()}
    of_timers = {each for each in EVERYTHING if each.endswith(("/virtual", "/system"))}
    assert offered == {
        "implementation": EVERYTHING,
        "asyncio": of_timers | {"memory/timer"},
        "heapq": of_timers | {"memory/timer", "pause"},
        "old-design": {"purgatory", "event", "memory/purgatory", "workload"},
    }


def test_hello(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(purgatory_impl, "COMPILED", True, raising=False)
    hello = said(peers()["implementation"])[0]
    assert hello["peer"] == "implementation"
    assert hello["runtime"].endswith(", compiled")
    assert set(hello["measures"]) == EVERYTHING
    monkeypatch.setattr(purgatory_impl, "COMPILED", False)
    assert said(peers()["implementation"])[0]["runtime"].endswith(", interpreted")
    monkeypatch.delattr(purgatory_impl, "COMPILED")
    assert said(peers()["implementation"])[0]["runtime"].endswith(", interpreted")
    assert "," not in said(peers()["heapq"])[0]["runtime"]


@pytest.mark.parametrize(
    "line",
    [
        "{",
        "[]",
        "7",
        "null",
        "measure",
        "{}",
        '{"measure":1}',
        '{"measure":"hot/virtual","operations":0}',
        '{"measure":"hot/virtual","operations":1.5}',
        '{"measure":"hot/virtual","pending":-1}',
        '{"measure":"hot/virtual","pending":1000000000000}',
        '{"measure":"hot/virtual","pending":"many"}',
        '{"measure":"hot/virtual","seeed":1}',
        '{"measure":"hot/virtual","case":"medium"}',
        '{"measure":"hot/virtual","rate":-1}',
        '{"measure":"hot/virtual"} and more',
        '{"measure":"\ud800"}',
    ],
)
def test_a_line_that_is_no_request(line: str) -> None:
    good = '{"measure":"hot/virtual","operations":3}'
    _, bad, answer = said(peers()["heapq"], line, good)
    assert set(bad) == {"error"}
    assert bad["error"].startswith("this is no request: ")
    assert answer["operations"] == 3


def test_what_is_not_offered() -> None:
    assert said(peers()["heapq"], '{"measure":"pool"}')[1:] == [
        {"error": "heapq does not offer 'pool'"}
    ]


def test_lines_without_anything_are_passed_over() -> None:
    assert len(said(peers()["heapq"], "", "   ", "\t")) == 1


def test_a_large_seed() -> None:
    line = json.dumps({"measure": "hot/virtual", "operations": 3, "seed": 2**64 - 1})
    assert said(peers()["heapq"], line)[1]["operations"] == 3


def test_a_process_that_ends_without_an_answer() -> None:
    line = '{"measure":"memory/timer","pending":1}'
    with pytest.raises(CannotMeasure, match="ended with 2 and no answer"):
        ask_fresh_process("nobody", line)
    nobody = replace(peers()["heapq"], name="nobody")
    _, answer = said(nobody, line, alone=False)
    assert answer == {"error": "the fresh process ended with 2 and no answer"}


@pytest.mark.slow
def test_as_a_program() -> None:
    command = [sys.executable, "-m", "purgatory_lab.benchmarks.python_peer", "old-design"]
    lines = [
        '{"measure":"purgatory","operations":50}',
        "nonsense",
        '{"measure":"workload","operations":50,"keys":2}',
        '{"measure":"workload","operations":50,"rate":1000}',
    ]
    ended = subprocess.run(
        command,
        input="\n".join(lines) + "\n",
        capture_output=True,
        text=True,
        timeout=600,
        check=True,
    )
    hello, first, second, third, fourth = map(json.loads, ended.stdout.splitlines())
    assert hello["peer"] == "old-design"
    assert first["operations"] == 50
    assert second["error"].startswith("this is no request: ")
    assert third == {"error": "a request has three different keys, and there are 2"}
    assert fourth["detail"]["completed"] + fourth["detail"]["expired"] == 50
    assert ended.stderr == ""


def test_a_line_that_is_no_text() -> None:
    command = [sys.executable, "-m", "purgatory_lab.benchmarks.python_peer", "heapq"]
    given = b'\xff\xfe\n{"measure":"hot/virtual","operations":3}\n'
    ended = subprocess.run(command, input=given, capture_output=True, timeout=600, check=True)
    _, bad, answer = map(json.loads, ended.stdout.splitlines())
    assert bad["error"].startswith("this is no request: ")
    assert answer["operations"] == 3


def test_a_name_that_there_is_not() -> None:
    command = [sys.executable, "-m", "purgatory_lab.benchmarks.python_peer", "nobody"]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    assert ended.returncode == 2
    assert "invalid choice: 'nobody'" in ended.stderr
