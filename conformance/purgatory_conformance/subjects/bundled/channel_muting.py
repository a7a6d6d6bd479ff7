"""The bundled network thread behind the step vocabulary: one poll at a time, a virtual clock.

Connections are real, on the loopback interface; the clients live in the same thread as the server.
A step ends when the server's socket has what a client did, so that a poll finds it.
"""

import select
import socket
import ssl
import time
from collections.abc import Callable
from dataclasses import dataclass

from purgatory_conformance.subjects.loopback import (
    PATIENCE_S,
    CallOfClient,
    Client,
    HasDescriptor,
    act_as_client,
    client_of,
    server_context,
    unread_in,
)
from purgatory_conformance.subjects.other_thread import OtherThread
from purgatory_conformance.subjects.sent_requests import SentRequests
from purgatory_impl import PurgatoryError, SimpleMemoryPool, VirtualClock
from purgatory_impl.network import (
    Channel,
    MemoryLine,
    Mute,
    NetworkLimits,
    NetworkThread,
    Polled,
    Request,
)
from purgatory_impl.network.readiness import Readiness, system_readiness
from purgatory_judge.components import narrowed
from purgatory_spec import operations as op
from purgatory_spec import profiles
from purgatory_spec.outcomes import Event, Outcome, Value, received
from purgatory_spec.reasons import Reason

PROFILE = profiles.ChannelMutingProfile(
    recovery=profiles.Recovery.FIRST_COME,
    end_while_waiting=(
        profiles.EndWhileWaiting.AT_ONCE
        if hasattr(select, "epoll")
        else profiles.EndWhileWaiting.AFTER_RECOVERY
    ),
    features=frozenset(profiles.ChannelMutingFeature) - {profiles.ChannelMutingFeature.POLL_BESIDE},
    observables=frozenset(profiles.ChannelMutingObservable),
)
"""The profile of the bundled network: all that the suite can ask for but ``poll_beside``.

Python's TLS writes no record without data; the tests of the network write such records themselves.
"""

_RESPONSE = b""
_RESPONSE_BYTES = 4
_LONG_MS = 10_000


class _UnknownName(Exception):
    """A step names a channel or a request that is not there."""


@dataclass(slots=True)
class _Connection:
    """Both sides of a connection, and what was sent on it."""

    client: Client
    channel: Channel
    sent: SentRequests
    unanswered: Request | None = None
    """The request that was received last, until its response."""
    ending: op.Ending | None = None

    @property
    def is_open(self) -> bool:
        """Decide whether the server has not closed its side."""
        return not self.channel.is_closed

    @property
    def socket(self) -> HasDescriptor:
        """Return the server's end of the connection, a socket."""
        return self.channel.connection


class _InterruptedReadiness:
    """The system's readiness; another thread may do something while a poll waits for it."""

    def __init__(self) -> None:
        self._inner: Readiness = system_readiness()
        self.meanwhile: Callable[[], object] | None = None

    def watch(self, connection: socket.socket, interest: int) -> None:
        """Look at a socket from now on."""
        self._inner.watch(connection, interest)

    def change(self, connection: socket.socket, interest: int) -> None:
        """Look at it for something else."""
        self._inner.change(connection, interest)

    def forget(self, connection: socket.socket) -> None:
        """Look at it no longer."""
        self._inner.forget(connection)

    def wait(self, timeout_ms: int) -> list[tuple[int, int]]:
        """Return descriptors with what was found, after what another thread does in between."""
        meanwhile, self.meanwhile = self.meanwhile, None
        if meanwhile is not None:
            other = OtherThread(PATIENCE_S)
            other.call(meanwhile)
            other.end_step()
        return self._inner.wait(timeout_ms)

    def close(self) -> None:
        """Forget all sockets and close."""
        self._inner.close()


