"""Each way in which a thread of the server can meet an exception."""

# The first table has errors of one connection: it is closed, logged and counted, and others go on.
# The second has errors of a whole thread: the server takes no more connections, closes all, gives
# all memory back, and ``wait`` and ``stop`` raise the error. Neither ends in silence, and nobody
# hangs.

import asyncio
import errno
import gc
import logging
import pickle
import queue
import socket
import ssl
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import NoReturn, SupportsIndex

import pytest

from purgatory_impl import MonotonicClock
from purgatory_impl.errors import ServerFailed
from purgatory_impl.network import CloseReason, NetworkLimits, Request, Server
from purgatory_impl.network.faults import report
from purgatory_lab.benchmarks.network.serving import CountedPool
from tests.impl.network.serving import DESCRIPTORS, ask, dial, eventually, serving
from tests.impl.network.wire import bench, frame, tls_contexts
from tests.impl.threads import LONG_S

pytestmark = pytest.mark.usefixtures("no_thread_left")

LIMITS = NetworkLimits(1000, 100)
BAD_BYTES = 13
"""The size of the request that meets an error."""


class Unprintable(Exception):
    """An exception that cannot even be shown."""

    def __str__(self) -> str:
        raise SystemExit("no words")

    __repr__ = __str__


RAISED: list[Callable[[], BaseException]] = [
    lambda: ValueError("mine"),
    lambda: OSError(errno.EIO, "mine"),
    MemoryError,
    RecursionError,
    StopIteration,
    lambda: SystemExit(3),
    KeyboardInterrupt,
    GeneratorExit,
    asyncio.CancelledError,
    Unprintable,
]
raising = pytest.mark.parametrize("make", RAISED, ids=lambda make: type(make()).__name__)


class FaultyPool(CountedPool):
    """A pool that raises at buffers of one size, if it is told what."""

    def __init__(self) -> None:
        super().__init__(LIMITS.memory_pool())
        self.at_allocation: BaseException | None = None
        self.at_release: BaseException | None = None

    def try_allocate(self, bytes_: SupportsIndex) -> memoryview | None:
        if self.at_allocation is not None and bytes_ == BAD_BYTES:
            raise self.at_allocation
        return super().try_allocate(bytes_)

    def release(self, buffer: memoryview) -> None:
        bytes_ = len(buffer)
        super().release(buffer)
        if self.at_release is not None and bytes_ == BAD_BYTES:
            raise self.at_release


class FaultyClock(MonotonicClock):
    """A clock that raises from some moment on."""

    error: BaseException | None = None

    def now_ms(self) -> int:
        if self.error is not None:
            raise self.error
        return super().now_ms()


@dataclass
class Site:
    """A server, and what can be made to fail in it."""

    server: Server
    pool: FaultyPool
    clock: FaultyClock
    patch: pytest.MonkeyPatch
    kept: list[object] = field(default_factory=list)
    on_bad: Callable[[Request], object] = field(default=lambda request: request.respond(b"fine"))


@contextmanager
def site(patch: pytest.MonkeyPatch, *, tls: bool = False) -> Iterator[Site]:
    """A server that answers, and hands requests of ``BAD_BYTES`` to ``on_bad``."""
    clock = FaultyClock()
    made: list[Site] = []

    def handler(request: Request) -> None:
        if len(request.payload) == BAD_BYTES:
            made[0].on_bad(request)
        else:
            request.respond(b"fine")

    with serving(handler, LIMITS, clock=clock, tls=tls) as server:
        pool = FaultyPool()
        server.line.pool = pool
        made.append(Site(server, pool, clock, patch))
        yield made[0]


def is_closed(wire: socket.socket) -> bool:
    """Decide whether the server closes the connection, sooner or later."""
    with suppress(ConnectionResetError):
        while wire.recv(100):
            pass
    return True


def are_counted(at: Site, reason: CloseReason, count: int) -> bool:
    """Decide whether so many closings are counted for a reason, sooner or later."""
    return eventually(lambda: at.server.closed[reason] == count)


# One connection


def handler_closes_the_socket(at: Site, error: BaseException) -> None:
    def close(request: Request) -> None:
        request.channel.connection.shutdown(socket.SHUT_RDWR)
        request.channel.connection.close()
        request.respond(b"where to?")

    at.on_bad = close


def handler_raises(at: Site, error: BaseException) -> None:
    def throw(_: Request) -> None:
        raise error

    at.on_bad = throw


