"""Bad input is set aside with file, line, text and reason, or makes a run incomplete; no more."""

import gzip
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

from purgatory_spec.profiles import Component
from purgatory_traces.commands.check import check
from purgatory_traces.engines.sinks import read_results
from purgatory_traces.traces.sources import REFUSED
from purgatory_traces.traces.synthetic import run_lines

GOOD = list(run_lines("good", Component.TIMER, 60))
BAD = list(run_lines("bad", Component.TIMER, 60))
AT = next(number for number in range(30, 60) if b"advance" in BAD[number])
"""The number of the line that is spoilt; in the file it is one further."""

Spoil = Callable[[bytes], bytes]


def swapped(old: bytes, new: bytes) -> Spoil:
    """Replace something that is in the line."""

    def spoil(line: bytes) -> bytes:
        assert old in line, line
        return line.replace(old, new)

    return spoil


SPOILT: dict[str, tuple[Spoil, str]] = {
    "truncated": (lambda line: line[:-20] + b"\n", "cut off"),
    "run twice": (swapped(b'"run":"bad"', b'"run":"good","run":"bad"'), "key given twice: run"),
    "byte-order mark": (lambda line: b"\xef\xbb\xbf" + line, "write UTF-8 without one"),
}
"""Some of them; all that may be wrong is in ``test_reading``, ``test_parsing`` and ``verdicts``."""


@pytest.fixture(params=["jsonl", "jsonl.gz"])
def trace(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[list[bytes]], Path]:
    """Writes lines into a file, plain or compressed."""

    def write(lines: list[bytes]) -> Path:
        path = tmp_path / f"trace.{request.param}"
        content = b"".join(lines)
        path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)
        return path

    return write


Trace = Callable[[list[bytes]], Path]


def checked(path: Path, tmp_path: Path) -> tuple[int, dict[str, str], list[dict[str, object]]]:
    """Exit code, verdicts by run, rows of the quarantine."""
    out = tmp_path / "out"
    result = CliRunner().invoke(check, [str(path), "--out", str(out)])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.output
    found = read_results(out)
    verdicts = found.table("verdicts").to_pylist()
    assert found.manifest.exit_code == result.exit_code
    return (
        result.exit_code,
        {row["run"]: row["verdict"] for row in verdicts},
        found.table("quarantine").to_pylist(),
    )


def test_the_lines_are_right_as_they_are(trace: Trace, tmp_path: Path) -> None:
    """Control the tests below: nothing is set aside of what is not spoilt."""
    code, verdicts, aside = checked(trace([*BAD, *GOOD]), tmp_path)
    assert (code, verdicts, aside) == (0, {"bad": "conforms", "good": "conforms"}, [])


@pytest.mark.parametrize("name", SPOILT)
def test_a_spoilt_line_is_set_aside_and_its_run_incomplete(
    trace: Trace, tmp_path: Path, name: str
) -> None:
    spoil, reason = SPOILT[name]
    spoilt = spoil(BAD[AT])
    path = trace([*BAD[:AT], spoilt, *BAD[AT + 1 :], *GOOD])
    code, verdicts, aside = checked(path, tmp_path)
    assert (code, verdicts) == (4, {"bad": "incomplete", "good": "conforms"})
    (row,) = aside
    assert (row["file"], row["line"]) == (str(path), AT + 1)
    assert row["raw"] == spoilt.rstrip(b"\n").decode("utf-8", "backslashreplace")
    assert isinstance(row["reason"], str)
    assert reason in row["reason"]
    assert row["reason"]


@pytest.mark.parametrize("ending", REFUSED)
def test_a_folder_with_lines_compressed_otherwise_is_inconclusive(
    ending: str, tmp_path: Path
) -> None:
    """Take a folder, of which files with other endings are ignored."""
    traces = tmp_path / "traces"
    traces.mkdir()
    (traces / "a.jsonl").write_bytes(b"".join(GOOD))
    (traces / "notes.zst").touch()
    assert checked(traces, tmp_path)[0] == 0
    (traces / f"b{ending}").write_bytes(b"\x28\xb5\x2f\xfd")
    code, verdicts, (row,) = checked(traces, tmp_path)
    assert (code, verdicts) == (4, {"good": "conforms"})
    assert (row["file"], row["line"]) == (str(traces / f"b{ending}"), 0)
    assert "which is not read: decompress it, or write .gz" in str(row["reason"])


def test_a_divergence_before_the_hole_is_told_all_the_same(trace: Trace, tmp_path: Path) -> None:
    wrong = [line.replace(b'"kind":"ran"', b'"kind":"expired"') for line in BAD[:20]]
    code, verdicts, aside = checked(trace([*wrong, *BAD[20:40], b"rubbish\n", *GOOD]), tmp_path)
    assert (code, verdicts) == (1, {"bad": "diverges", "good": "conforms"})
    assert len(aside) == 1
