"""The same check where Spark is not started by us: under spark-submit, and on a Connect server."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from purgatory_conformance.problems import EXIT_INCONCLUSIVE, EXIT_INTERRUPTED, EXIT_SUBJECT_FAILED
from purgatory_lab.benchmarks.flipped_bits import lines_of_run, write_table
from purgatory_spec.profiles import Component
from purgatory_traces.engines.sinks import read_results
from purgatory_traces.results.schemas import TableName
from purgatory_traces.traces.synthetic import Expected, write_corpus
from tests.pipeline.ports import free_port, listens
from tests.pipeline.processes import may_be_interrupted

pytestmark = [
    pytest.mark.verify,
    pytest.mark.spark,
    pytest.mark.slow,
    pytest.mark.skipif(os.name == "nt", reason="Spark's programs are shell scripts"),
]

PURGATORY = [sys.executable, "-c", "from purgatory_conformance.command_line import main; main()"]
CONNECT_SERVER = "org.apache.spark.sql.connect.service.SparkConnectServer"
SECONDS = 900
ROOT = Path(__file__).resolve().parents[3]


def environment(folder: Path) -> dict[str, str]:
    """Python of these tests for the workers, loopback, and no log."""
    (folder / "conf").mkdir(exist_ok=True)
    logging = "status = OFF\nrootLogger.level = OFF\n"
    (folder / "conf" / "log4j2.properties").write_text(logging, encoding="utf-8")
    return {
        **os.environ,
        "PYSPARK_PYTHON": sys.executable,
        "PYSPARK_DRIVER_PYTHON": sys.executable,
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_CONF_DIR": str(folder / "conf"),
        "JDK_JAVA_OPTIONS": "-XX:TieredStopAtLevel=1",  # starts sooner, is slower later
    }


def spark_submit() -> str:
    import pyspark

    return str(Path(pyspark.__file__).parent / "bin" / "spark-submit")


def run(
    command: list[str], folder: Path, env: dict[str, str], seconds: int = SECONDS
) -> tuple[int, str]:
    with (folder / "output").open("w+b") as output:
        done = subprocess.run(
            command,
            cwd=folder,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            timeout=seconds,
            check=False,
        )
    return done.returncode, (folder / "output").read_text("utf-8")


def tables(out: Path) -> dict[TableName, list[dict[str, object]]]:
    results = read_results(out)
    return {table: results.table(table).to_pylist() for table in TableName}


@pytest.fixture
def expected(tmp_path: Path) -> list[Expected]:
    return write_corpus(tmp_path / "traces", 9, 60, faulty=2, files=2)


def assert_as_local(tmp_path: Path, expected: list[Expected]) -> None:
    """The results in ``out`` are those of the local engine, and as planted."""
    local = [*PURGATORY, "trace", "check", "--engine", "local", "--out", "local", "traces"]
    code, said = run(local, tmp_path, {**os.environ})
    assert code == 1, said
    found = tables(tmp_path / "out")
    assert found == tables(tmp_path / "local")
    verdicts = [(row["run"], row["verdict"], row["seq"]) for row in found[TableName.VERDICTS]]
    assert verdicts == [(run.run, run.verdict, run.seq) for run in expected]


@pytest.fixture
def installed(tmp_path: Path) -> Path:
    """A folder in which the package lies as its wheel has it, without what it needs."""
    python = [sys.executable, "-m"]
    build = [*python, "build", "--wheel", "--outdir", str(tmp_path / "dist"), str(ROOT)]
    code, said = run(build, tmp_path, {**os.environ})
    assert code == 0, said
    (wheel,) = (tmp_path / "dist").glob("*.whl")
    target = tmp_path / "installed"
    install = [*python, "pip", "install", "--no-deps", "--target", str(target), str(wheel)]
    code, said = run(install, tmp_path, {**os.environ})
    assert code == 0, said
    return target


def test_spark_submit_with_the_wheel(
    tmp_path: Path, expected: list[Expected], installed: Path
) -> None:
    env = {**environment(tmp_path), "PYTHONPATH": str(installed)}
    asked = "import purgatory_traces, purgatory_model; print(purgatory_traces.__file__)"
    code, said = run([sys.executable, "-c", asked], tmp_path, env)
    assert Path(said.strip()).is_relative_to(installed)
    jobs = installed / "purgatory_spark" / "engine" / "jobs.py"
    arguments = ["trace", "check", "--engine", "spark", "--out", "out", "traces"]
    submit = [spark_submit(), "--master", "local[1]", "--conf", "spark.ui.enabled=false"]
    code, said = run([*submit, str(jobs), *arguments], tmp_path, env)
    assert code == 1, said
    assert "engine spark" in said
    assert_as_local(tmp_path, expected)


@pytest.fixture(scope="module")
def connect_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a Connect server of our own, which is ended afterwards."""
    folder = tmp_path_factory.mktemp("server")
    port = free_port()
    settings = {
        "spark.master": "local[1]",
        "spark.ui.enabled": "false",
        "spark.driver.memory": "1g",
        "spark.connect.grpc.binding.address": "127.0.0.1",
        "spark.connect.grpc.binding.port": str(port),
    }
    confs = [f"--conf={name}={value}" for name, value in settings.items()]
    process = subprocess.Popen(
        [spark_submit(), "--class", CONNECT_SERVER, *confs, "spark-internal"],
        cwd=folder,
        env=environment(folder),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        until = time.monotonic() + SECONDS
        while not listens(port):
            assert process.poll() is None, "the server has ended"
            assert time.monotonic() < until, "the server does not listen"
            time.sleep(0.2)
        yield f"sc://127.0.0.1:{port}"
    finally:
        process.terminate()
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def test_connect_server(tmp_path: Path, connect_server: str, expected: list[Expected]) -> None:
    check = [*PURGATORY, "trace", "check", "--engine", "spark", "--remote", connect_server]
    code, said = run([*check, "--out", "out", "traces"], tmp_path, {**os.environ})
    assert code == 1, said
    assert "engine spark" in said
    assert_as_local(tmp_path, expected)


def test_a_connect_server_compares_the_checksums_of_parquet(
    tmp_path: Path, connect_server: str
) -> None:
    write_table(tmp_path, lines_of_run("a", Component.TIMER))
    check = [*PURGATORY, "trace", "check", "--engine", "spark", "--remote", connect_server]
    check += ["--out", "out", (tmp_path / "t.parquet").as_uri()]
    code, said = run(check, tmp_path, {**os.environ})
    assert code == 0, said
    content = bytearray((tmp_path / "t.parquet").read_bytes())
    of_lines = pq.read_metadata(tmp_path / "t.parquet").row_group(0).column(2)
    content[of_lines.dictionary_page_offset + of_lines.total_compressed_size // 2] ^= 1
    (tmp_path / "t.parquet").write_bytes(content)
    code, said = run(check, tmp_path, {**os.environ})
    assert code == EXIT_INCONCLUSIVE, said
    assert "could be read: it is damaged" in said


def test_ctrl_c_cancels_the_job_on_the_server(tmp_path: Path, connect_server: str) -> None:
    write_corpus(tmp_path / "large", 3, 20_000, faulty=0)
    write_corpus(tmp_path / "small", 3, 60, faulty=0)
    out = tmp_path / "out"
    check = [*PURGATORY, "trace", "check", "--engine", "spark", "--remote", connect_server]
    check += ["--out", str(out)]
    with subprocess.Popen(
        [*check, str(tmp_path / "large")],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        preexec_fn=may_be_interrupted,
    ) as process:
        try:
            until = time.monotonic() + SECONDS
            while not any(out.glob("staging-*/scratch/spark/*/_temporary")):
                assert process.poll() is None, process.communicate()
                assert time.monotonic() < until, "no job"
                time.sleep(0.05)
            process.send_signal(signal.SIGINT)
            said, _ = process.communicate(timeout=SECONDS)
        finally:
            process.kill()

    assert process.returncode == EXIT_INTERRUPTED
    first, *_, last = said.strip().splitlines()
    assert first.startswith("engine spark: ")
    assert last == "purgatory: interrupted"
    assert "Traceback" not in said
    assert not any(out.glob("results-*"))
    code, said = run([*check, "small"], tmp_path, {**os.environ})
    assert code == 0, said
    assert sorted(path.name[:8] for path in out.iterdir()) == [".lock", "manifest", "results-"]


WATCHED = """
import sys
from purgatory_spark.engine.session import spark_session
from purgatory_spark.engine.progress import run_watched

def adapts():
    return spark.conf.get("spark.sql.adaptive.enabled")

with spark_session(remote=sys.argv[1]) as spark:
    print("before", adapts(), flush=True)
    print("watched", run_watched(spark, adapts, tasks=1, label="asking"), flush=True)
"""


def test_what_is_watched_on_a_server_runs_without_adaptive_execution(
    tmp_path: Path, connect_server: str
) -> None:
    """Avoid the thread in which the last job is prepared, and which no cancellation reaches."""
    command = [sys.executable, "-c", WATCHED, connect_server]
    code, said = run(command, tmp_path, {**os.environ})
    assert (code, said.split()) == (0, ["before", "true", "watched", "false"]), said


def test_no_connect_server(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_bytes(b"{}\n")
    address = f"sc://127.0.0.1:{free_port()}"
    check = [*PURGATORY, "trace", "check", "--engine", "spark", "--remote", address, "a.jsonl"]
    code, said = run(check, tmp_path, {**os.environ})
    assert code == EXIT_SUBJECT_FAILED
    assert f"no Connect server answers at {address}" in said
    assert "Traceback" not in said
