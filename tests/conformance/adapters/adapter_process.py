"""An adapter as a child process, driven line by line."""

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from purgatory_conformance.subjects.kafka import KafkaMode, kafka_command
from tests.known_cases import known_rows

WORK_FOLDER = Path(__file__).resolve().parents[3] / "purgatory-work"

Reply = dict[str, Any]
GREETINGS: dict[str, Reply] = {
    row["of"]: row["says"] for row in known_rows(Path(__file__).with_name("greetings.jsonl"))
}


class Adapter:
    """A child process and the lines exchanged with it."""

    def __init__(self, command: tuple[str, ...]) -> None:
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8"
        )
        self.last_id = 0

    def send(self, text: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(text)
        self.process.stdin.flush()

    def receive(self) -> Reply:
        assert self.process.stdout is not None
        reply: Reply = json.loads(self.process.stdout.readline())
        return reply

    def ask(self, request: str, **fields: object) -> Reply:
        self.last_id += 1
        self.send(json.dumps({"request": request, "id": self.last_id, **fields}) + "\n")
        reply = self.receive()
        assert reply.pop("id") == self.last_id
        return reply

    def new(self, component: str = "timer", **configuration: int | str) -> None:
        assert self.ask("new", component=component, case="a", configuration=configuration) == {}

    def do(self, op: str, **fields: object) -> Reply:
        return self.ask("do", operation={"op": op, **fields})

    def close(self) -> int:
        self.process.communicate(timeout=300)
        return self.process.returncode


def need_java_and_maven() -> None:
    missing = [tool for tool in ("java", "mvn") if shutil.which(tool) is None]
    if missing and os.environ.get("REQUIRE_JAVA") != "1":
        pytest.skip(f"not installed: {', '.join(missing)} (REQUIRE_JAVA=1 makes this a failure)")


def started(version: str, mode: KafkaMode) -> Iterator[Adapter]:
    need_java_and_maven()
    adapter = Adapter(kafka_command(version=version, mode=mode, work_folder=WORK_FOLDER))
    yield adapter
    assert adapter.close() == 0
