"""The folder of a stream is that of one watched folder, and not inside it."""

from itertools import count
from pathlib import Path

import pytest
from click.testing import CliRunner

from purgatory_conformance.problems import Problem
from purgatory_spark.commands.watch import watch
from purgatory_spark.streaming import own_folder as module
from purgatory_spark.streaming.own_folder import own_folder
from purgatory_spark.streaming.tables import Tables
from purgatory_traces.errors import PipelineError, Refused
from purgatory_traces.results.rows import VerdictRow
from tests.pipeline.streaming.test_tables import Stream, told
from tests.pipeline.streaming.watched import rows_of


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    (tmp_path / "logs").mkdir()
    return tmp_path / "logs"


def test_a_later_start_goes_on_and_another_folder_is_refused(logs: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    (tmp_path / "link").symlink_to(logs)
    for same in (logs, logs, tmp_path / "link", logs / ".." / "logs"):
        with own_folder(out, same):
            assert out.is_dir()
    (tmp_path / "other").mkdir()
    said = f"{out} is of a watch of {logs}, .* name another folder with --out"
    with pytest.raises(Refused, match=said), own_folder(out, tmp_path / "other"):
        raise AssertionError("two in one")
    (out / "watched.json").write_text("[]", encoding="utf-8")
    with pytest.raises(Refused, match="does not say what was watched"), own_folder(out, logs):
        raise AssertionError("nobody knows of what")


def test_what_another_version_kept_is_set_aside_and_told(logs: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    (out / "checkpoint").mkdir(parents=True)
    (out / "watched.json").write_text(f'{{"folder":"{logs}"}}', encoding="utf-8")
    with own_folder(out, logs) as told_of:
        assert told_of.startswith(f"{out} is of a watch by another version: what it kept is now in")
        assert str(out / "set-aside-1") in told_of
        assert told_of.endswith("; it had no verdicts")
        assert not (out / "checkpoint").exists()
    assert [each.name for each in (out / "set-aside-1").iterdir()] == ["checkpoint"]
    with own_folder(out, logs) as told_of:
        assert told_of == ""


class Killed(BaseException):
    """Stands for a kill."""


VERDICTS = [("c", "conforms"), ("d", "diverges"), ("i", "incomplete")]


def begun(out: Path, logs: Path) -> None:
    with own_folder(out, logs):
        (out / "checkpoint").mkdir()
        stream = Stream(out / "tables")
        stream.take(0, [record for run, says in VERDICTS for record in told(run, 7, says=says)])


@pytest.mark.parametrize("killed_at", [None, "Tables.keep", "Path.rename", "write_whole"])
def test_verdicts_of_another_judge_stay_whenever_the_start_is_killed(
    logs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, killed_at: str | None
) -> None:
    out = tmp_path / "out"
    begun(out, logs)
    with own_folder(out, logs) as same:
        assert same == ""
    monkeypatch.setattr(module, "MODEL_VERSION", "another")
    if killed_at is not None:
        # Each such call of the start is where it is killed, one after the other.
        for number in range(9):
            with monkeypatch.context() as patched:
                _kill(patched, killed_at, number)
                try:
                    with own_folder(out, logs):
                        break
                except Killed:
                    continue
        else:
            raise AssertionError("it was killed every time")
        assert number > 0
    else:
        with own_folder(out, logs) as told_of:
            assert "the verdicts of 2 runs stay until judged again" in told_of
    with own_folder(out, logs) as same:
        assert same == ""
    kept = [row for row in rows_of(out / "tables") if isinstance(row, VerdictRow)]
    assert [(row.run, row.verdict) for row in kept] == VERDICTS[:2]
    assert not (out / "checkpoint").exists()


def _kill(patched: pytest.MonkeyPatch, where: str, number: int) -> None:
    """Have the call of this number of a function end the process, before it does anything."""
    owner, _, name = where.rpartition(".")
    of = {"": module, "Tables": Tables, "Path": Path}[owner]
    call, calls = getattr(of, name), count()

    def killed(*given: object) -> object:
        if next(calls) == number:
            raise Killed
        return call(*given)

    patched.setattr(of, name, killed)


def test_verdicts_that_cannot_be_read_are_told(
    logs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out"
    begun(out, logs)
    (part,) = (out / "tables").rglob("verdicts-*.parquet")
    part.write_bytes(part.read_bytes()[:-1])
    monkeypatch.setattr(module, "MODEL_VERSION", "another")
    with own_folder(out, logs) as told_of:
        assert "none of its verdicts stays, since its tables cannot be read" in told_of
    assert not (out / "tables").exists()


@pytest.mark.parametrize("inside", ["logs", "logs/out", "logs/a/../b/out", "link/out"])
def test_results_among_the_traces_are_refused(logs: Path, tmp_path: Path, inside: str) -> None:
    (tmp_path / "link").symlink_to(logs)
    with (
        pytest.raises(Refused, match="would be read as traces"),
        own_folder(tmp_path / inside, logs),
    ):
        raise AssertionError("it has begun")
    assert not list(logs.iterdir())
    with own_folder(tmp_path / "logs-out", logs):  # the control: beside it is well
        assert (tmp_path / "logs-out").is_dir()


def test_two_at_a_time_are_kept_apart(logs: Path, tmp_path: Path) -> None:
    with (
        own_folder(tmp_path / "out", logs),
        pytest.raises(PipelineError, match="another process"),
        own_folder(tmp_path / "out", logs),
    ):
        raise AssertionError("two at a time")


def test_the_command_says_so_before_spark_is_started(logs: Path, tmp_path: Path) -> None:
    result = CliRunner().invoke(watch, [str(logs), "--out", str(logs / "out")])
    assert isinstance(result.exception, Problem)
    assert result.exception.exit_code == 2
    (tmp_path / "file").touch()
    result = CliRunner().invoke(watch, [str(logs), "--out", str(tmp_path / "file" / "out")])
    assert isinstance(result.exception, Problem)
    assert result.exception.exit_code == 3
    assert "cannot be made or written to (Not a directory)" in str(result.exception)


def test_without_java_it_names_a_command_that_needs_none(
    logs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    monkeypatch.delenv("PYSPARK_GATEWAY_PORT", raising=False)
    result = CliRunner().invoke(watch, [str(logs), "--out", str(tmp_path / "out")])
    assert isinstance(result.exception, Problem)
    assert result.exception.exit_code == 5
    assert "`purgatory trace check` needs no Java" in str(result.exception)
    assert "--engine" not in str(result.exception)
