"""The log of ``purgatory trace check``, from which level on, and where."""

import json
import logging
import re
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from purgatory_spec.profiles import Component
from purgatory_traces.commands.check import check
from purgatory_traces.commands.log_level import shown_from
from purgatory_traces.traces.synthetic import run_lines

RECORD = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z ([A-Z]+) (purgatory_traces\S*): .+")


@pytest.fixture
def words(tmp_path: Path) -> list[str]:
    """A check of one run that conforms."""
    path = tmp_path / "t.jsonl"
    path.write_bytes(b"".join(run_lines("r", Component.TIMER, 60)))
    return [str(path), "--out", str(tmp_path / "out"), "--format", "json"]


def run(words: list[str], **environment: str) -> Result:
    return CliRunner(env=environment).invoke(check, words)


def records(result: Result) -> list[tuple[str, str]]:
    """Level and logger of each record; the one line besides is the choice of the engine."""
    lines = result.stderr.splitlines()
    (choice,) = (line for line in lines if line.startswith("engine local: "))
    lines.remove(choice)
    found = [RECORD.fullmatch(line) for line in lines]
    assert None not in found, lines
    return [(match[1], match[2]) for match in found if match is not None]


def test_records_go_to_standard_error_from_the_level_on(words: list[str]) -> None:
    command, engine = "purgatory_traces.commands.check", "purgatory_traces.engines.local"
    checking = "purgatory_traces.engines.checking"
    files, *told = ("INFO", checking), ("INFO", engine), ("INFO", checking), ("INFO", command)
    expected = {
        "debug": [files, ("DEBUG", engine), *told],
        "info": [files, *told],
        "warning": [],
        "error": [],
    }
    for level, wanted in expected.items():
        result = run([*words, "--log-level", level])
        assert result.exit_code == 0
        assert records(result) == wanted, level
        assert json.loads(result.stdout)["verdicts"]["conforms"] == 1


def test_the_environment_names_the_level_and_the_option_goes_before_it(words: list[str]) -> None:
    assert records(run(words)) == []
    assert records(run(words, PURGATORY_LOG_LEVEL="info"))
    assert records(run([*words, "--log-level", "error"], PURGATORY_LOG_LEVEL="info")) == []
    result = run(words, PURGATORY_LOG_LEVEL="loud")
    assert result.exit_code == 2
    assert "'loud' is not one of 'debug', 'info', 'warning', 'error'" in result.stderr


def test_nothing_of_it_is_left_after_the_command(words: list[str]) -> None:
    logger = logging.getLogger("purgatory_traces")
    before = logger.level, [*logger.handlers]
    assert records(run([*words, "--log-level", "debug"]))
    assert (logger.level, logger.handlers) == before


def test_other_libraries_are_not_shown(capsys: pytest.CaptureFixture[str]) -> None:
    with shown_from("debug"):
        logging.getLogger("py4j").debug("of every call")
        logging.getLogger("purgatory_traces.engines").debug("a word")
    out, err = capsys.readouterr()
    assert out == ""
    assert [match[2] for match in map(RECORD.fullmatch, err.splitlines()) if match] == [
        "purgatory_traces.engines"
    ]
    assert len(err.splitlines()) == 1
