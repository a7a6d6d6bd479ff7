"""The server's process: serves what comes on loopback, measures itself, and ends by itself.

    python -m purgatory_lab.benchmarks.network.serving '{"scene": ...}'

The first line that it prints is its port, the second what it has measured.
"""

import socket
import ssl
import sys
import threading
import time
from typing import SupportsIndex

import msgspec

from purgatory_impl import COMPILED, MemoryPool
from purgatory_impl.network import MemoryLine, NetworkLimits, NetworkThread, Request, Server
from purgatory_impl.network.readiness import READ, Readiness, system_readiness
from purgatory_lab.benchmarks.network.messages import Serve, Served
from purgatory_lab.benchmarks.python_peer.resident import peak_bytes, reset_peak, resident_bytes


class CountedPool:
    """Any pool, and beside it a count of the buffers that it has handed out and taken back.

    Attributes:
        out_bytes: What is out.
        most_bytes: The most that was out at a time.
    """

    def __init__(self, pool: MemoryPool) -> None:
        self._pool = pool
        self._lock = threading.Lock()
        self.out_bytes = 0
        self.most_bytes = 0

    def try_allocate(self, bytes_: SupportsIndex) -> memoryview | None:
        """Allocate from the pool, and count the bytes."""
        with self._lock:  # as one step: else the count lags behind a release
            buffer = self._pool.try_allocate(bytes_)
            if buffer is not None:
                self.out_bytes += buffer.nbytes
                self.most_bytes = max(self.most_bytes, self.out_bytes)
            return buffer

    def release(self, buffer: memoryview) -> None:
        """Release to the pool, and count the bytes."""
        with self._lock:
            size = buffer.nbytes
            self._pool.release(buffer)
            self.out_bytes -= size

    @property
    def size_bytes(self) -> int:
        """Return the size of the inner pool."""
        return self._pool.size_bytes

    @property
    def available_bytes(self) -> int:
        """Return the available bytes of the inner pool."""
        return self._pool.available_bytes

    @property
    def used_bytes(self) -> int:
        """Return the used bytes of the inner pool."""
        return self._pool.used_bytes

    @property
    def is_out_of_memory(self) -> bool:
        """Decide whether the inner pool is out of memory."""
        return self._pool.is_out_of_memory


class SpinningReadiness:
    """Never stops looking for bytes to read: a socket that is not read is ready in every poll.

    The control of the count of polls.
    """

    def __init__(self) -> None:
        self._inner: Readiness = system_readiness()

    def watch(self, connection: socket.socket, interest: int) -> None:
        """Watch as the system's readiness does."""
        self._inner.watch(connection, interest)

    def change(self, connection: socket.socket, interest: int) -> None:
        """Change the interest, and always add bytes to read."""
        self._inner.change(connection, interest | READ)

    def forget(self, connection: socket.socket) -> None:
        """Forget as the system's readiness does."""
        self._inner.forget(connection)

    def wait(self, timeout_ms: int) -> list[tuple[int, int]]:
        """Wait as the system's readiness does."""
        return self._inner.wait(timeout_ms)

    def close(self) -> None:
        """Close as the system's readiness does."""
        self._inner.close()


_POLL_MS = 300
_WARM_UP_SHARE = 10
"""The share of requests before the measured part, as one in so many."""
_STILL_S = 0.3
"""The time without another buffer after which all that can be had is taken, s."""
_PAUSE_S = 0.01


class OutOfPatience(Exception):
    """The clients have not come, have not sent what was expected, or have not left."""


def serve(task: Serve) -> Served:
    """Do what the task says.

    Raises:
        OutOfPatience: it took longer than the task allows.
    """
    limits = NetworkLimits(
        task.limit_bytes, max(1, task.load.body_bytes), queued_requests=task.queued_requests
    )
    tls = None
    if task.certificate:
        tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        tls.load_cert_chain(task.certificate)
    ends_s = time.monotonic() + task.patience_s
    if task.scene == "spike":
        return _spike(task, limits, tls, ends_s)
    line = MemoryLine(limits.memory_pool())
    readiness = SpinningReadiness() if task.spins else None
    thread = NetworkThread(line, limits, readiness=readiness)
    with socket.create_server(("127.0.0.1", 0), backlog=task.load.connections) as listener:
        _tell_port(listener.getsockname()[1])
        listener.settimeout(task.patience_s)
        for _ in range(task.load.connections):
            connection, _ = listener.accept()
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            thread.add(connection, tls)
    if task.scene == "idle":
        return _idle(task, line, thread, ends_s)
    return _throughput(task, line, thread, ends_s)


