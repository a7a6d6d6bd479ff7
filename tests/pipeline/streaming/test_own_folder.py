"""The folder of a stream is that of one watched folder, and not inside it."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from purgatory_conformance.problems import Problem
from purgatory_spark.commands.watch import watch
from purgatory_spark.streaming.own_folder import own_folder
from purgatory_traces.errors import PipelineError, Refused


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
    with own_folder(out, logs) as told:
        assert told.startswith(f"{out} is of a watch by another version: what it kept is now in")
        assert str(out / "set-aside-1") in told
        assert not (out / "checkpoint").exists()
    assert sorted(each.name for each in (out / "set-aside-1").iterdir()) == [
        "checkpoint",
        "watched.json",
    ]
    with own_folder(out, logs) as told:
        assert told == ""


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
