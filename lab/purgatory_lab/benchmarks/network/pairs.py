"""A server and its clients, each a process of its own; neither outlives the call."""

import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO

import msgspec

from purgatory_conformance.problems import EXIT_SUBJECT_FAILED, Problem
from purgatory_lab.benchmarks.network.messages import Ask, Serve, Served

_GRACE_S = 10.0
"""The time beyond its own patience that a process may take to start and to end, s."""


@dataclass(frozen=True)
class Certificates:
    """Files of TLS, PEM: the server's certificate and key, and whom clients trust."""

    server: Path
    authority: Path


def measure(
    task: Serve,
    python: str,
    certificates: Certificates | None,
    variables: Mapping[str, str] | None = None,
) -> Served:
    """Serve and ask, and what the server has measured of itself.

    Args:
        task: What the server does; its certificate is filled in here.
        python: The interpreter of the server: its build is the one that is measured.
        certificates: Of TLS; None is plain.
        variables: Of the server's environment.

    Raises:
        Problem: a process has failed or has not ended; the message ends with what it said last.
    """
    if certificates is not None:
        task = msgspec.structs.replace(task, certificate=str(certificates.server))
    with TemporaryFile() as said:
        server = _start(python, "serving", task, said, variables or {})
        clients = None
        try:
            assert server.stdout is not None
            port = server.stdout.readline()
            if not port:
                raise Problem(f"the server has failed: {_last_line(said)}", EXIT_SUBJECT_FAILED)
            ask = Ask(
                port=int(port),
                load=task.load,
                patience_s=task.patience_s,
                authority="" if certificates is None else str(certificates.authority),
            )
            clients = _start(sys.executable, "asking", ask, said, {})
            answer, _ = server.communicate(timeout=task.patience_s + _GRACE_S)
            failed = clients.wait(timeout=_GRACE_S) or server.returncode
        except subprocess.TimeoutExpired:
            raise Problem(f"no end: {_last_line(said)}", EXIT_SUBJECT_FAILED) from None
        finally:
            for process in (server, clients):
                if process is not None:
                    process.kill()
                    process.wait()
            if server.stdout is not None:
                server.stdout.close()
        if failed:
            raise Problem(f"a process has failed: {_last_line(said)}", EXIT_SUBJECT_FAILED)
    return msgspec.json.decode(answer, type=Served)


def _start(
    python: str,
    module: str,
    task: msgspec.Struct,
    said: IO[bytes],
    variables: Mapping[str, str],
) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [
            python,
            "-P",
            "-m",
            f"purgatory_lab.benchmarks.network.{module}",
            msgspec.json.encode(task).decode(),
        ],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE if module == "serving" else subprocess.DEVNULL,
        stderr=said,
        env={**os.environ, **variables},
        encoding="utf-8",
    )


def _last_line(said: IO[bytes]) -> str:
    said.seek(0)
    lines = said.read().decode(errors="replace").split("\n")
    return next((line.strip() for line in reversed(lines) if line.strip()), "it said nothing")