class ChannelMutingInstance:
    """A network thread with its pool, and the clients that steps have named."""

    def __init__(self, configuration: profiles.Configuration) -> None:
        """Make a fresh thread, and listen."""
        arguments = narrowed(configuration, profiles.ChannelMutingConfiguration)
        limits = NetworkLimits(
            arguments.limit_bytes,
            arguments.max_request_bytes,
            arguments.idle_limit_ms,
            arguments.receive_limit_ms,
        )
        self._pool = SimpleMemoryPool(
            arguments.limit_bytes, arguments.max_request_bytes, strict=arguments.strict
        )
        self._clock = VirtualClock()
        self._line = MemoryLine(self._pool, clock=self._clock)
        self._readiness = _InterruptedReadiness()
        self._thread = NetworkThread(
            self._line, limits, clock=self._clock, readiness=self._readiness
        )
        self._tls = arguments.tls
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._connections: dict[str, _Connection] = {}
        self._of_channel: dict[Channel, _Connection] = {}
        self._handled: dict[str, Request] = {}
        self._events: list[Event] = []

    def do(self, operation: op.Operation) -> Outcome:
        """Carry out one operation and return its outcome."""
        self._events.clear()
        rejected: Reason | None = None
        detail = ""
        try:
            self._perform(operation)
        except PurgatoryError as error:
            rejected, detail = error.reason, str(error)
        except _UnknownName:
            rejected = Reason.UNKNOWN_NAME
        except (OSError, ssl.SSLError) as error:
            rejected, detail = Reason.INTERNAL, repr(error)
        return Outcome(None, rejected, tuple(self._events), self._observe(), detail)

    def close(self) -> None:
        """Break all connections, and close the thread."""
        for connection in self._connections.values():
            connection.client.abort()
        self._thread.close()
        self._listener.close()

    def _perform(self, operation: op.Operation) -> None:
        if isinstance(operation, CallOfClient):
            connection = self._named(operation.channel)
            if isinstance(operation, op.HangUp):
                connection.ending = operation.ending
            act_as_client(connection, operation)
            return
        match operation:
            case op.Connect(name):
                self._connect(name)
            case op.Poll():
                self._poll_until_quiet()
            case op.PollWhile(name):
                request = self._no_longer_handled(name)
                self._readiness.meanwhile = lambda: self._release_and_wake(request)
                self._poll_once(_LONG_MS)
                self._poll_until_quiet()
            case op.Construct(limit_bytes, max_request_bytes):
                NetworkLimits(limit_bytes, max_request_bytes).memory_pool()
            case op.Elapse(to_ms):
                self._clock.set_ms(to_ms)
            case _:
                self._handle(operation)

    def _handle(self, operation: op.Operation) -> None:
        """Do an operation of a handler, or of the server; the thread then reads nothing."""
        match operation:
            case op.Release(name):
                self._no_longer_handled(name).release()
            case op.Respond(name):
                self._respond(self._named(name))
                return
            case op.Throttle(name):
                self._named(name).channel.throttle()
            case op.Unthrottle(name):
                self._named(name).channel.unthrottle()
            case op.Close(name):
                self._named(name).channel.close()
            case _:
                raise ValueError(f"a server has no such operation: {operation}")
        self._do_what_was_posted()

    def _connect(self, name: str) -> None:
        host, port = self._listener.getsockname()[:2]
        client = client_of((host, port), tls=self._tls)
        accepted, _ = self._listener.accept()
        channel = self._thread.add(accepted, server_context() if self._tls else None)
        connection = _Connection(client, channel, SentRequests(name))
        self._connections[name] = self._of_channel[channel] = connection
        is_done = not self._tls
        ends_s = time.monotonic() + PATIENCE_S
        while not is_done or (self._tls and not channel.is_ready):
            is_done = is_done or client.shake_hands()
            self._do_what_was_posted()
            if channel.is_closed or time.monotonic() > ends_s:
                raise TimeoutError("the handshake has not come to its end")
        self._do_what_was_posted()

    def _respond(self, connection: _Connection) -> None:
        """Answer the last request, if it is not answered; a client that is there reads it."""
        request, connection.unanswered = connection.unanswered, None
        if request is None:
            return
        request.respond(_RESPONSE)
        self._do_what_was_posted()
        is_heard = connection.ending in {None, op.Ending.HALF_CLOSE}
        if is_heard and connection.is_open:
            connection.client.receive(_RESPONSE_BYTES)

    def _release_and_wake(self, request: Request) -> None:
        request.release()
        self._thread.wake()

    def _do_what_was_posted(self) -> None:
        while self._take(self._thread.poll(0, is_reading=False)):
            pass  # the memory of a closed channel is handed on in the next turn

    def _poll_once(self, timeout_ms: int) -> bool:
        """Poll once; return whether it has received or closed."""
        return self._take(self._thread.poll(timeout_ms))

    def _poll_until_quiet(self) -> None:
        before = self._progress()
        while True:
            has_brought = self._poll_once(0)
            after = self._progress()
            if not has_brought and before == after and not self._thread.owes_a_turn:
                return
            before = after

    def _progress(self) -> list[tuple[int, ...]]:
        """Return the state of each open channel: a poll that finds no work leaves it unchanged."""
        return [
            (
                channel.reasons,
                channel.is_holding,
                len(channel.header),
                channel.filled,
                channel.transport.is_buffering,
                unread_in(channel.connection),
            )
            for channel in self._thread.channels
        ]

    def _take(self, polled: Polled) -> bool:
        for request in polled.received:
            connection = self._of_channel[request.channel]
            name = connection.sent.receive(bytes(request.payload))
            connection.unanswered = self._handled[name] = request
            self._events.append(received(name))
        return bool(polled.received or polled.closed)

    def _named(self, name: str) -> _Connection:
        if name not in self._connections:
            raise _UnknownName
        return self._connections[name]

    def _no_longer_handled(self, name: str) -> Request:
        if name not in self._handled:
            raise _UnknownName
        return self._handled.pop(name)

    def _observe(self) -> dict[str, Value]:
        open_ones = {n: each for n, each in sorted(self._connections.items()) if each.is_open}
        return {
            profiles.ChannelMutingObservable.AVAILABLE.value: self._pool.available_bytes,
            profiles.ChannelMutingObservable.OPEN.value: tuple(open_ones),
            profiles.ChannelMutingObservable.WAITING.value: _muted(open_ones, Mute.MEMORY),
            profiles.ChannelMutingObservable.ORDERED.value: _muted(open_ones, Mute.ORDER),
            profiles.ChannelMutingObservable.HOLDING.value: tuple(
                name for name, each in open_ones.items() if each.channel.is_holding
            ),
            profiles.ChannelMutingObservable.UNREAD.value: None
            if self._tls
            else sum(each.sent.of_bodies(unread_in(each.socket)) for each in open_ones.values()),
            profiles.ChannelMutingObservable.DEPLETED_TIME.value: self._line.depleted_ms,
        }


def _muted(connections: dict[str, _Connection], mute: Mute) -> tuple[str, ...]:
    return tuple(name for name, each in connections.items() if mute in each.channel.mutes)
