"""``purgatory trace check``, as a person uses it."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from purgatory_conformance.problems import Problem
from purgatory_spec.installing import command_for
from purgatory_spec.profiles import Component
from purgatory_traces.commands.check import check
from purgatory_traces.engines import choice as engine_choice
from purgatory_traces.engines import sinks
from purgatory_traces.engines.choice import Engine, choose, estimated_lines
from purgatory_traces.engines.sinks import read_results
from purgatory_traces.errors import OutOfOrder
from purgatory_traces.results.rows import RunVerdict
from purgatory_traces.results.schemas import TableName
from purgatory_traces.traces.synthetic import Expected, run_lines, write_corpus
from tests.pipeline.processes import PURGATORY, may_be_interrupted, purgatory


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[Expected]]:
    folder = tmp_path_factory.mktemp("corpus")
    expected = write_corpus(folder / "traces", 60, 80, faulty=2, files=3, mixed=True)
    (folder / "traces/notes.txt").write_text("not a trace")
    return folder / "traces", expected


@pytest.fixture
def one_run(tmp_path: Path) -> Path:
    """A file with a run that conforms."""
    path = tmp_path / "t.jsonl"
    path.write_bytes(b"".join(run_lines("r", Component.TIMER, 60)))
    return path


def run(*words: object, **environment: str) -> Result:
    return CliRunner(env={"COLUMNS": "100", **environment}).invoke(check, [str(w) for w in words])


def test_each_run_has_the_verdict_that_is_foretold(
    corpus: tuple[Path, list[Expected]], tmp_path: Path
) -> None:
    traces, expected = corpus
    result = run(traces, "--out", tmp_path, "--html")
    assert result.exit_code == 1
    found = read_results(tmp_path)
    rows = found.table("verdicts").to_pylist()
    assert [(r["run"], r["verdict"], r["seq"], r["rule"], r["events"]) for r in rows] == [
        (each.run, each.verdict, each.seq, each.rule, each.events) for each in expected
    ]
    counts = Counter(each.verdict for each in expected)
    assert found.manifest.verdicts == {
        verdict: counts[verdict]
        for verdict in ("conforms", "diverges", "incomplete", "inconclusive")
    }
    assert found.table("quarantine").num_rows == sum(each.quarantined for each in expected)
    assert found.manifest.ignored == (str(traces / "notes.txt"),)
    assert [Path(each.file).name for each in found.manifest.inputs] == [
        f"part-{number:05d}.jsonl" for number in range(3)
    ]


def test_the_summary_says_what_where_and_why(
    corpus: tuple[Path, list[Expected]], tmp_path: Path
) -> None:
    traces, expected = corpus
    text = run(traces, "--out", tmp_path, "--runs", 2).output
    wrong = next(each for each in expected if each.rule == "TIMER-NOT-LATE")
    assert "TIMER-NOT-LATE missing, " in text
    assert f"{wrong.run} seq {wrong.seq}, " in text
    assert "expected t" in text
    assert "seen     no event" in text
    assert "engine local: about " in text
    assert "fewer than 10,000,000" in text
    diverging = sum(each.verdict == "diverges" for each in expected)
    assert f"✗ not conformant: {diverging} runs of 60" in text
    assert "In quarantine: " in text
    assert "Object contains unknown field" in text
    assert "timer: " in text
    assert " of 42 rules put to the test" in text
    assert "never: TIMER-" in text
    assert f"tables  {read_results(tmp_path).folder}" in text
    assert "exit code 1" in text
    assert "ignored 1 file in the folders: " in text
    assert "\x1b" not in text


def test_runs_that_conform_end_with_0(tmp_path: Path) -> None:
    (tmp_path / "t.jsonl").write_bytes(b"".join(run_lines("r", Component.MEMORY_POOL, 60)))
    result = run(tmp_path / "t.jsonl", "--out", tmp_path / "out")
    assert result.exit_code == 0
    assert "✓ conformant: 1 run, 60 lines, each allowed by the rules" in result.output


def test_a_folder_without_traces_ends_with_4(tmp_path: Path) -> None:
    (tmp_path / "traces").mkdir()
    result = run(tmp_path / "traces", "--out", tmp_path / "out")
    assert result.exit_code == 4
    assert "nothing was judged: there is no file whose name ends in .jsonl, " in result.output


@pytest.mark.slow
def test_signs_that_a_terminal_cannot_show_are_left_away(
    corpus: tuple[Path, list[Expected]], tmp_path: Path
) -> None:
    environment = {**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0", "LC_ALL": "C"}
    environment |= {"FORCE_COLOR": "1", "NO_COLOR": "1"}
    finished = subprocess.run(
        [PURGATORY, "trace", "check", str(corpus[0])],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        timeout=900,
        check=False,
    )
    assert finished.returncode == 1, finished.stderr
    assert b"x not conformant" in finished.stdout
    assert b"\x1b" not in finished.stdout
    assert finished.stdout.isascii()
    assert re.fullmatch(rb"engine local: [ -~]+\n", finished.stderr)
    assert (tmp_path / "purgatory-work/trace-check/manifest.json").exists()


def test_the_page_loads_nothing_and_tells_every_cause(
    corpus: tuple[Path, list[Expected]], tmp_path: Path
) -> None:
    traces, expected = corpus
    result = run(traces, "--out", tmp_path, "--html")
    page = read_results(tmp_path).folder / "report.html"
    assert f"report  {page}" in result.output
    text = page.read_text(encoding="utf-8")
    assert not re.search(r"<script|<link|<img|@import|url\(|https?://", text)
    assert all(each.rule in text for each in expected)
    assert "✗ not conformant" in text
    assert "prefers-color-scheme: dark" in text


def test_what_a_trace_says_cannot_change_the_page_or_the_terminal(tmp_path: Path) -> None:
    evil = "<script>alert(1)</script>\\u001b[31m"
    lines = list(run_lines(evil, Component.TIMER, 60))
    lines[0] = lines[0].replace(b'"synthetic"', b'"<b>\\u001b[1m"')
    (tmp_path / "t.jsonl").write_bytes(b"".join([*lines[:-1], b'<i>"\x1b[2J\n']))
    result = run(tmp_path / "t.jsonl", "--out", tmp_path / "out", "--html")
    assert result.exit_code == 4
    assert "\x1b" not in result.output
    text = (read_results(tmp_path / "out").folder / "report.html").read_text("utf-8")
    assert "<script>" not in text
    assert "<i>" not in text
    assert "\x1b" not in text


def test_a_second_check_gives_the_same_bytes(
    corpus: tuple[Path, list[Expected]], tmp_path: Path
) -> None:
    run(corpus[0], "--out", tmp_path, "--html")
    before = (tmp_path / "manifest.json").read_bytes()
    run(corpus[0], "--out", tmp_path, "--html")
    assert (tmp_path / "manifest.json").read_bytes() == before
    read_results(tmp_path)


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["gone.jsonl"], 2, "gone.jsonl: no such file or folder"),
        (["*.jsonl"], 2, "no file or folder matches *.jsonl"),
        ([], 2, "Missing argument"),
        ([".", "--runs", "0"], 2, "--runs"),
        ([".", "--engine", "fast"], 2, "--engine"),
        ([".", "--engine", "local", "--master", "local[2]"], 2, "--engine local has none"),
    ],
)
def test_wrong_words_are_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: list[str], code: int, said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    result = run(*words)
    assert getattr(result.exception, "exit_code", result.exit_code) == code
    assert said in f"{result.output}{result.exception}"
    assert not (tmp_path / "purgatory-work").exists()


def test_without_pyarrow_it_says_what_to_install(
    one_run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    result = run(one_run, "--out", tmp_path / "out")
    assert getattr(result.exception, "exit_code", None) == 5
    said = f"Parquet needs pyarrow, not installed here: {command_for('traces')}"
    assert str(result.exception) == said


def test_a_failure_of_the_pipeline_is_no_verdict(
    one_run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run(one_run, "--out", tmp_path / "out").exit_code == 0
    before = read_results(tmp_path / "out")

    def fail(*_: object) -> None:
        raise OutOfOrder("lines are mixed up")

    monkeypatch.setattr(sinks.ResultWriter, "finish", fail)
    result = run(one_run, "--out", tmp_path / "out")
    assert getattr(result.exception, "exit_code", None) == 3
    assert str(result.exception) == "the check failed: lines are mixed up"
    assert read_results(tmp_path / "out") == before


def test_a_folder_that_cannot_be_written_is_told(
    one_run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:

    def refuse(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device", "out")

    monkeypatch.setattr(sinks, "_write_table", refuse)
    result = run(one_run, "--out", tmp_path / "out")
    assert getattr(result.exception, "exit_code", None) == 3
    said = "the check failed: out cannot be used: No space left on device"
    assert str(result.exception) == said


def test_the_engine_is_told_before_the_work(
    one_run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:

    def fail(*_: object) -> None:
        raise OutOfOrder("lines are mixed up")

    monkeypatch.setattr(sinks.ResultWriter, "write", fail)
    result = run(one_run, "--out", tmp_path / "out")
    assert re.fullmatch(r"engine local: about \d+ lines, fewer than 10,000,000\n", result.stderr)
    assert result.stdout == ""


def test_what_is_somebody_elses_stays(tmp_path: Path) -> None:
    trace, out = tmp_path / "t.jsonl", tmp_path / "out"
    trace.write_bytes(b"".join(run_lines("r", Component.TIMER, 60)))
    mine = {out / "results-mine", out / "staging-area", out / "results-0123"}
    for folder in mine:
        folder.mkdir(parents=True)
    left_behind = out / "staging-0123456789abcdef"
    left_behind.mkdir()
    assert run(trace, "--out", out).exit_code == 0
    assert not left_behind.exists(), "the control: what a killed check leaves is removed"
    trace.write_bytes(b"".join(run_lines("s", Component.TIMER, 60)))
    assert run(trace, "--out", out).exit_code == 0
    assert {each for each in out.iterdir() if each.is_dir()} == {*mine, read_results(out).folder}
    for content in ('{"mine":1}', "", '{"format":1,"model_version":"1","folder":"src"}'):
        (out / "manifest.json").write_text(content)
        before = sorted(out.iterdir())
        result = run(trace, "--out", out)
        assert getattr(result.exception, "exit_code", None) == 2
        assert "is none that a check has written: name another folder" in str(result.exception)
        assert (out / "manifest.json").read_text() == content
        assert sorted(out.iterdir()) == before


@pytest.mark.skipif(os.name == "nt", reason="there is no such folder")
def test_an_out_that_cannot_be_made_is_told(one_run: Path, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    result = run(one_run, "--out", tmp_path / "file" / "out")
    assert getattr(result.exception, "exit_code", None) == 3
    assert "cannot be made or written to (Not a directory)" in str(result.exception)
    assert "name another folder with --out" in str(result.exception)


@pytest.mark.verify
@pytest.mark.skipif(os.name == "nt", reason="there is no Ctrl-C to send")
def test_ctrl_c_leaves_the_previous_results(tmp_path: Path) -> None:
    small, large, out = tmp_path / "small.jsonl", tmp_path / "large.jsonl", tmp_path / "out"
    small.write_bytes(b"".join(run_lines("r", Component.TIMER, 60)))
    large.write_bytes(b"".join(run_lines("r", Component.TIMER, 150_000)))
    assert purgatory(tmp_path, "trace", "check", str(small), "--out", str(out)).returncode == 0
    before = read_results(out)
    words = [PURGATORY, "trace", "check", str(large), "--out", str(out)]
    with subprocess.Popen(
        words, stderr=subprocess.PIPE, text=True, preexec_fn=may_be_interrupted
    ) as process:
        while not list(out.glob("staging-*")):
            assert process.poll() is None
            time.sleep(0.05)
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=900)
    assert process.returncode == 130
    assert re.fullmatch(r"engine local: .*\s+purgatory: interrupted\n", said)
    assert read_results(out) == before
    assert len(list(out.iterdir())) == 3


def test_the_engine_is_chosen_by_size_and_by_what_is_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "t.jsonl"
    path.write_bytes(b"".join(run_lines("r", Component.TIMER, 1000)))
    (tmp_path / "t.jsonl.gz").write_bytes(b"x" * 1200)
    assert 700 < estimated_lines([str(path)]) < 1400
    assert estimated_lines([str(tmp_path / "t.jsonl.gz"), str(tmp_path / "gone")]) == 100
    files = [str(path)]
    assert choose("auto", files).engine is Engine.LOCAL
    assert choose("local", files) == (Engine.LOCAL, "as asked for")
    assert choose("auto", files, elsewhere="yarn") == (Engine.SPARK, "yarn is named")
    monkeypatch.setattr(engine_choice, "MOST_LOCAL_LINES", 100)
    monkeypatch.setattr(engine_choice, "preflight", lambda: None)
    taken = choose("auto", files)
    assert taken.engine is Engine.SPARK
    assert re.fullmatch(r"about [\d,]+ lines, 100 or more", taken.why)


def test_without_spark_auto_takes_the_local_engine_and_spark_is_refused(
    one_run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine_choice, "MOST_LOCAL_LINES", 10)

    def missing() -> None:
        raise Problem("Spark needs Java 17 or later: no java on PATH", 5)

    monkeypatch.setattr(engine_choice, "preflight", missing)
    taken = choose("auto", [str(one_run)])
    assert taken.engine is Engine.LOCAL
    assert "lines, but Spark needs Java 17 or later" in taken.why
    result = run(one_run, "--out", tmp_path / "out", "--engine", "spark")
    assert getattr(result.exception, "exit_code", None) == 5
    assert not (tmp_path / "out").exists()


@pytest.mark.spark
@pytest.mark.slow
def test_the_command_on_spark_gives_the_same_tables(
    corpus: tuple[Path, list[Expected]], tmp_path: Path, spark: object
) -> None:
    """Count the shuffle of the runs in the first stage, and the tables in the last ones."""
    here, there, metrics = tmp_path / "here", tmp_path / "there", tmp_path / "m.json"
    assert run(corpus[0], "--out", here).exit_code == 1
    on_spark = ("--out", there, "--engine", "spark", "--metrics", metrics)
    assert run(corpus[0], *on_spark).exit_code == 1
    one, other = read_results(here), read_results(there)
    assert (one.manifest.engine, other.manifest.engine) == ("local", "spark")
    assert all(one.table(table).equals(other.table(table)) for table in TableName)
    assert one.manifest.verdicts == other.manifest.verdicts

    stages = json.loads(metrics.read_bytes())["stages"]
    judging = [stage for stage in stages if stage["name"] == "judge runs"]
    assert [stage["rows_shuffled"] > 0 for stage in judging] == [True, False]
    assert judging[1]["rows_written"] > len(corpus[1])
    written = {stage["name"]: stage["rows_written"] for stage in stages if stage["rows_written"]}
    assert written["write verdicts"] == len(corpus[1])


def test_the_summary_in_json_says_what_the_tables_say(
    corpus: tuple[Path, list[Expected]], tmp_path: Path
) -> None:
    traces, expected = corpus
    result = run(traces, "--out", tmp_path, "--format", "json", "--metrics", tmp_path / "m.json")
    assert result.exit_code == 1
    found = json.loads(result.stdout)
    assert found["verdicts"] == {
        verdict.value: sum(each.verdict == verdict.value for each in expected)
        for verdict in RunVerdict
    }
    causes = Counter(each.rule for each in expected if each.rule)
    told: Counter[str] = Counter()
    for cause in found["causes"]:
        told[cause["rule"]] += cause["runs"]
        (example,) = cause["examples"]
        (planted,) = (each for each in expected if each.run == example["run"])
        assert (example["seq"], cause["rule"]) == (planted.seq, planted.rule)
    assert told == causes
    assert found["results"] == str(read_results(tmp_path).folder)
    metrics = json.loads((tmp_path / "m.json").read_bytes())
    assert metrics["bytes"] == sum(path.stat().st_size for path in traces.glob("*.jsonl"))
    assert (metrics["engine"], metrics["stages"]) == ("local", [])


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--conf", "spark.x"], "a setting of Spark is spark.NAME=VALUE"),
        (["--conf", "x=1"], "a setting of Spark is spark.NAME=VALUE"),
        (["--engine", "local", "--out", "s3a://b/out"], "--engine local has paths"),
    ],
)
def test_settings_and_addresses_that_cannot_be_meant(
    words: list[str], said: str, one_run: Path
) -> None:
    result = run(one_run, *words)
    assert result.exit_code == 2
    assert said in " ".join(result.output.split())


def test_paths_and_addresses_do_not_go_together(one_run: Path) -> None:
    with pytest.raises(Problem, match="name all of them alike"):
        CliRunner().invoke(
            check, [str(one_run), "s3a://bucket/in"], catch_exceptions=False, standalone_mode=False
        )


def test_a_path_that_looks_like_an_address_is_a_path(
    tmp_path: Path, one_run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "s3a:" / "in").mkdir(parents=True)
    one_run.rename(tmp_path / "s3a:" / "in" / "t.jsonl")
    result = run("s3a://in", "nightly:1", "--out", "out")
    assert result.exit_code != 0  # there is no nightly:1
    assert run("s3a://in", "--out", "nightly:1").exit_code == 0
    assert (tmp_path / "nightly:1" / "manifest.json").exists()


@pytest.mark.parametrize(
    "engine", ["local", pytest.param("spark", marks=[pytest.mark.spark, pytest.mark.verify])]
)
def test_a_second_check_judges_what_is_new(
    engine: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    if engine == "spark":
        request.getfixturevalue("spark")
    traces, first, second = (tmp_path / name for name in ("traces", "first", "second"))
    traces.mkdir()
    lines = {run: list(run_lines(run, Component.TIMER, 60)) for run in ("cut", "new", "old")}
    (traces / "a.jsonl").write_bytes(b"".join([*lines["old"], *lines["cut"][:30]]))
    asked = ("--engine", engine, "--out")
    assert run(traces, *asked, first).exit_code == 4
    (traces / "b.jsonl").write_bytes(b"".join([*lines["cut"][30:], *lines["new"]]))

    assert run(traces, *asked, second, "--since", first).exit_code == 0

    verdicts = read_results(second).table("verdicts").to_pylist()
    assert [(row["run"], row["verdict"], row["events"]) for row in verdicts] == [
        ("cut", "conforms", 60),
        ("new", "conforms", 60),
    ]
    assert run(traces, *asked, tmp_path / "all").exit_code == 0
    whole = read_results(tmp_path / "all").table("verdicts").to_pylist()
    assert [row for row in whole if row["run"] != "old"] == verdicts
    third = run(traces, *asked, tmp_path / "third", "--since", second)
    assert (third.exit_code, third.stdout) == (0, f"nothing is new since {second}\n")
    assert not (tmp_path / "third" / "manifest.json").exists()


def test_a_file_that_has_changed_is_new(tmp_path: Path, one_run: Path) -> None:
    assert run(one_run, "--out", tmp_path / "first").exit_code == 0
    one_run.write_bytes(one_run.read_bytes().replace(b'"delay_ms":3', b'"delay_ms":4', 1))
    os.utime(one_run, (1, 1))
    since = ("--since", tmp_path / "first")
    assert run(one_run, "--out", tmp_path / "second", *since).exit_code == 1
