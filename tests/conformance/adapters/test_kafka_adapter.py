"""Drive the Kafka adapter and its timer line by line: what it says of itself, odd cases."""

# The regular behaviour is judged by the campaigns of ``test_kafka_conformance``.

import os
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from purgatory_conformance.subjects import kafka as kafka_module
from purgatory_conformance.subjects.building import BuildFailed, MissingTool
from purgatory_conformance.subjects.kafka import KafkaMode, kafka_command

from .adapter_process import GREETINGS, WORK_FOLDER, Adapter, Reply, need_java_and_maven, started
from .releases import releases

pytestmark = [pytest.mark.verify, pytest.mark.java, pytest.mark.slow]

VERSIONS = releases("4.4.0", "4.0.0")
LARGEST_LONG = 2**63 - 1


@pytest.fixture(scope="module", params=VERSIONS)
def version(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def kafka(version: str) -> Iterator[Adapter]:
    yield from started(version, KafkaMode.VIRTUAL)


@pytest.fixture
def real_clock(version: str) -> Iterator[Adapter]:
    yield from started(version, KafkaMode.REAL_CLOCK)


@pytest.fixture
def mock_timer() -> Iterator[Adapter]:
    yield from started("4.3.0", KafkaMode.MOCK_TIMER)


def seen(
    size: int, queued: int, clock: int | str, buckets: int, expiry: int | str | None, levels: int
) -> Reply:
    return {
        "size": size,
        "queued": queued,
        "wheel_clock_ms": clock,
        "queued_buckets": buckets,
        "next_expiry_ms": expiry,
        "levels": levels,
    }


def expired(*tasks: str) -> list[Reply]:
    return [{"kind": "expired", "task": task} for task in tasks]


def ran(*tasks: str) -> list[Reply]:
    return [{"kind": "ran", "task": task} for task in tasks]


def rejected(task: str, reason: str) -> list[Reply]:
    return [{"kind": "rejected", "task": task, "reason": reason}]


# The virtual mode.


def test_introduces_itself_with_its_profile(kafka: Adapter, version: str) -> None:
    reply = kafka.ask("hello", protocol=1, suite="0.1.0", schema="")
    assert reply["implementation"].pop("runtime")
    assert reply["components"].pop("purgatory")
    assert reply["components"].pop("memory_pool")
    assert reply["components"].pop("channel_muting")
    assert reply == {
        "protocol": 1,
        "implementation": {**GREETINGS["implementation"], "version": version},
        "components": {"timer": GREETINGS["timer"]},
    }


def test_an_odd_wheel_size_overflows_the_stack(kafka: Adapter) -> None:
    kafka.new(wheel_size=3)
    reply = kafka.do("add", task="a", delay_ms=str(LARGEST_LONG))
    # How deep the recursion came depends on the machine.
    assert reply["observed"].pop("levels") > 100
    assert reply == {
        "rejected": "internal",
        "detail": "java.lang.StackOverflowError",
        "observed": {
            "size": 0,
            "queued": 0,
            "wheel_clock_ms": 0,
            "queued_buckets": 0,
            "next_expiry_ms": None,
        },
    }


def test_its_own_failures_are_errors(kafka: Adapter) -> None:
    kafka.new()
    assert kafka.do("add", delay_ms=1) == {"error": "'task' must be a string"}
    assert kafka.do("add", task="a", delay_ms=str(2**63)) == {
        "error": "'delay_ms' must be an integer of 64 bits"
    }
    assert kafka.ask("end") == {}
    assert kafka.do("run_one") == {"error": "there is no instance; ask for a new one first"}
    kafka.send("no JSON\r\n")
    assert kafka.receive() == {"id": 0, "error": "the line is not JSON"}


def test_answers_in_order_where_requests_are_sent_ahead(kafka: Adapter) -> None:
    count = 3000
    new = '{"request":"new","id":%d,"component":"timer","case":"a","configuration":{}}\r\n'
    add = '{"request":"do","id":%d,"operation":{"op":"add","task":"a","delay_ms":0}}\n'
    requests = "".join((new, add)[number % 2] % number for number in range(count))
    with ThreadPoolExecutor(1) as sender:
        sending = sender.submit(kafka.send, requests)
        replies = [kafka.receive() for _ in range(count)]
        sending.result()
    for number, reply in enumerate(replies):
        outcome = {"events": expired("a"), "observed": seen(0, 1, 0, 0, None, 1)}
        assert reply == {"id": number} | (outcome if number % 2 else {})


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="counts threads under /proc")
def test_a_former_instance_leaves_no_thread_behind(kafka: Adapter) -> None:
    def threads() -> int:
        return len(list(Path(f"/proc/{kafka.process.pid}/task").iterdir()))

    kafka.new()
    before = threads()
    for _ in range(300):
        kafka.new()
        kafka.do("add", task="a", delay_ms=0)
    # The virtual machine may start a thread or two of its own.
    assert threads() < before + 10


