"""Paths stay paths whatever they look like; no unforeseen error looks like a verdict."""

import os
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from purgatory_conformance import command_line
from purgatory_conformance.command_line import main, purgatory
from purgatory_conformance.problems import EXIT_USAGE, Problem
from purgatory_spec.profiles import Component
from purgatory_traces.traces.synthetic import run_lines


def test_paths_that_look_like_addresses_are_paths(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("t:1.jsonl").write_bytes(b"".join(run_lines("s", Component.TIMER, 60)))
    for words in (
        ["trace", "convert", "t:1.jsonl", "t:2.parquet"],
        ["trace", "check", "t:2.parquet", "--out", "nightly:1"],
    ):
        done = CliRunner().invoke(purgatory, words)
        assert (done.exit_code, done.exception) == (0, None), done.output
    assert Path("nightly:1", "manifest.json").exists()


def test_an_unforeseen_error_ends_with_3(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    @click.command()
    def broken() -> None:
        raise ArithmeticError("of its own")

    monkeypatch.setattr(command_line, "purgatory", broken)
    monkeypatch.setattr("sys.argv", ["purgatory"])
    with pytest.raises(SystemExit) as ended:
        main()
    told = capsys.readouterr().err
    assert ended.value.code == 3
    assert "in broken" in told
    assert "purgatory: a defect of this program: ArithmeticError('of its own')" in told


@pytest.mark.skipif(os.name == "nt", reason="there are no such files")
def test_a_pipe_in_a_folder_is_ignored_and_by_its_name_refused(tmp_path: Path) -> None:
    (tmp_path / "t.jsonl").write_bytes(b"".join(run_lines("s", Component.TIMER, 60)))
    os.mkfifo(tmp_path / "pipe.jsonl")
    out = ["--out", str(tmp_path / "out")]
    done = CliRunner().invoke(purgatory, ["trace", "check", str(tmp_path), *out])
    assert done.exit_code == 0, done.output
    assert "pipe.jsonl" in "".join(done.output.split())
    os.mkfifo(tmp_path / "p.parquet")
    for name in ("p.parquet", "pipe.jsonl", "*pipe*"):
        done = CliRunner().invoke(purgatory, ["trace", "check", str(tmp_path / name), *out])
        assert isinstance(done.exception, Problem)
        assert done.exception.exit_code == EXIT_USAGE
        assert "it is a pipe and no file" in str(done.exception)
