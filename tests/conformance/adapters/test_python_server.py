"""The adapter template for a server that only has ports: right as it is, found out if broken."""

import importlib.util
import json
import re
import shutil
import socket
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from purgatory_conformance.resources import adapter_folder
from purgatory_conformance.running.campaign import SUITES
from purgatory_judge.registry import judged
from purgatory_spec.profiles import ChannelMutingObservable as Observable
from purgatory_spec.profiles import ChannelMutingProfile, Component
from tests.conformance.command import purgatory

from .adapter_process import Adapter

pytestmark = pytest.mark.verify

TEMPLATE = adapter_folder("python-server")
PAGES = Path(__file__).resolve().parents[3] / "docs/how-to"

ASKS = "        self.wait_for_memory(connection, size_bytes)\n"
WAITS = '            connection.waits_for = "memory"\n'
IN_LINE = "            connection, size_bytes = self.line[0]\n"
SERVES_LINE = "            self.available_bytes += size_bytes\n            self.serve_line()\n"

DEFECTS = {
    "the pool is never asked": (ASKS, ""),
    "who is refused is closed": (
        WAITS,
        "            if self.available_bytes <= 0:\n"
        '                raise ConnectionError("no memory")\n' + WAITS,
    ),
    "who came last is served first": (IN_LINE, "            self.line.rotate(1)\n" + IN_LINE),
    "a release serves nobody": (SERVES_LINE, SERVES_LINE.partition("\n")[0] + "\n"),
}
"""Each defect: a place of the server, and what becomes of it."""


@pytest.fixture
def adapter() -> Iterator[Adapter]:
    running = Adapter((sys.executable, str(TEMPLATE / "adapter.py")))
    yield running
    assert running.close() == 0


def causes(folder: Path) -> set[str]:
    """The rules that a check has found broken, with those that cases were blamed on before."""
    results = folder / "purgatory-work/naive-server/results.jsonl"
    lines = [json.loads(line) for line in results.read_text(encoding="utf-8").splitlines()]
    (footer,) = (line for line in lines if line["line"] == "footer")
    assert footer["verdict"] == "not conformant"
    found = [line for line in lines if line["line"] == "cause"]
    return {rule for line in found for rule in (line["rule"], *line.get("also", ()))}


def judged_of(profile: ChannelMutingProfile) -> set[str]:
    component = judged(Component.CHANNEL_MUTING)
    return {rule.id for rule in component.judged_rules(profile)}


def copied(folder: Path, old: str, new: str) -> Path:
    """A copy of the template, with one place of the server changed."""
    copy = folder / "server"
    shutil.copytree(TEMPLATE, copy, ignore=shutil.ignore_patterns("__pycache__"))
    text = (copy / "naive_server.py").read_text(encoding="utf-8")
    assert text.count(old) == 1
    (copy / "naive_server.py").write_text(text.replace(old, new), encoding="utf-8")
    return copy


def test_what_was_done_between_polls_shows_in_the_poll(adapter: Adapter) -> None:
    """The memory counts as back, and the next poll receives the second request."""
    adapter.new("channel_muting", limit_bytes=10, max_request_bytes=10)
    for name in ("c1", "c2"):
        adapter.do("connect", channel=name)
        adapter.do("announce", channel=name, size_bytes=10, sent_bytes=14)
        adapter.do("poll")
    released = adapter.do("release", buffer="c1#1")
    assert released == {"events": [], "observed": {"available_bytes": 10, "open": ["c1", "c2"]}}
    adapter.do("respond", channel="c1")
    polled = adapter.do("poll")
    assert polled["events"] == [{"kind": "received", "task": "c2#1"}]
    assert polled["observed"]["available_bytes"] == 0


def test_an_end_is_seen_by_the_client_that_has_hung_up(adapter: Adapter) -> None:
    adapter.new("channel_muting", limit_bytes=10, max_request_bytes=10)
    adapter.do("connect", channel="c1")
    adapter.do("hang_up", channel="c1")
    assert adapter.do("poll")["observed"]["open"] == []