@pytest.mark.parametrize("ending", ['{"request":"stop","id":1}\n', ""])
def test_leaves_on_stop_and_at_the_end_of_input(version: str, ending: str) -> None:
    need_java_and_maven()
    command = kafka_command(version=version, work_folder=WORK_FOLDER)
    finished = subprocess.run(
        command, input=ending, capture_output=True, encoding="utf-8", timeout=300, check=False
    )
    assert (finished.returncode, finished.stdout) == (0, "")


@pytest.mark.parametrize("mode", [KafkaMode.VIRTUAL, KafkaMode.REAL_CLOCK])
def test_refuses_the_class_path_of_the_other_mode(version: str, mode: KafkaMode) -> None:
    need_java_and_maven()
    command = list(kafka_command(version=version, mode=mode, work_folder=WORK_FOLDER))
    position = command.index("-cp") + 1
    folders = command[position].split(os.pathsep)
    if mode is KafkaMode.VIRTUAL:
        folders.pop(0)
    else:
        folders.insert(0, str(Path(folders[0]).parent / "shadow"))
    command[position] = os.pathsep.join(folders)
    finished = subprocess.run(
        command, input="", capture_output=True, encoding="utf-8", timeout=300, check=False
    )
    assert (finished.returncode, finished.stdout) == (1, "")
    assert "the folder of the shadowing class" in finished.stderr


# The real clock.


def test_real_clock_runs_tasks_never_early_and_reports_them_with_times(real_clock: Adapter) -> None:
    hello = real_clock.ask("hello", protocol=1, suite="0.1.0", schema="")
    assert hello["components"] == {"timer": GREETINGS["timer on the real clock"]}
    real_clock.new()
    replies = {
        task: real_clock.do("add", task=task, delay_ms=delay)
        for task, delay in (("a", 20), ("b", 60), ("c", 600_000))
    }
    replies["cancel"] = real_clock.do("cancel", task="c")
    replies["wait"] = real_clock.do("wait", for_ms=1500)
    replies["again"] = real_clock.do("add", task="a", delay_ms=20)
    replies["wait again"] = real_clock.do("wait", for_ms=1000)
    events = [event for reply in replies.values() for event in reply.pop("events", ())]
    assert [sorted(reply) for reply in replies.values()] == [["called_ms", "returned_ms"]] * 7
    assert replies["wait"]["returned_ms"] - replies["wait"]["called_ms"] >= 1500
    expected = (("a", "a", 20), ("b", "b", 60), ("a", "again", 20))
    for event, (task, armed, delay) in zip(events, expected, strict=True):
        at_ms = event.pop("at_ms")
        assert event == {"kind": "ran", "task": task}
        assert replies[armed]["called_ms"] + delay <= at_ms <= replies["wait again"]["returned_ms"]
    assert real_clock.do("advance", to_ms=1) == {
        "unsupported": "there is no operation 'advance' here"
    }


# Kafka's MockTimer: another timer than SystemTimer in several ways.


def test_mock_timer_expires_after_the_expiry_and_runs_in_the_caller(mock_timer: Adapter) -> None:
    hello = mock_timer.ask("hello", protocol=1, suite="0.1.0", schema="")
    assert hello["implementation"]["version"] == "4.3.0"
    assert hello["components"] == {"timer": GREETINGS["mock timer"]}
    mock_timer.new(tick_ms=10, start_ms=1003)
    assert mock_timer.do("add", task="n", delay_ms=-3) == {
        "events": ran("n"),
        "observed": {"size": 0},
    }
    assert mock_timer.do("add", task="a", delay_ms=5) == {"observed": {"size": 1}}
    assert mock_timer.do("add", task="d", delay_ms=5) == {"observed": {"size": 2}}
    assert mock_timer.do("cancel", task="d") == {"observed": {"size": 1}}
    assert mock_timer.do("advance", to_ms=1008) == {"result": False, "observed": {"size": 1}}
    assert mock_timer.do("elapse", to_ms=1009) == {"observed": {"size": 1}}
    assert mock_timer.do("advance", to_ms=1009) == {
        "result": True,
        "events": ran("a"),
        "observed": {"size": 0},
    }


def test_mock_timer_lets_a_failing_task_break_the_pass(mock_timer: Adapter) -> None:
    mock_timer.new()
    mock_timer.do("add", task="a", delay_ms=1, script=[{"do": "throw"}])
    now = {"do": "add", "task": "now", "delay_ms": 0}
    late = {"do": "add", "task": "late", "delay_ms": 1}
    cancel = {"do": "cancel", "task": "c"}
    mock_timer.do("add", task="b", delay_ms=2, script=[now, late, cancel])
    mock_timer.do("add", task="c", delay_ms=3)
    assert mock_timer.do("advance", to_ms=9) == {
        "rejected": "internal",
        "detail": "purgatory.adapter.kafka.ScriptFailure",
        "events": ran("a"),
        "observed": {"size": 2},
    }
    assert mock_timer.do("advance", to_ms=9) == {
        "result": True,
        "events": ran("b", "now"),
        "observed": {"size": 1},
    }


