"""A server on asyncio that is careful with memory, and cannot be: asyncio reads before it is asked.

A protocol of asyncio is given what has been read, up to 256 KiB at a time. This one asks the pool
as soon as it knows the size of a request, and pauses its transport when it is refused; by then the
body has left the socket, and lies in memory that nobody counts. It is judged over real sockets.

The loop runs only while the server is polled, and while a connection is made or closed; then no
transport reads.
"""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import cast

from purgatory_conformance.specimens.mutant import REGISTERED, Mutant
from purgatory_conformance.specimens.small.specimen import Refusal, Specimen, known
from purgatory_conformance.subjects.in_process import InProcessSubject
from purgatory_conformance.subjects.loopback import (
    CallOfClient,
    Client,
    HasDescriptor,
    PlainClient,
    act_as_client,
    unread_in,
)
from purgatory_conformance.subjects.sent_requests import SIZE_BYTES, SentRequests
from purgatory_judge.components import narrowed
from purgatory_spec import operations as op
from purgatory_spec import profiles
from purgatory_spec.messages import Implementation
from purgatory_spec.outcomes import Event, Value, received
from purgatory_spec.reasons import Reason

PROFILE = profiles.ChannelMutingProfile(
    recovery=profiles.Recovery.FIRST_COME,
    features=frozenset(
        {
            profiles.ChannelMutingFeature.PLAIN,
            profiles.ChannelMutingFeature.NON_STRICT,
            profiles.ChannelMutingFeature.RESPOND_FIRST,
            profiles.ChannelMutingFeature.CLOSE,
            profiles.ChannelMutingFeature.HANG_UP,
            profiles.ChannelMutingFeature.HALF_CLOSE,
        }
    ),
    observables=frozenset(profiles.ChannelMutingObservable)
    - {profiles.ChannelMutingObservable.DEPLETED_TIME},
)
"""The profile of the server: plain connections, and no limits of time."""

_QUIET_TURNS = 4
"""The turns of the loop without anything new that are the end of a poll."""


class _Server:
    """A non-strict pool, and the line of the channels that wait for memory."""

    def __init__(self, configuration: profiles.ChannelMutingConfiguration) -> None:
        self.available = configuration.limit_bytes
        self.most = configuration.max_request_bytes
        self.line: list[_Channel] = []
        self.received: list[tuple[_Channel, bytes]] = []

    def is_granted(self, channel: "_Channel", size: int) -> bool:
        """Decide whether there is memory; otherwise put the channel into the line."""
        if not size or (not self.line and self.available > 0):
            self.available -= size
            return True
        self.line.append(channel)
        return False

    def credit(self, size: int) -> None:
        """Give memory that comes back to the waiting channels."""
        self.available += size
        while self.line and self.available > 0:
            channel = self.line.pop(0)
            self.available -= channel.size or 0
            channel.has_memory = True


class _Channel(asyncio.Protocol):
    """A connection: what has been read of it, and how far its request is."""

    def __init__(self, server: _Server) -> None:
        self._server = server
        self.transport: asyncio.Transport | None = None
        self.read = bytearray()
        self.size: int | None = None
        self.has_memory = False
        self.is_ordered = False
        self.has_ended = False
        self.is_open = True

    @property
    def waits(self) -> bool:
        """Decide whether the channel stands in the line."""
        return self in self._server.line

    @property
    def may_read(self) -> bool:
        """Decide whether there is no reason against reading."""
        return self.is_open and not (self.waits or self.is_ordered or self.has_ended)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Note the connection that the loop has taken."""
        self.transport = cast("asyncio.Transport", transport)
        self.transport.pause_reading()

    def data_received(self, data: bytes) -> None:
        """Note bytes that the loop has read, whether or not there is memory."""
        self.read += data
        self.go_on()

    def eof_received(self) -> bool:
        """Note that the client sends no more; it may still be owed a response."""
        self.has_ended = True
        self.go_on()
        return True

    def connection_lost(self, error: Exception | None) -> None:
        """Note that the connection is broken."""
        self.end()

    def go_on(self) -> None:
        """Receive the next request, if it is there and has its memory."""
        if self.is_ordered or self.waits or not self.is_open:
            return
        if self.size is None and len(self.read) >= SIZE_BYTES:
            size = int.from_bytes(self.read[:SIZE_BYTES], "big", signed=True)
            if not 0 <= size <= self._server.most:
                self.end()
                return
            del self.read[:SIZE_BYTES]
            self.size = size
            self.has_memory = self._server.is_granted(self, size)
        if self.size is not None and self.has_memory and len(self.read) >= self.size:
            body = bytes(self.read[: self.size])
            del self.read[: self.size]
            self.size, self.has_memory, self.is_ordered = None, False, True
            self._server.received.append((self, body))
        elif self.has_ended and not self.waits:
            self.end()

    def end(self) -> None:
        """Close the connection; what it held comes back."""
        if not self.is_open:
            return
        self.is_open = False
        if self.transport is not None:
            self.transport.close()
        if self.waits:
            self._server.line.remove(self)
            self._server.credit(0)
        elif self.has_memory:
            self.has_memory = False
            self._server.credit(self.size or 0)


@dataclass(slots=True)
class _Connection:
    """Both sides of a connection, and what was sent on it."""

    client: Client
    channel: _Channel
    sent: SentRequests

    @property
    def is_open(self) -> bool:
        """Decide whether the server has not closed its side."""
        return self.channel.is_open

    @property
    def socket(self) -> HasDescriptor:
        """Return the server's end of the connection, a socket."""
        assert self.channel.transport is not None
        socket: HasDescriptor = self.channel.transport.get_extra_info("socket")
        return socket


