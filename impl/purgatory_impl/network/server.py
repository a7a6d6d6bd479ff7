"""A server: a listening socket, network threads, a bounded queue of requests, handlers.

Two bounds hold. The pool bounds the bytes of requests, and channels that find nothing there wait.
The queue bounds their number: while it is full, network threads read no further request, but go on
writing responses, taking connections and noticing ends. A third bounds responses: those that peers
do not read.

An error at a connection closes that connection: a handler has raised, whatever it was, or given a
response that is no bytes, or memory could not be given back. The server logs the error, and counts
the closing in ``closed``. An error that ends a thread stops the server: the server takes no more
connections, answers the requests that were received, closes all connections, and ``wait`` and
``stop`` raise ``ServerFailed``.
"""

import errno
import itertools
import queue
import socket
import ssl
import threading
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from types import TracebackType
from typing import Final, Self

from purgatory_impl.clocks import Clock, MonotonicClock
from purgatory_impl.errors import InvalidConfiguration, ServerFailed
from purgatory_impl.network.channel import Channel, Request
from purgatory_impl.network.faults import report
from purgatory_impl.network.limits import NetworkLimits
from purgatory_impl.network.memory_line import MemoryLine
from purgatory_impl.network.network_thread import NetworkThread
from purgatory_impl.network.reasons import CloseReason, Mute
from purgatory_impl.network.unread_responses import UnreadResponses

_POLL_MS: Final = 300
_BACKLOG: Final = 1024
_ACCEPT_PAUSE_S: Final = 0.1
_DRAIN_MS: Final = 1000
_LOOKS_AGAIN_S: Final = 0.1
_NO_LISTENER: Final = {errno.EBADF, errno.EINVAL, errno.ENOTSOCK}
"""Errors of ``accept`` that do not pass: what it is called on listens no more."""


Handler = Callable[[Request], None]
"""Handles a request: reads the payload, and responds now or later, from any thread."""