# Building.


@pytest.fixture
def tools(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that is the whole search path."""
    if sys.platform == "win32":
        pytest.skip("plants scripts for tools, as POSIX has them")
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    return folder


def plant(folder: Path, tool: str, *lines: str) -> None:
    path = folder / tool
    path.write_text("\n".join((f"#!{sys.executable}", *lines)) + "\n")
    path.chmod(0o755)


@pytest.mark.parametrize(("present", "missing"), [((), "java"), (("java",), "mvn")])
def test_a_missing_tool_is_named(
    tools: Path, tmp_path: Path, present: tuple[str, ...], missing: str
) -> None:
    for tool in present:
        plant(tools, tool)
    with pytest.raises(MissingTool, match=f"'{missing}' is not installed: install ") as caught:
        kafka_command(work_folder=tmp_path)
    assert caught.value.tool == missing


def test_a_failing_build_shows_the_last_lines(tools: Path, tmp_path: Path) -> None:
    plant(tools, "java")
    plant(tools, "mvn", "print('\\n'.join(map(str, range(100))))", "raise SystemExit(3)")
    with pytest.raises(BuildFailed, match="Maven ended with exit code 3") as caught:
        kafka_command(work_folder=tmp_path)
    assert caught.value.output == "\n".join(map(str, range(70, 100)))
    assert [path.name for path in (tmp_path / "adapters").iterdir()] == ["kafka.lock"]


def test_builds_once_even_where_two_ask_at_the_same_time(tools: Path, tmp_path: Path) -> None:
    calls = tmp_path / "calls"
    plant(tools, "java")
    plant(
        tools,
        "mvn",
        "import pathlib, sys, time",
        f"with open({str(calls)!r}, 'a') as calls: print(*sys.argv[1:], file=calls)",
        "time.sleep(0.5)",
        "lib = pathlib.Path('target/lib')",
        "lib.mkdir(parents=True)",
        "(lib / 'a.jar').touch()",
    )
    ask = (
        "from pathlib import Path; from purgatory_conformance.subjects.kafka import *; "
        f"print(*kafka_command(version='4.1.0', work_folder=Path({str(tmp_path)!r})), sep='\\n')"
    )
    path = os.pathsep.join(str(Path(entry).resolve()) for entry in sys.path if entry)
    environment = {**os.environ, "PYTHONPATH": path}

    def answer(_: int) -> list[str]:
        finished = subprocess.run(
            (sys.executable, "-c", ask),
            env=environment,
            capture_output=True,
            encoding="utf-8",
            check=True,
        )
        return finished.stdout.splitlines()

    with ThreadPoolExecutor(2) as pool:
        first, second = pool.map(answer, range(2))
    target = tmp_path / "adapters" / "kafka-4.1.0" / "target"
    class_path = os.pathsep.join(
        map(str, (target / "shadow", target / "classes", target / "lib" / "a.jar"))
    )
    assert first == second
    assert (first[0], first[-3:]) == (
        str(tools / "java"),
        ["-cp", class_path, "purgatory.adapter.kafka.Main"],
    )
    assert calls.read_text().splitlines() == [
        "-B -q -ntp -Dstyle.color=never -Dkafka.version=4.1.0 test-compile"
    ]


def test_changed_sources_are_built_again(
    tools: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sources = tmp_path / "sources"
    (sources / "target").mkdir(parents=True)
    (sources / "pom.xml").write_text("one")
    monkeypatch.setattr(kafka_module, "_sources_folder", lambda: sources)
    plant(tools, "java")
    plant(tools, "mvn")
    kafka_command(work_folder=tmp_path)
    built = tmp_path / "adapters" / "kafka-4.4.0" / "pom.xml"
    (tools / "mvn").unlink()
    (sources / "target" / "left over").touch()
    kafka_command(work_folder=tmp_path)
    assert built.read_text() == "one"
    (sources / "pom.xml").write_text("two")
    with pytest.raises(MissingTool):
        kafka_command(work_folder=tmp_path)
    plant(tools, "mvn")
    kafka_command(work_folder=tmp_path)
    assert built.read_text() == "two"


@pytest.mark.parametrize("version", ["../4.4.0", "", "-X", "4.4.0 -X"])
def test_a_version_must_look_like_one(version: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="is not a Kafka release"):
        kafka_command(version=version, work_folder=tmp_path)


@pytest.mark.parametrize("mode", [KafkaMode.REAL_CLOCK, KafkaMode.MOCK_TIMER])
def test_older_releases_have_no_mode_of_the_timer_alone(mode: KafkaMode, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"before release 4\.0"):
        kafka_command(version="3.9.1", mode=mode, work_folder=tmp_path)