def handler_responds_and_raises(at: Site, error: BaseException) -> None:
    def throw(request: Request) -> None:
        request.respond(None)
        raise error

    at.on_bad = throw


def payload_stays_in_use(at: Site, error: BaseException) -> None:
    at.on_bad = lambda request: at.kept.extend((request, pickle.PickleBuffer(request.payload)))


def pool_raises_at_allocation(at: Site, error: BaseException) -> None:
    at.pool.at_allocation = error


def pool_raises_at_release(at: Site, error: BaseException) -> None:
    at.pool.at_release = error


@dataclass(frozen=True)
class OfOne:
    """An error of one connection, and as what its closing is counted."""

    cause: Callable[[Site, BaseException], None]
    reason: CloseReason
    makes: tuple[Callable[[], BaseException], ...] = tuple(RAISED)


FAILURES = tuple(make for make in RAISED if isinstance(make(), Exception))
ONLY_ONE = (RAISED[0],)

OF_ONE = (
    OfOne(handler_raises, CloseReason.HANDLER_FAILED),
    OfOne(handler_responds_and_raises, CloseReason.HANDLER_FAILED),
    OfOne(pool_raises_at_release, CloseReason.HANDLER_FAILED),
    OfOne(pool_raises_at_allocation, CloseReason.FAILED, FAILURES),
    OfOne(payload_stays_in_use, CloseReason.HANDLER_FAILED, ONLY_ONE),
)


@pytest.mark.parametrize(
    ("row", "make"),
    [
        pytest.param(row, make, id=f"{row.cause.__name__}-{type(make()).__name__}")
        for row in OF_ONE
        for make in row.makes
    ],
)
def test_an_error_of_one_connection_closes_it_alone(
    row: OfOne,
    make: Callable[[], BaseException],
    monkeypatch: pytest.MonkeyPatch,
    logged: pytest.LogCaptureFixture,
) -> None:
    """Each time its connection is closed, logged and counted, and all others are served."""
    with site(monkeypatch) as at:
        wires = [dial(at.server) for _ in range(4)]
        row.cause(at, make())
        for count in range(1, 6):
            with dial(at.server) as bad:
                bad.sendall(frame(BAD_BYTES) + b"x" * BAD_BYTES)
                assert is_closed(bad)
            assert are_counted(at, row.reason, count)
            assert [ask(wire, b"good") for wire in wires] == [b"fine"] * 4
        assert not at.server.wait(0)
        at.pool.at_allocation = at.pool.at_release = None
        for request in at.kept[::2]:
            assert isinstance(request, Request)
            del at.kept[at.kept.index(request) + 1]
            request.release()
        for wire in wires:
            wire.close()
        assert eventually(lambda: at.pool.available_bytes == LIMITS.limit_bytes)
    assert logged.text.count("Traceback") + logged.text.count("MemoryError") >= 5


