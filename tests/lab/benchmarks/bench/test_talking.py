"""A peer's process that answers, declines, hangs, dies, or writes something else."""

import time
from pathlib import Path

import pytest

from purgatory_lab.benchmarks.bench.talking import Broken, Declined, PeerProcess, Start

from .peers import peer, start

pytestmark = pytest.mark.verify

REQUEST: dict[str, int | float | str] = {
    "measure": "hot/virtual",
    "pending": 10,
    "operations": 4,
    "seed": 9,
}


def is_gone(process: int) -> bool:
    return not Path(f"/proc/{process}/status").exists()


def test_it_says_hello_and_answers(tmp_path: Path) -> None:
    asked = peer(tmp_path, "well", "250")
    assert (asked.hello.peer, asked.hello.version) == ("scripted", "1")
    assert asked.hello.measures == ("hot/virtual", "fifo/virtual", "workload")
    answers = [asked.ask({**REQUEST, "seed": seed}, 300.0) for seed in (1, 2)]
    asked.close()
    assert [each.thread_cpu_ns for each in answers] == [1000.0, 1000.0]
    assert [each.process_cpu_ns for each in answers] == [2000.0, 2000.0]
    assert [each.detail["seed"] for each in answers] == [1, 2]
    assert is_gone(asked.process)


def test_one_that_declines_stays_ready(tmp_path: Path) -> None:
    asked = peer(tmp_path, "error on fifo")
    with pytest.raises(Declined, match=r"^it is raining$"):
        asked.ask({**REQUEST, "measure": "fifo/virtual"}, 300.0)
    assert asked.ask(REQUEST, 300.0).operations == 4
    asked.close()


def test_one_that_hangs_is_ended(tmp_path: Path) -> None:
    asked = peer(tmp_path, "hangs")
    begin = time.monotonic()
    with pytest.raises(Broken, match=r"no answer within 0 s; ended"):
        asked.ask(REQUEST, 0.3)
    assert time.monotonic() - begin < 50  # by itself it would end after a minute
    assert is_gone(asked.process)


def test_one_that_dies_says_how_and_its_last_words(tmp_path: Path) -> None:
    asked = peer(tmp_path, "dies")
    with pytest.raises(Broken, match=r"ended with 7 without an answer: out of luck"):
        asked.ask(REQUEST, 300.0)
    with pytest.raises(Broken, match="ended with 7"):
        asked.ask(REQUEST, 300.0)


@pytest.mark.parametrize(
    ("script", "problem"), [("garbage", r"no answer, but '{\]'"), ("no operations", "lacks")]
)
def test_one_that_writes_something_else_is_ended(script: str, problem: str, tmp_path: Path) -> None:
    asked = peer(tmp_path, script)
    with pytest.raises(Broken, match=problem):
        asked.ask(REQUEST, 300.0)
    assert is_gone(asked.process)


def test_one_without_a_hello_is_of_no_use(tmp_path: Path) -> None:
    with pytest.raises(Broken, match="no hello, but 'good morning'"):
        peer(tmp_path, "no hello")
    with pytest.raises(Broken, match="no answer within"):
        PeerProcess(start(tmp_path, "silent"), 0.3)


def test_one_that_is_not_there_cannot_be_started(tmp_path: Path) -> None:
    with pytest.raises(Broken, match="cannot be started: No such file"):
        PeerProcess(Start([tmp_path / "nobody"], tmp_path, tmp_path / "log"), 1.0)