class Server:
    """Requests of four bytes of size and a body, from sockets to a handler.

    The memory of a request goes back when the handler returns, or when it calls ``release`` before.
    A handler that raises is logged, and its connection is closed, also for ``SystemExit``.

    Attributes:
        address: Where the server listens: host and port.
        limits: The bounds of the server.
        line: The memory pool with the line of waiting channels before it.
    """

    def __init__(
        self,
        handler: Handler,
        limits: NetworkLimits,
        *,
        address: tuple[str, int] = ("127.0.0.1", 0),
        tls: ssl.SSLContext | None = None,
        network_threads: int = 1,
        handler_threads: int = 2,
        clock: Clock | None = None,
    ) -> None:
        """Listen, and take no connection before ``start``.

        Args:
            handler: Is called by handler threads, several at a time.
            limits: Sizes, times and the count bound.
            address: Host and port; port 0 is any that is free.
            tls: The server's side of TLS; plain without.
            network_threads: How many threads read and write.
            handler_threads: How many call the handler.
            clock: For the limits and for ``line``; a ``MonotonicClock`` when absent.

        Raises:
            InvalidConfiguration: a number of threads is below 1.
            OSError: the address cannot be listened on, or no descriptors are left.
        """
        if min(network_threads, handler_threads) < 1:
            raise InvalidConfiguration("a server has at least one network and one handler thread")
        clock = MonotonicClock() if clock is None else clock
        self.limits = limits
        self.line = MemoryLine(limits.memory_pool(), clock=clock)
        self._handler = handler
        self._tls = tls
        self._listener = socket.create_server(address, backlog=_BACKLOG)
        host, port = self._listener.getsockname()[:2]
        self.address: tuple[str, int] = (host, port)
        self._requests: queue.Queue[Request | None] = queue.Queue(limits.queued_requests)
        self._unread = UnreadResponses(limits.unread_response_bytes)
        self._threads: list[NetworkThread] = []
        try:
            for _ in range(network_threads):
                self._threads.append(
                    NetworkThread(self.line, limits, clock=clock, unread=self._unread)
                )
        except BaseException:
            self._listener.close()
            for thread in self._threads:
                thread.close()
            raise
        self._is_full = False
        self._untaken = 0
        self._failure: BaseException | None = None
        self._stopping = threading.Event()
        self._ends_s = 0.0
        self._acceptor = self._thread("acceptor", self._accept)
        self._readers = [
            self._thread(f"network-{number}", partial(self._network, thread))
            for number, thread in enumerate(self._threads)
        ]
        self._handlers = [
            self._thread(f"handler-{number}", self._handle) for number in range(handler_threads)
        ]

    @property
    def connections(self) -> int:
        """Return the number of open connections."""
        return sum(thread.connections for thread in self._threads)

    @property
    def closed(self) -> dict[CloseReason, int]:
        """Return the number of connections that were closed so far, for each reason."""
        counts = {
            reason: sum(thread.closed_counts[reason] for thread in self._threads)
            for reason in CloseReason
        }
        counts[CloseReason.FAILED] += self._untaken
        return counts

    @property
    def unread_response_bytes(self) -> int:
        """Return the bytes of the responses that sockets have not taken whole."""
        return self._unread.bytes_

    @property
    def queued(self) -> int:
        """Return the number of requests that wait for a handler."""
        return self._requests.qsize()

    def start(self) -> Self:
        """Start to take connections; a server starts once.

        Raises:
            RuntimeError: the server was started before, or the system gives no more threads; then
                it is stopped.
        """
        if self._acceptor.ident is not None:
            raise RuntimeError("this server was started before; make a new one")
        try:
            for thread in (*self._handlers, *self._readers, self._acceptor):
                thread.start()
        except BaseException:
            with suppress(ServerFailed):
                self.stop(0)
            raise
        return self

    def wait(self, timeout_s: float | None = None) -> bool:
        """Wait until the server stops, and return whether it does.

        Args:
            timeout_s: How long to wait at most, s; None is as long as it runs.

        Raises:
            ServerFailed: one of its threads has ended by an error, which is the cause.
        """
        is_stopping = self._stopping.wait(timeout_s)
        self._raise_failure()
        return is_stopping

    def stop(self, drain_ms: int = 1000) -> None:
        """Take no more connections and requests, answer what was received, and close.

        Waits for handlers that are at work. May be called again, and by a handler, whose own thread
        is not waited for.

        Args:
            drain_ms: How long responses are waited for, ms; then connections are closed.

        Raises:
            ServerFailed: one of its threads has ended by an error, which is the cause. All is
                closed and released all the same.
        """
        self._begin_to_stop(drain_ms)
        _join(self._acceptor)
        self._listener.close()
        for reader, thread in zip(self._readers, self._threads, strict=True):
            _join(reader)
            if reader.ident is None:
                thread.close()
        self._end_handlers()
        self._raise_failure()

    def __enter__(self) -> Self:
        """Start the server, and return the server itself."""
        return self.start()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Stop the server at the end of the block."""
        self.stop()

    def _thread(self, name: str, part: Callable[[], None]) -> threading.Thread:
        return threading.Thread(target=self._run, args=(part,), name=name)

    def _begin_to_stop(self, drain_ms: int) -> None:
        if self._stopping.is_set():
            return
        self._ends_s = time.monotonic() + drain_ms / 1000
        self._stopping.set()
        try:
            self._listener.shutdown(socket.SHUT_RDWR)  # ends ``accept`` on Linux
        except OSError:
            with suppress(OSError):  # the acceptor has closed the listener itself
                socket.create_connection(self.address).close()
        for thread in self._threads:
            thread.wake()

    def _run(self, part: Callable[[], None]) -> None:
        """Run a thread of the server; where it ends by an error the server stops and says so.

        To go on with fewer threads, or with a new one, would hide the error, and leave connections
        that nobody reads.
        """
        try:
            part()
        except BaseException as error:
            if self._failure is None:
                self._failure = error
            self._begin_to_stop(_DRAIN_MS)
            report("a thread of the server has ended; the server takes no connection", error)

    def _raise_failure(self) -> None:
        if self._failure is not None:
            failed = ServerFailed()
            failed.__cause__ = self._failure  # the compiled build knows no ``raise from``
            raise failed

    def _accept(self) -> None:
        threads = itertools.cycle(self._threads)
        try:
            while not self._stopping.is_set():
                try:
                    connection, _ = self._listener.accept()
                except (OSError, MemoryError) as error:
                    if self._stopping.is_set():
                        return
                    if isinstance(error, OSError) and error.errno in _NO_LISTENER:
                        raise
                    report("no connection can be taken", error)
                    self._stopping.wait(_ACCEPT_PAUSE_S)
                    continue
                if self._stopping.is_set():
                    connection.close()
                    return
                self._take(connection, next(threads))
        finally:
            self._listener.close()

    def _take(self, connection: socket.socket, thread: NetworkThread) -> None:
        """Give a connection to a network thread; an error closes it, and no other."""
        with suppress(OSError):  # the peer has gone already, which the network thread finds
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        try:
            thread.add(connection, self._tls)
        except Exception as error:
            self._untaken += 1
            report("a connection cannot be taken and is closed", error)

    def _network(self, thread: NetworkThread) -> None:
        pending: deque[Request] = deque()
        try:
            while True:
                if self._stopping.is_set() and self._is_drained(thread, pending):
                    break
                is_reading = not (pending or self._stopping.is_set())
                pending += thread.poll(_POLL_MS, is_reading=is_reading).received
                self._hand_on(pending)
        finally:
            for request in pending:
                _release(request, request.channel)
            thread.close()

    def _is_drained(self, thread: NetworkThread, pending: deque[Request]) -> bool:
        """Decide whether all requests of a thread have their responses, or the time is over."""
        if time.monotonic() >= self._ends_s:
            return True
        return not pending and not any(Mute.ORDER in each.mutes for each in thread.channels)

    def _hand_on(self, pending: deque[Request]) -> None:
        """Put requests into the queue until it is full; handlers then wake the thread.

        Rules: MUTING-BOTH-BOUNDS.
        """
        while pending:
            try:
                self._requests.put_nowait(pending[0])
            except queue.Full:
                if self._is_full:
                    return
                self._is_full = True  # and once more: a handler may have taken one in between
            else:
                pending.popleft()

    def _handle(self) -> None:
        while (request := self._requests.get()) is not None:
            if self._is_full:
                self._is_full = False
                for thread in self._threads:
                    thread.wake()
            channel = request.channel
            try:
                self._handler(request)
            except BaseException as error:  # a thread that serves others does not exit for one
                channel.close(CloseReason.HANDLER_FAILED)
                report("a handler has failed; the connection is closed", error)
            finally:
                _release(request, channel)
        with suppress(queue.Full):  # the next one ends by this, or by another that is there
            self._requests.put_nowait(None)

    def _end_handlers(self) -> None:
        """End handler threads behind the last request, and release what none of them has taken."""
        others = [each for each in self._handlers if each is not threading.current_thread()]
        for each in others:
            while each.is_alive():
                # Again and again: the queue may be full, or a handler thread may have failed with
                # the last end in its hand.
                with suppress(queue.Full):
                    self._requests.put_nowait(None)
                each.join(_LOOKS_AGAIN_S)
        if len(others) == len(self._handlers):
            while not self._requests.empty():
                request = self._requests.get_nowait()
                if request is not None:
                    _release(request, request.channel)


def _join(thread: threading.Thread) -> None:
    """Wait for a thread that was started, and is not the one that waits."""
    if thread.ident is not None and thread is not threading.current_thread():
        thread.join()


def _release(request: Request, channel: Channel) -> None:
    """Release a request that its handler has not released; an error closes its connection."""
    try:
        if not request.is_released:
            request.release()
    except BaseException as error:
        channel.close(CloseReason.HANDLER_FAILED)
        report("the memory of a request is lost; the connection is closed", error)
