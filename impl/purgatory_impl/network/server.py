"""A server: a listening socket, network threads, a bounded queue of requests, handlers.

Two bounds hold. The pool bounds the bytes of requests, and channels that find nothing there wait.
The queue bounds their number: while it is full, network threads read no further request, but go on
writing responses, taking connections and noticing ends.
"""

import itertools
import logging
import queue
import socket
import ssl
import threading
import time
from collections import deque
from collections.abc import Callable
from types import TracebackType
from typing import Final, Self

from purgatory_impl.clocks import Clock, MonotonicClock
from purgatory_impl.errors import InvalidConfiguration, InvalidRelease
from purgatory_impl.network.channel import Request
from purgatory_impl.network.limits import NetworkLimits
from purgatory_impl.network.memory_line import MemoryLine
from purgatory_impl.network.network_thread import NetworkThread
from purgatory_impl.network.reasons import Mute

_LOGGER: Final = logging.getLogger("purgatory")
_POLL_MS: Final = 300
_BACKLOG: Final = 1024
_ACCEPT_PAUSE_S: Final = 0.1

Handler = Callable[[Request], None]
"""Handles a request: reads the payload, and responds now or later, from any thread."""


class Server:
    """Requests of four bytes of size and a body, from sockets to a handler.

    The memory of a request goes back when the handler returns, or when it calls ``release`` before.
    A handler that raises is logged, and its connection is closed.

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
            OSError: the address cannot be listened on.
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
        self._threads = [
            NetworkThread(self.line, limits, clock=clock) for _ in range(network_threads)
        ]
        self._is_full = False
        self._stopping = threading.Event()
        self._ends_s = 0.0
        self._acceptor = threading.Thread(target=self._accept, name="acceptor")
        self._readers = [
            threading.Thread(target=self._network, args=(thread,), name=f"network-{number}")
            for number, thread in enumerate(self._threads)
        ]
        self._handlers = [
            threading.Thread(target=self._handle, name=f"handler-{number}")
            for number in range(handler_threads)
        ]

    @property
    def connections(self) -> int:
        """How many are open."""
        return sum(len(thread.channels) for thread in self._threads)

    @property
    def queued(self) -> int:
        """How many requests wait for a handler."""
        return self._requests.qsize()

    def start(self) -> Self:
        """Take connections."""
        for thread in (*self._handlers, *self._readers, self._acceptor):
            thread.start()
        return self

    def stop(self, drain_ms: int = 1000) -> None:
        """Take no more connections and requests, answer what was received, and close.

        Args:
            drain_ms: How long responses are waited for, ms; then connections are closed.
        """
        if self._stopping.is_set():
            return
        self._ends_s = time.monotonic() + drain_ms / 1000
        self._stopping.set()
        try:
            self._listener.shutdown(socket.SHUT_RDWR)  # ends ``accept`` on Linux
        except OSError:
            socket.create_connection(self.address).close()
        self._acceptor.join()
        self._listener.close()
        for thread in self._threads:
            thread.wake()
        for reader in self._readers:
            reader.join()
        for _ in self._handlers:
            self._requests.put(None)
        for handler in self._handlers:
            handler.join()

    def __enter__(self) -> Self:
        """Start."""
        return self.start()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Stop."""
        self.stop()

    def _accept(self) -> None:
        threads = itertools.cycle(self._threads)
        while not self._stopping.is_set():
            try:
                connection, _ = self._listener.accept()
            except OSError as error:
                if not self._stopping.is_set():
                    _LOGGER.warning("no connection can be taken: %s", error)
                    time.sleep(_ACCEPT_PAUSE_S)
                continue
            if self._stopping.is_set():
                connection.close()
                return
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            next(threads).add(connection, self._tls)

    def _network(self, thread: NetworkThread) -> None:
        pending: deque[Request] = deque()
        try:
            while not (self._stopping.is_set() and self._is_drained(thread, pending)):
                is_reading = not (pending or self._stopping.is_set())
                pending += thread.poll(_POLL_MS, is_reading=is_reading).received
                self._hand_on(pending)
        except Exception:
            _LOGGER.exception("a network thread has failed; its connections are closed")
        finally:
            thread.close()
            for request in pending:
                request.release()

    def _is_drained(self, thread: NetworkThread, pending: deque[Request]) -> bool:
        """Whether all requests of a thread have their responses, or the time is over."""
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
            try:
                self._handler(request)
            except Exception:
                _LOGGER.exception("a handler has failed; the connection is closed")
                request.channel.close()
            try:
                if not request.is_released:
                    request.release()
            except InvalidRelease:
                _LOGGER.exception("the memory of a request is lost; the connection is closed")
                request.channel.close()