class AsyncioServerInstance(Specimen):
    """Put the server behind the step vocabulary, with its clients."""

    def __init__(
        self, configuration: profiles.Configuration, profile: profiles.ChannelMutingProfile
    ) -> None:
        """Make a fresh server with a loop of its own, and listen."""
        super().__init__(profile)
        self._server = _Server(narrowed(configuration, profiles.ChannelMutingConfiguration))
        self._accepted: list[_Channel] = []
        self._loop = asyncio.new_event_loop()
        self._listener = self._loop.run_until_complete(
            self._loop.create_server(self._accept, "127.0.0.1", 0)
        )
        self._connections: dict[str, _Connection] = {}
        self._handled: dict[str, int] = {}

    def settle(self) -> None:
        """Hand the requests that were received to their handlers."""
        self.events += [self._event_of(*each) for each in self._server.received]
        self._server.received.clear()

    def close(self) -> None:
        """Break all connections, and end the loop."""
        for connection in self._connections.values():
            connection.client.abort()
            if connection.channel.transport is not None:
                connection.channel.transport.abort()
        self._listener.close()
        self._turn()
        self._loop.close()

    def _accept(self) -> _Channel:
        self._accepted.append(_Channel(self._server))
        return self._accepted[-1]

    def _turn(self) -> None:
        """Let the loop do once what is ready."""
        self._loop.run_until_complete(asyncio.sleep(0))

    def perform(self, operation: op.Operation) -> Value:
        """Carry out one operation, which has no result."""
        if isinstance(operation, CallOfClient):
            act_as_client(known(self._connections, operation.channel), operation)
            return None
        match operation:
            case op.Connect(name):
                self._connect(name)
            case op.Poll():
                self._poll()
            case op.Release(name):
                self._server.credit(known(self._handled, name))
                del self._handled[name]
            case op.Respond(name):
                self._respond(known(self._connections, name).channel)
            case op.Close(name):
                known(self._connections, name).channel.end()
                self._turn()
            case _:
                raise Refusal(Reason.UNSUPPORTED)
        return None

    def _connect(self, name: str) -> None:
        host, port = self._listener.sockets[0].getsockname()[:2]
        client, before = PlainClient((host, port)), len(self._accepted)
        while len(self._accepted) == before or self._accepted[-1].transport is None:
            self._turn()
        self._connections[name] = _Connection(client, self._accepted[-1], SentRequests(name))

    def _respond(self, channel: _Channel) -> None:
        channel.is_ordered = False
        if channel.is_open and channel.transport is not None:
            channel.transport.write(bytes(SIZE_BYTES))

    def _poll(self) -> None:
        """Let those read that may, until nothing happens any more."""
        quiet, before = 0, self._progress()
        while quiet < _QUIET_TURNS:
            for connection in self._connections.values():
                connection.channel.go_on()
                self._set_reading(connection.channel, is_reading=connection.channel.may_read)
            self._turn()
            after = self._progress()
            quiet = quiet + 1 if after == before else 0
            before = after
        for connection in self._connections.values():
            self._set_reading(connection.channel, is_reading=False)

    def _set_reading(self, channel: _Channel, *, is_reading: bool) -> None:
        transport = channel.transport
        if transport is None or transport.is_closing() or transport.is_reading() == is_reading:
            return
        if is_reading:
            transport.resume_reading()
        else:
            transport.pause_reading()

    def _progress(self) -> list[object]:
        channels = [each.channel for each in self._connections.values()]
        far = [(len(each.read), each.size, each.has_memory, each.is_open) for each in channels]
        return [len(self._server.received), self._server.available, *far]

    def _event_of(self, channel: _Channel, body: bytes) -> Event:
        connection = next(each for each in self._connections.values() if each.channel is channel)
        name = connection.sent.receive(body)
        self._handled[name] = len(body)
        return received(name)

    def show(self) -> Mapping[StrEnum, Value]:
        """Return all observables but the depleted time."""
        alive = {n: each for n, each in sorted(self._connections.items()) if each.is_open}
        channels = {name: each.channel for name, each in alive.items()}
        return {
            profiles.ChannelMutingObservable.AVAILABLE: self._server.available,
            profiles.ChannelMutingObservable.OPEN: tuple(alive),
            profiles.ChannelMutingObservable.WAITING: tuple(
                n for n, each in channels.items() if each.waits
            ),
            profiles.ChannelMutingObservable.ORDERED: tuple(
                name for name, each in channels.items() if each.is_ordered
            ),
            profiles.ChannelMutingObservable.HOLDING: tuple(
                name for name, each in channels.items() if each.has_memory
            ),
            profiles.ChannelMutingObservable.UNREAD: sum(
                each.sent.of_bodies(unread_in(each.socket)) for each in alive.values()
            ),
        }


def asyncio_server_subject(profile: profiles.ChannelMutingProfile = PROFILE) -> InProcessSubject:
    """Return the server on asyncio as a subject, which declares ``profile``."""
    return InProcessSubject(
        Implementation(name="a server on asyncio", language="Python"),
        {profiles.Component.CHANNEL_MUTING: profile},
        lambda configuration: AsyncioServerInstance(configuration, profile),
    )


REGISTERED.append(
    Mutant(
        "channels-asyncio-server",
        "A server on asyncio, which reads up to 256 KiB before the pool can refuse.",
        "MUTING-READ-AFTER-GRANT",
        ("MUTING-ONE-AT-A-TIME",),
        asyncio_server_subject,
    )
)
