"""A released Kafka of one node on the loopback address, in a process and a folder of its own."""

import shutil
import socket
import subprocess
import time
from pathlib import Path

from purgatory_conformance.subjects.kafka import broker_jars
from tests.conformance.adapters.adapter_process import WORK_FOLDER
from tests.pipeline.ports import free_ports

_CLUSTER = "dG9waWNzLWluLXRlc3RzLi4"
"""16 bytes in Base64, as the storage tool wants them."""

SECONDS = 120
"""The longest time that a start, an end or a request may take."""

_TOPICS = Path(__file__).with_name("Topics.java")


class Broker:
    """A broker that is its own controller; topics are made, filled and truncated by a client."""

    def __init__(self, folder: Path) -> None:
        """Format the folder and start."""
        self._folder = folder
        self._java = (shutil.which("java") or "java", "-XX:+UseSerialGC", "-Xmx400m")
        self._class_path = f"{broker_jars(work_folder=WORK_FOLDER)}/*"
        port, controller = free_ports(2)
        self.server = f"127.0.0.1:{port}"
        settings = {
            "process.roles": "broker,controller",
            "node.id": "1",
            "controller.quorum.voters": f"1@127.0.0.1:{controller}",
            "controller.listener.names": "CONTROLLER",
            "listeners": f"PLAINTEXT://{self.server},CONTROLLER://127.0.0.1:{controller}",
            "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT",
            "log.dirs": str(folder / "log"),
            "offsets.topic.replication.factor": "1",
            "auto.create.topics.enable": "false",
        }
        self._settings = folder / "server.properties"
        self._settings.write_text("\n".join(f"{name}={value}" for name, value in settings.items()))
        format_it = ("kafka.tools.StorageTool", "format", "-t", _CLUSTER, "-c", self._settings)
        self._run(*format_it)
        self.start()

    def start(self) -> None:
        """Start, and wait until it answers."""
        with (self._folder / "broker.log").open("ab") as log:
            self._process = subprocess.Popen(
                [*self._java, "-cp", self._class_path, "kafka.Kafka", self._settings],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
            )
        host, port = self.server.split(":")
        give_up = time.monotonic() + SECONDS
        while True:
            assert self._process.poll() is None, (self._folder / "broker.log").read_text()
            assert time.monotonic() < give_up, "the broker does not answer"
            try:
                socket.create_connection((host, int(port)), SECONDS).close()
            except OSError:
                time.sleep(0.1)
            else:
                return

    def stop(self) -> None:
        """Stop; the topics stay."""
        self._process.terminate()
        try:
            self._process.wait(SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def topic(self, *words: object) -> None:
        """Do what ``Topics.java`` says."""
        self._run(_TOPICS, self.server, *words)

    def address(self, topic: str) -> str:
        """The address of a topic, as commands take it."""
        return f"kafka://{self.server}/{topic}"

    def _run(self, *words: object) -> None:
        command = [*self._java, "-cp", self._class_path, *map(str, words)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