def test_what_is_not_there_is_refused(adapter: Adapter) -> None:
    adapter.new("channel_muting", limit_bytes=10, max_request_bytes=10)
    assert adapter.do("release", buffer="c1#1")["rejected"] == "unknown_name"
    assert adapter.do("respond", channel="c1")["rejected"] == "unknown_name"
    assert "poll_while" in adapter.do("poll_while", request="c1#1")["unsupported"]


def test_the_doctor_finds_nothing_to_mend(tmp_path: Path) -> None:
    doctor = purgatory(tmp_path, "doctor", "naive-server")
    assert doctor.returncode == 0, doctor.stdout


def test_the_page_names_the_rules_that_the_template_is_judged_by(adapter: Adapter) -> None:
    """All rows but the last name its rules, and without the pool the first three do."""
    profile = msgspec.convert(
        adapter.ask("hello", protocol=1, suite="0", schema="0")["components"]["channel_muting"],
        ChannelMutingProfile,
    )
    page = (PAGES / "judge-a-server.md").read_text(encoding="utf-8")
    rows = [set(re.findall(r"MUTING-[A-Z-]+", row)) for row in page.splitlines() if row[0:1] == "|"]
    seen, promised, ended, pool, never = filter(None, rows)
    assert seen | promised | ended | pool == judged_of(profile)
    without = msgspec.structs.replace(profile, observables=frozenset({Observable.OPEN}))
    assert seen | promised | ended == judged_of(without)
    assert never
    assert never.isdisjoint(judged_of(profile))


@pytest.mark.slow
@pytest.mark.parametrize("seed", ["1", "2", "3"])
def test_the_template_is_conformant(seed: str, tmp_path: Path) -> None:
    """Given the template as it is: every rule that applies was put to the test and held."""
    finished = purgatory(tmp_path, "check", "naive-server", "--suite", "quick", "--seed", seed)
    assert finished.returncode == 0, finished.stdout + finished.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    ("defect", "tells_of_pool", "rule"),
    [
        ("the pool is never asked", True, "MUTING-ASK"),
        ("the pool is never asked", False, "MUTING-BOUND"),
        ("who is refused is closed", True, "MUTING-WAIT"),
        ("who is refused is closed", False, "MUTING-WAIT"),
        ("who came last is served first", True, "MUTING-FIRST-COME"),
        ("a release serves nobody", True, "MUTING-RECOVER"),
    ],
)
def test_a_planted_defect_is_blamed_on_its_rule(
    defect: str, tells_of_pool: bool, rule: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is not conformant, and the rule that the defect breaks is among the causes."""
    monkeypatch.setitem(SUITES, "quick", replace(SUITES["quick"], shrink_runs=40))
    copy = copied(tmp_path, *DEFECTS[defect])
    if not tells_of_pool:
        adapter = (copy / "adapter.py").read_text(encoding="utf-8")
        told = adapter.replace('["available_bytes", "open"]', '["open"]')
        assert told != adapter
        (copy / "adapter.py").write_text(told, encoding="utf-8")
    finished = purgatory(tmp_path, "check", str(copy), "--suite", "quick", "--seed", "1")
    assert finished.returncode == 1, finished.stdout + finished.stderr
    assert rule in causes(tmp_path)


def test_memory_that_cannot_be_had_is_given_back(monkeypatch: pytest.MonkeyPatch) -> None:
    spec = importlib.util.spec_from_file_location("naive_server", TEMPLATE / "naive_server.py")
    assert spec is not None
    assert spec.loader is not None
    naive_server = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(naive_server)

    def made(size_bytes: int) -> bytearray:
        if size_bytes > 4:
            raise MemoryError
        return bytearray(size_bytes)

    monkeypatch.setattr(naive_server, "bytearray", made, raising=False)
    server = naive_server.Server(100, 40, strict=False)
    client, connected = socket.socketpair()
    with client:
        connection = naive_server.Connection(connected, 1)
        server.connections.append(connection)
        client.sendall((40).to_bytes(4, "big"))
        with pytest.raises(MemoryError):
            server.serve(connection)
        seen = server.look()
        assert (seen["available_bytes"], seen["connections"][1]["waits_for"]) == (100, "closed")
        assert client.recv(1) == b""
