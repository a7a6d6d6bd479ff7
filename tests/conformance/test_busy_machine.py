"""A machine that is busy with other work says what a quiet one says, later."""

import json
import multiprocessing
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.conformance.command import purgatory_process

pytestmark = pytest.mark.verify

SUBJECTS = ("mutant:no-second-try", "mutant:zero-dropped")


def _work_without_end() -> None:
    while True:
        sum(range(10_000))


@contextmanager
def busy() -> Iterator[None]:
    """Have as many processes at work as there are processors."""
    processes = [
        multiprocessing.get_context("spawn").Process(target=_work_without_end, daemon=True)
        for _ in range(os.cpu_count() or 1)
    ]
    for process in processes:
        process.start()
    try:
        yield
    finally:
        for process in processes:
            process.kill()
            process.join()


def results_of(folder: Path, subject: str) -> list[object]:
    """Check a subject; return the lines of the results, without the seconds that they took."""
    folder.mkdir()
    purgatory_process(folder, "check", subject, "--suite", "quick", "--seed", "7")
    (file,) = (folder / "purgatory-work").rglob("results.jsonl")
    lines = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    for line in lines:
        line.pop("seconds", None)
    return lines


@pytest.mark.parametrize("subject", SUBJECTS)
def test_equal_seeds_give_equal_results_on_a_busy_machine(subject: str, tmp_path: Path) -> None:
    """Rules, visits, causes, shrunk cases and the verdict are the same, whatever else runs."""
    quiet = results_of(tmp_path / "quiet", subject)
    with busy():
        assert results_of(tmp_path / "busy", subject) == quiet