def _throughput(task: Serve, line: MemoryLine, thread: NetworkThread, ends_s: float) -> Served:
    """Answer each request in the poll that has received it."""
    total = task.load.total
    begin = total // _WARM_UP_SHARE
    received = polls = begun_polls = begun_at = begun_ns = 0
    begun_s = 0.0
    while received < total:
        polls += 1
        found = thread.poll(_POLL_MS).received
        if not found and (time.monotonic() >= ends_s or not thread.channels):
            raise OutOfPatience(f"{received} of {total} requests have come")
        received += len(found)
        while found:  # no request outlives its answer, so that no pool keeps memory longer
            request = found.pop()
            request.release()
            request.respond(b"")
            del request
        if received >= begin and not begun_ns:
            begun_at, begun_polls = received, polls
            begun_ns, begun_s = time.process_time_ns(), time.monotonic()
    thread.poll()  # writes the last responses
    cpu_ns, seconds = time.process_time_ns() - begun_ns, time.monotonic() - begun_s
    waiting = line.waiting
    _leave(thread, ends_s)
    return Served(
        is_compiled=COMPILED,
        requests=received - begun_at,
        cpu_s=cpu_ns / 1e9,
        seconds=seconds,
        polls=polls - begun_polls,
        waiting=waiting,
        left_bytes=line.pool.used_bytes,
    )


def _idle(task: Serve, line: MemoryLine, thread: NetworkThread, ends_s: float) -> Served:
    """Keep the first request, have all other connections wait, and count rounds for a while."""
    held: list[Request] = []
    others = task.load.connections - 1
    while line.waiting < others:
        held += thread.poll(_POLL_MS).received
        if time.monotonic() >= ends_s:
            raise OutOfPatience(f"{line.waiting} of {others} connections wait")
    begun_ns, begun_s = time.process_time_ns(), time.monotonic()
    polls = 0
    while time.monotonic() - begun_s < task.seconds:
        # The control: a poll does not wait while TLS has bytes, whether they may be read or not.
        spins = task.spins and any(each.transport.is_buffering for each in thread.channels)
        held += thread.poll(0 if spins else _POLL_MS).received
        polls += 1
    cpu_ns, seconds = time.process_time_ns() - begun_ns, time.monotonic() - begun_s
    waiting = line.waiting
    while held or line.waiting:
        for request in held:
            request.release()
            request.respond(b"")
        held = thread.poll(_POLL_MS).received
        if time.monotonic() >= ends_s:
            raise OutOfPatience(f"{line.waiting} connections wait for ever")
    _leave(thread, ends_s)
    return Served(
        is_compiled=COMPILED,
        requests=0,
        cpu_s=cpu_ns / 1e9,
        seconds=seconds,
        polls=polls,
        waiting=waiting,
        left_bytes=line.pool.used_bytes,
    )


def _spike(task: Serve, limits: NetworkLimits, tls: ssl.SSLContext | None, ends_s: float) -> Served:
    """Serve a spike: handlers stand still until all memory is taken; then they answer."""
    gate = threading.Event()
    answered: list[None] = []

    def handler(request: Request) -> None:
        gate.wait()
        answered.append(None)
        request.respond(b"")

    def wait_or_give_up(what: str) -> None:
        time.sleep(_PAUSE_S)
        if time.monotonic() >= ends_s:
            raise OutOfPatience(what)

    server = Server(handler, limits, tls=tls)
    counted = CountedPool(server.line.pool)
    server.line.pool = counted
    reset_peak()
    before_bytes = resident_bytes()[0]
    begun_ns, begun_s = time.process_time_ns(), time.monotonic()
    with server:
        _tell_port(server.address[1])
        try:
            seen, since_s = 0, time.monotonic()
            while not seen or time.monotonic() - since_s < _STILL_S:
                wait_or_give_up("no request has come")
                if counted.out_bytes != seen or server.connections < task.load.connections:
                    seen, since_s = counted.out_bytes, time.monotonic()
            waiting = server.line.waiting
            gate.set()
            while len(answered) < task.load.total or server.connections:
                wait_or_give_up(f"{len(answered)} of {task.load.total} requests are answered")
        finally:
            gate.set()
        cpu_ns, seconds = time.process_time_ns() - begun_ns, time.monotonic() - begun_s
        grown_bytes = peak_bytes() - before_bytes
    return Served(
        is_compiled=COMPILED,
        requests=len(answered),
        cpu_s=cpu_ns / 1e9,
        seconds=seconds,
        polls=0,
        most_bytes=counted.most_bytes,
        grown_bytes=grown_bytes,
        waiting=waiting,
        left_bytes=counted.out_bytes,
    )


def _leave(thread: NetworkThread, ends_s: float) -> None:
    """Wait until the clients have left."""
    while thread.channels:
        thread.poll(_POLL_MS)
        if time.monotonic() >= ends_s:
            raise OutOfPatience(f"{len(thread.channels)} connections stay")
    thread.close()


def _tell_port(port: int) -> None:
    print(port, flush=True)


if __name__ == "__main__":
    print(msgspec.json.encode(serve(msgspec.json.decode(sys.argv[1], type=Serve))).decode())