def test_a_handler_that_closes_the_socket_itself_harms_no_other(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with site(monkeypatch) as at, dial(at.server) as good:
        handler_closes_the_socket(at, ValueError())
        for _ in range(5):
            with dial(at.server) as bad:
                bad.sendall(frame(BAD_BYTES) + b"x" * BAD_BYTES)
                assert is_closed(bad)
            assert ask(good, b"good") == b"fine"
        assert eventually(lambda: at.server.connections == 1)
        assert not at.server.wait(0)


def test_a_connection_that_cannot_be_taken_harms_no_other(
    monkeypatch: pytest.MonkeyPatch, logged: pytest.LogCaptureFixture
) -> None:
    """The former are served, the latter closed, logged and counted, and the client is served."""

    def refuse(*_: object) -> None:
        raise OSError(errno.EINVAL, "reset already")

    with site(monkeypatch) as at, dial(at.server) as good:
        assert ask(good, b"good") == b"fine"
        with monkeypatch.context() as patch:
            patch.setattr(socket.socket, "setsockopt", refuse, raising=False)
            with dial(at.server) as wire:
                assert ask(wire, b"good") == b"fine"
        at.server._tls = tls_contexts()[1]  # a client's
        for count in range(1, 4):
            with dial(at.server) as bad:
                assert is_closed(bad)
            assert are_counted(at, CloseReason.FAILED, count)
        at.server._tls = None
        with dial(at.server) as wire:
            assert ask(wire, b"good") == b"fine"
        assert ask(good, b"good") == b"fine"
    assert "a connection cannot be taken and is closed" in logged.text


def test_a_callback_of_the_tls_context_that_raises_harms_no_other(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    context = tls_contexts()[0]
    with site(monkeypatch, tls=True) as at, dial(at.server, tls=True) as good:

        def throw(*_: object) -> None:
            raise SystemExit("no name")

        monkeypatch.setattr(sys, "unraisablehook", lambda _: None)  # where ``ssl`` puts it
        context.sni_callback = throw
        try:
            with pytest.raises(ssl.SSLError):
                dial(at.server, tls=True)
        finally:
            context.sni_callback = None
        assert ask(good, b"good") == b"fine"
        assert eventually(lambda: at.server.closed[CloseReason.TLS_FAILED] == 1)


@pytest.mark.parametrize("error", [errno.EMFILE, errno.ENFILE, errno.ECONNABORTED, None])
def test_where_no_descriptor_is_left_connections_are_taken_later(
    error: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    refused = 0
    accept = socket.socket.accept

    def refuse(listener: socket.socket) -> object:
        nonlocal refused
        refused += 1
        if refused > 3:
            return accept(listener)
        raise MemoryError if error is None else OSError(error, "no room")

    monkeypatch.setattr(socket.socket, "accept", refuse)
    with site(monkeypatch) as at, dial(at.server) as wire:
        assert ask(wire, b"good") == b"fine"
    assert refused > 3


# The logger


class RaisingHandler(logging.Handler):
    """A handler of the logger that raises."""

    def __init__(self, error: BaseException) -> None:
        super().__init__()
        self._error = error

    def emit(self, _: logging.LogRecord) -> NoReturn:
        raise self._error


class RaisingFilter(logging.Filter):
    """A filter of the logger that raises."""

    def __init__(self, error: BaseException) -> None:
        super().__init__()
        self._error = error

    def filter(self, _: logging.LogRecord) -> NoReturn:
        raise self._error


@raising
@pytest.mark.parametrize(
    ("kind", "where"), [(RaisingHandler, "handlers"), (RaisingFilter, "filters")]
)
def test_a_logger_that_raises_harms_nobody(
    make: Callable[[], BaseException],
    kind: Callable[[BaseException], object],
    where: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Others are served, each failure is counted, and standard error has it."""
    logger = logging.getLogger("purgatory")
    monkeypatch.setattr(logger, "disabled", False)
    monkeypatch.setattr(logger, where, [kind(make())])
    monkeypatch.setattr(logger, "propagate", False)
    with site(monkeypatch) as at, dial(at.server) as good:
        handler_raises(at, ValueError("the handler's own"))
        for _ in range(5):
            with dial(at.server) as bad:
                bad.sendall(frame(BAD_BYTES) + b"x" * BAD_BYTES)
                assert is_closed(bad)
            assert ask(good, b"good") == b"fine"
        assert eventually(lambda: at.server.closed[CloseReason.HANDLER_FAILED] == 5)
    assert capsys.readouterr().err.count("ValueError: the handler's own") == 5


def test_without_logger_and_standard_error_nobody_is_harmed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(logging.getLogger("purgatory"), "filters", [RaisingFilter(SystemExit())])
    monkeypatch.setattr(sys, "stderr", None)
    report("nobody hears it", ValueError())


# A whole thread


class FaultyReadiness:
    """Sockets whose readiness cannot be asked for."""

    def __init__(self, error: BaseException) -> None:
        self._error = error

    def watch(self, connection: socket.socket, interest: int) -> NoReturn:
        raise self._error

    def change(self, connection: socket.socket, interest: int) -> NoReturn:
        raise self._error

    def forget(self, connection: socket.socket) -> NoReturn:
        raise self._error

    def wait(self, timeout_ms: int) -> NoReturn:
        raise self._error

    def close(self) -> NoReturn:
        raise self._error


def clock_raises(at: Site, error: BaseException) -> None:
    at.clock.error = error


def readiness_raises(at: Site, error: BaseException) -> None:
    thread = at.server._threads[0]
    at.kept.append(thread._readiness)
    thread._readiness = FaultyReadiness(error)
    thread.wake()


def queue_raises(at: Site, error: BaseException) -> None:
    get = queue.Queue.get

    def throw(self: queue.Queue[object], *_: object) -> object:
        got = get(self)
        if isinstance(got, Request):
            got.release()
        at.patch.setattr(queue.Queue, "get", get)
        raise error

    at.patch.setattr(queue.Queue, "get", throw)


def queue_takes_nothing(at: Site, error: BaseException) -> None:
    def throw(*_: object) -> None:
        raise error

    at.patch.setattr(at.server._requests, "put_nowait", throw)


def accept_raises(at: Site, error: BaseException) -> None:
    def throw(_: object) -> None:
        raise error

    at.patch.setattr(socket.socket, "accept", throw)


def stirred(at: Site) -> None:
    """Connections and requests, so that every thread goes round."""
    for _ in range(6):
        with suppress(OSError), socket.create_connection(at.server.address) as wire:
            wire.sendall(frame(4) + b"stir")


WHOLE: tuple[tuple[Callable[[Site, BaseException], None], Callable[[], BaseException]], ...] = (
    *((cause, make) for cause in (clock_raises, readiness_raises) for make in RAISED),
    *((cause, make) for cause in (queue_raises, queue_takes_nothing) for make in RAISED),
    (accept_raises, lambda: OSError(errno.EBADF, "not a listener")),
    *((accept_raises, make) for make in RAISED if not isinstance(make(), OSError | MemoryError)),
    *((pool_raises_at_allocation, make) for make in RAISED if make not in FAILURES),
)


@pytest.mark.parametrize(
    ("cause", "make"),
    [
        pytest.param(cause, make, id=f"{cause.__name__}-{type(make()).__name__}")
        for cause, make in WHOLE
    ],
)
def test_an_error_of_a_thread_stops_the_server_and_is_raised(
    cause: Callable[[Site, BaseException], None],
    make: Callable[[], BaseException],
    monkeypatch: pytest.MonkeyPatch,
    logged: pytest.LogCaptureFixture,
) -> None:
    """``wait`` raises it, nobody can connect any more, the connections are closed."""
    error = make()
    gc.collect()
    before = len(list(DESCRIPTORS.iterdir())) if DESCRIPTORS.is_dir() else 0
    problems: list[BaseException] = []
    with pytest.raises(ServerFailed):
        run_into(cause, error, monkeypatch, problems)
    assert problems == []
    gc.collect()
    assert not before or len(list(DESCRIPTORS.iterdir())) <= before
    assert "a thread of the server has ended" in logged.text


def run_into(
    cause: Callable[[Site, BaseException], None],
    error: BaseException,
    patch: pytest.MonkeyPatch,
    problems: list[BaseException],
) -> None:
    """Run a server into an error; leaving it raises, so its problems are kept beside."""
    with site(patch) as at:
        try:
            ends_by(cause, error, patch, at)
        except BaseException as problem:
            problems.append(problem)


def ends_by(
    cause: Callable[[Site, BaseException], None],
    error: BaseException,
    patch: pytest.MonkeyPatch,
    at: Site,
) -> None:
    wires = [dial(at.server) for _ in range(4)]
    for wire in wires:
        assert ask(wire, b"good") == b"fine"
    cause(at, error)
    stirred(at)
    for wire in wires[1:]:
        with suppress(OSError):
            wire.sendall(frame(BAD_BYTES) + b"x" * BAD_BYTES)
    with pytest.raises(ServerFailed, match="a thread of the server has ended") as failed:
        at.server.wait(LONG_S)
    assert failed.value.__cause__ is error
    at.clock.error = None  # the other threads end in order
    for wire in wires:
        with wire:
            assert is_closed(wire)
    assert eventually(lambda: not at.server._acceptor.is_alive())
    patch.undo()
    with pytest.raises(ConnectionRefusedError):
        dial(at.server)
    for _ in range(2):
        with pytest.raises(ServerFailed) as failed:
            at.server.stop()
        assert failed.value.__cause__ is error
    assert at.server.connections == at.server.queued == 0
    assert at.pool.available_bytes == LIMITS.limit_bytes
    for kept in at.kept:
        getattr(kept, "close", lambda: None)()


def test_when_all_handlers_have_ended_queued_requests_are_released(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """``stop`` returns, and the memory of all is back."""
    server = Server(lambda _: None, NetworkLimits(1000, 100, queued_requests=1))
    fail = threading.Event()

    def throw(*_: object, **__: object) -> NoReturn:
        fail.wait(LONG_S)
        raise SystemExit

    with monkeypatch.context() as patch:
        patch.setattr(server._requests, "get", throw)
        server.start()
        with dial(server) as first, dial(server) as second:
            for wire in (first, second):
                wire.sendall(frame(4) + b"good")
            assert eventually(lambda: server.line.pool.available_bytes == 1000 - 8)
            assert eventually(lambda: server.queued == 1)
            fail.set()
            assert eventually(lambda: not any(each.is_alive() for each in server._handlers))
            patch.undo()
            with pytest.raises(ServerFailed):
                server.stop()
    assert server.queued == 0
    assert server.line.pool.available_bytes == 1000


def test_readers_of_the_numbers_meet_no_error_while_connections_come_and_go() -> None:
    """No reading raises, and in the end the numbers are right."""
    is_over = threading.Event()
    failures: list[BaseException] = []

    def handler(request: Request) -> None:
        raise ValueError

    with serving(handler, LIMITS) as server:

        def read() -> None:
            try:
                while not is_over.is_set():
                    assert server.connections >= 0
                    assert sum(server.closed.values()) >= 0
                    assert server.unread_response_bytes == server.queued * 0
            except BaseException as failure:
                failures.append(failure)

        readers = [threading.Thread(target=read) for _ in range(2)]
        for reader in readers:
            reader.start()
        try:
            for _ in range(100):
                with dial(server) as wire:
                    wire.sendall(frame(4) + b"good")
                    assert is_closed(wire)
        finally:
            is_over.set()
            for reader in readers:
                reader.join()
        assert eventually(lambda: server.closed[CloseReason.HANDLER_FAILED] == 100)
    assert failures == []


# Starting, stopping, waiting


def test_a_server_that_was_never_started_can_be_stopped() -> None:
    server = Server(lambda _: None, LIMITS)
    server.stop()
    server.stop()
    assert server.wait(0)
    with pytest.raises(ConnectionRefusedError):
        dial(server)


def test_a_server_whose_threads_cannot_start_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    start = threading.Thread.start

    def refuse(thread: threading.Thread) -> None:
        if thread.name == "network-0":
            raise RuntimeError("can't start new thread")
        start(thread)

    server = Server(lambda _: None, LIMITS)
    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", refuse)
        with pytest.raises(RuntimeError, match="new thread"):
            server.start()
    with pytest.raises(ConnectionRefusedError):
        dial(server)


def test_a_server_starts_once_and_goes_on() -> None:
    with serving(lambda request: request.respond(b"fine"), LIMITS) as server:
        with pytest.raises(RuntimeError, match="started before"):
            server.start()
        with dial(server) as wire:
            assert ask(wire, b"good") == b"fine"


def test_a_handler_may_stop_the_server() -> None:
    def handler(request: Request) -> None:
        request.respond(b"the last")
        server.stop(0)

    with serving(handler, LIMITS) as server, dial(server) as wire:
        wire.sendall(frame(4) + b"stop")
        with suppress(ConnectionResetError):
            assert wire.recv(12) in {b"", frame(8) + b"the last"}
        assert server.wait(LONG_S)


def test_waiting_ends_with_the_server() -> None:
    with serving(lambda _: None, LIMITS) as server:
        assert not server.wait(0)
        waited: list[bool] = []
        waiting = threading.Thread(target=lambda: waited.append(server.wait()))
        waiting.start()
        server.stop()
        waiting.join(LONG_S)
        assert waited == [True]


# A network thread in the user's own loop


@raising
def test_what_ends_the_program_leaves_the_poll_and_loses_nothing(
    make: Callable[[], BaseException],
) -> None:
    """The first is closed, an exception that asks the program to end leaves the poll."""
    error = make()
    with bench(LIMITS.limit_bytes) as network:
        pool = FaultyPool()
        network.line.pool = pool
        pool.at_allocation = error
        bad, good = network.connect(), network.connect()
        bad.request(b"x" * BAD_BYTES)
        good.request(b"fine")
        if isinstance(error, Exception):
            network.complete(network.one())
        else:
            with pytest.raises(type(error)):
                network.poll()
            network.complete(network.one())
        assert network.closed == {1: CloseReason.FAILED}


def test_a_request_of_a_poll_that_was_left_is_released_by_closing() -> None:
    with bench(LIMITS.limit_bytes) as network:
        pool = FaultyPool()
        network.line.pool = pool
        pool.at_allocation = KeyboardInterrupt()
        bad, good = network.connect(), network.connect()
        bad.request(b"x" * BAD_BYTES)
        good.request(b"fine")
        with pytest.raises(KeyboardInterrupt):
            network.poll()
        assert pool.available_bytes == LIMITS.limit_bytes - 4


def test_a_connection_that_comes_after_the_end_is_closed() -> None:
    with bench() as network:
        network.thread.close()
        ours, theirs = socket.socketpair()
        channel = network.thread.add(ours)
        assert channel.is_closed
        assert theirs.recv(1) == b""
        theirs.close()
