"""A small server whose channels wait for memory: the specimen that the suite is tried on.

It is written straight from the rules and shares nothing with the model or the implementation but
the types of the steps. It has no sockets: the bytes of a client lie in a list, one item for each
write. TLS is modelled by one property of it: a write is a record, which is taken from the socket
whole when its first byte is read. Every decision is one short method, so that a server with a
single fault is a subclass with a single override.
"""

from collections import deque
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from enum import StrEnum

import msgspec

from purgatory_conformance.specimens.small.specimen import Refusal, Specimen, known
from purgatory_conformance.subjects.in_process import InProcessSubject
from purgatory_conformance.subjects.sent_requests import SIZE_BYTES, SentRequests
from purgatory_spec import operations as op
from purgatory_spec import profiles
from purgatory_spec.messages import Implementation
from purgatory_spec.outcomes import Event, Value, received
from purgatory_spec.reasons import Reason

PROFILE = profiles.ChannelMutingProfile(
    recovery=profiles.Recovery.FIRST_COME,
    end_while_waiting=profiles.EndWhileWaiting.AT_ONCE,
    features=frozenset(profiles.ChannelMutingFeature),
    observables=frozenset(profiles.ChannelMutingObservable),
)
"""The profile of the small server: all that the suite can ask for."""

EVERYONE_PROFILE = msgspec.structs.replace(PROFILE, recovery=profiles.Recovery.EVERYONE)
"""The profile of a server where all that wait ask again, and newcomers with them."""


_TURN = 64
"""The most records or writes that are taken from a channel in a poll."""

_SUPPLY = 10_000
"""The records taken of a client that sends without end before the server is given up."""


class GivenUp(Exception):
    """The server has taken all records of a client that sends without end, and asks for more."""


@dataclass(frozen=True, slots=True)
class Habits:
    """Orders that the rules leave free, as the small server keeps them."""

    descending: bool = False
    """True if the channels that are ready are read from the youngest to the oldest."""
    grants_in_polls: bool = False
    """True if the next poll, and not the release, grants memory that comes back."""


@dataclass(eq=False, slots=True)
class Channel:
    """A connection: the bytes in its socket, its request, the reasons to read nothing."""

    name: str
    wire: deque[bytes] = field(default_factory=deque)
    """The writes that the server has not taken."""
    ending: op.Ending | None = None
    """The way in which the client has ended; None while it has not."""
    taken: bytes = b""
    """The bytes that TLS has taken from the socket and the server has not read."""
    head: bytes = b""
    """The bytes of size that were read of the present request."""
    size: int | None = None
    """The size of the present request, once it is known."""
    memory: int | None = None
    """The bytes of memory granted to the present request; None before a grant."""
    body: bytes = b""
    waits: bool = False
    is_ordered: bool = False
    is_throttled: bool = False
    is_open: bool = True
    supply: int | None = None
    """The records without data that may still be taken while the client sends without end."""
    handled: "Request | None" = None
    """The request that was received last."""
    active_ms: int = 0
    """The reading when bytes were last read or written or memory was granted, ms."""
    granted_ms: int = 0

    @property
    def unread(self) -> int:
        """Return the number of bytes that lie in the socket."""
        return sum(map(len, self.wire))

    @property
    def missing(self) -> int:
        """Return the number of bytes of the present body that have not been read."""
        return 0 if self.size is None else self.size - len(self.body)

    @property
    def must_ask(self) -> bool:
        """Decide whether the size of the present request is known, and memory not granted yet."""
        return self.size is not None and self.memory is None


@dataclass(eq=False, slots=True)
class Request:
    """A request that was received."""

    channel: Channel
    body: bytes
    memory: int
    is_released: bool = False


class SmallServer:
    """A server with its pool, its clock, and the sockets of its clients."""

    def __init__(
        self,
        configuration: profiles.ChannelMutingConfiguration,
        profile: profiles.ChannelMutingProfile,
        habits: Habits,
    ) -> None:
        """Make a server without connections."""
        self.limit = configuration.limit_bytes
        self.most = configuration.max_request_bytes
        self.strict = configuration.strict
        self.tls = configuration.tls
        self.idle_limit_ms = configuration.idle_limit_ms
        self.receive_limit_ms = configuration.receive_limit_ms
        self.first_come = profile.recovery is profiles.Recovery.FIRST_COME
        self.asks_with_bytes = profile.ask_again is profiles.AskAgain.WITH_BYTES
        self.ends_at_once = profile.end_while_waiting is profiles.EndWhileWaiting.AT_ONCE
        self.habits = habits
        self.available = self.limit
        self.channels: list[Channel] = []
        self.line: list[Channel] = []
        self.received: list[Request] = []
        self.has_done_something = False
        self.now_ms = 0
        self.waited_ms = 0
        self.waits_since_ms = 0

    # Connections

    def connect(self, channel: Channel) -> None:
        """Take a connection of a client."""
        channel.active_ms = self.now_ms
        self.channels.append(channel)

    def close(self, channel: Channel) -> None:
        """Close a connection, which then holds nothing."""
        self.has_done_something = True
        channel.is_open = False
        channel.wire.clear()
        channel.taken = b""
        self.leave(channel)
        self.give_back(channel)

    def leave(self, channel: Channel) -> None:
        """Leave the line of waiting channels."""
        channel.waits = False
        if channel in self.line:
            self.line.remove(channel)
            self.end_wait()
            self.memory_is_back()

    def give_back(self, channel: Channel) -> None:
        """Give back the memory of a request that will not be completed."""
        memory, channel.memory = channel.memory, None
        if memory is not None:
            self.credit(memory)

    # Memory

    def ask(self, channel: Channel, size: int) -> None:
        """Ask for the memory of a request whose size is known; else the channel waits."""
        if not size:
            channel.memory = 0
        elif self.must_stand_behind(channel) or not self.is_enough(size):
            self.refuse(channel)
        else:
            self.grant(channel, size)

    def must_stand_behind(self, channel: Channel) -> bool:
        """Decide whether other channels were refused before."""
        return self.first_come and bool(self.line)

    def is_enough(self, size: int) -> bool:
        """Decide whether the pool grants so many bytes."""
        return self.available >= size if self.strict else self.available > 0

    def memory_for(self, size: int) -> int:
        """Return the number of bytes granted to a request of this size."""
        return size

    def grant(self, channel: Channel, size: int) -> None:
        """Give the request its memory."""
        self.has_done_something = True
        channel.waits = False
        channel.memory = self.memory_for(size)
        self.debit(channel.memory)
        channel.granted_ms = self.now_ms
        self.renew_at_grant(channel)

    def renew_at_grant(self, channel: Channel) -> None:
        """Begin the idle time anew with the end of the wait."""
        self.is_active(channel)

    def debit(self, count: int) -> None:
        """Take bytes from the pool."""
        self.available -= count

    def credit(self, count: int) -> None:
        """Give bytes back to the pool."""
        self.available += count
        self.memory_is_back()

    def refuse(self, channel: Channel) -> None:
        """Let the channel wait for memory."""
        if not self.line:
            self.waits_since_ms = self.now_ms
        channel.waits = True
        self.line.append(channel)

    def end_wait(self) -> None:
        """End the time of waiting if the last channel has left the line."""
        if not self.line:
            self.waited_ms += self.now_ms - self.waits_since_ms

    # When memory comes back

    def memory_is_back(self) -> None:
        """Grant at once, where that is the habit."""
        if self.first_come and not self.habits.grants_in_polls:
            self.serve()

    def recover(self) -> None:
        """Look at the pool in a poll, and let waiting channels go on."""
        if self.first_come:
            self.serve()
        elif self.line and self.is_back():
            for channel in list(self.line):
                self.unmute(channel)

    def is_back(self) -> bool:
        """Decide whether a poll finds enough memory that the waiting channels ask again."""
        return self.available > 0

    def serve(self) -> None:
        """Grant memory to the channels of the line, in its order, until the pool refuses."""
        while self.line and self.is_enough(self.next_in_line().size or 0):
            channel = self.next_in_line()
            self.line.remove(channel)
            self.end_wait()
            self.grant(channel, channel.size or 0)

    def next_in_line(self) -> Channel:
        """Return the channel that has memory first."""
        return self.line[0]

    def unmute(self, channel: Channel) -> None:
        """Let a channel ask once more."""
        channel.waits = False
        self.line.remove(channel)
        self.end_wait()
        self.renew_at_grant(channel)

    # Polls

    def poll(self, meanwhile: Callable[[], None] | None = None) -> None:
        """Poll until a poll finds nothing to do; ``meanwhile`` happens once, during the select."""
        while True:
            self.has_done_something = False
            self.recover()
            if meanwhile is not None:
                meanwhile()
                meanwhile = None
                self.has_done_something = True
            for channel in self.select():
                if channel.is_open:
                    self.attend(channel)
            self.expire()
            if not self.has_done_something:
                return

    def select(self) -> Iterable[Channel]:
        """Return the channels that are ready, in the order in which they are read."""
        ready = [each for each in self.channels if each.is_open and self.is_ready(each)]
        return reversed(ready) if self.habits.descending else ready

    def is_ready(self, channel: Channel) -> bool:
        """Decide whether there are bytes to read, or an end, or memory to ask for."""
        in_socket = channel.wire or channel.ending or channel.supply is not None
        must_ask = channel.must_ask and not self.asks_with_bytes
        return bool(in_socket or must_ask or self.has_buffered(channel))

    def has_buffered(self, channel: Channel) -> bool:
        """Decide whether TLS has taken bytes that were not read."""
        return bool(channel.taken)

    def is_muted(self, channel: Channel) -> bool:
        """Decide whether a reason mutes the channel."""
        return channel.waits or channel.is_ordered or channel.is_throttled

    def attend(self, channel: Channel) -> None:
        """Read from a channel that is ready, if nothing speaks against it."""
        if not self.is_muted(channel):
            self.read(channel)
        elif channel.must_ask and not channel.waits:  # throttled meanwhile: to ask is not to read
            self.ask(channel, channel.size or 0)
        if channel.waits and channel.ending and self.is_hopeless(channel):
            self.close(channel)

    def is_hopeless(self, channel: Channel) -> bool:
        """Decide whether the end of a waiting channel is noticed: its request is hopeless."""
        return self.ends_at_once and not self.tls and channel.unread < channel.missing

    # Reading

    def read(self, channel: Channel) -> None:
        """Go on with the present request."""
        if channel.size is None and not self.read_size(channel):
            return
        size = channel.size or 0
        if channel.memory is None and self.asks_now(channel):
            self.ask(channel, size)
        if channel.memory is None:
            return
        part = self.take(channel, channel.missing)
        channel.body += part
        if len(channel.body) == size:
            self.receive(channel, size)
        elif channel.ending and not part:
            self.end(channel)

    def read_size(self, channel: Channel) -> bool:
        """Read what is missing of the four bytes of size; whether the size is there and right."""
        part = self.take(channel, SIZE_BYTES - len(channel.head))
        channel.head += part
        if len(channel.head) < SIZE_BYTES:
            if channel.ending and not part:
                self.end(channel)
            return False
        size = int.from_bytes(channel.head, "big", signed=True)
        if not self.is_possible(size):
            self.turn_away(channel, size)
            return False
        channel.head = b""
        channel.size = size
        return True

    def is_possible(self, size: int) -> bool:
        """Decide whether a request may have this size."""
        return 0 <= size <= self.most

    def turn_away(self, channel: Channel, size: int) -> None:
        """Turn away a channel that has announced a request of an impossible size."""
        self.close(channel)

    def asks_now(self, channel: Channel) -> bool:
        """Decide whether a request whose size is known asks for memory."""
        return True

    def take(self, channel: Channel, most: int) -> bytes:
        """Take up to so many bytes, from TLS or the socket."""
        found = channel.taken[:most]
        channel.taken = channel.taken[most:]
        for _ in self.records_of_a_turn():
            record = self.next_record(channel) if len(found) < most else None
            if record is None:
                break
            wanted = most - len(found)
            found += record[:wanted]
            self.put_back(channel, record[wanted:])
        if found:
            self.has_done_something = True
            self.is_active(channel)
        return found

    def records_of_a_turn(self) -> Iterable[int]:
        """Count the records that are taken from a channel before the others have their turn."""
        return range(_TURN)

    def next_record(self, channel: Channel) -> bytes | None:
        """Return the next write that has come; None where none has."""
        if channel.wire:
            return channel.wire.popleft()
        if channel.supply is None:
            return None
        if not channel.supply:
            raise GivenUp
        channel.supply -= 1
        return b""

    def put_back(self, channel: Channel, rest: bytes) -> None:
        """Put the rest of a write back into the socket, but under TLS keep it."""
        if self.tls:
            channel.taken = rest
        elif rest:
            channel.wire.appendleft(rest)

    def receive(self, channel: Channel, size: int) -> None:
        """Hand on a request that is whole."""
        self.has_done_something = True
        self.hand_on(channel, channel.body)
        channel.size = None
        channel.memory = None
        channel.body = b""
        channel.is_ordered = True

    def hand_on(self, channel: Channel, body: bytes) -> None:
        """Give a request to its handler, with its memory."""
        channel.handled = Request(channel, body, channel.memory or 0)
        self.received.append(channel.handled)

    def end(self, channel: Channel) -> None:
        """Close a channel whose client has ended."""
        self.close(channel)

    # Requests

    def release(self, request: Request) -> None:
        """Give the memory of a handled request back."""
        request.is_released = True
        self.credit(request.memory)

    def respond(self, channel: Channel) -> None:
        """Write the response, and let the channel go on."""
        channel.is_ordered = False
        self.is_active(channel)

    def throttle(self, channel: Channel) -> None:
        """Read nothing of a channel for a time."""
        channel.is_throttled = True

    def unthrottle(self, channel: Channel) -> None:
        """End the throttling of a channel."""
        channel.is_throttled = False
        self.is_active(channel)

    # Time

    def is_active(self, channel: Channel) -> None:
        """Note a sign of life of a channel."""
        channel.active_ms = self.now_ms

    def expire(self) -> None:
        """Close those whose time is over."""
        for channel in [each for each in self.channels if each.is_open]:
            if self.is_idle(channel) or self.is_slow(channel):
                self.close(channel)

    def is_idle(self, channel: Channel) -> bool:
        """Decide whether a channel has been idle beyond the limit."""
        if not self.idle_limit_ms or not self.can_be_idle(channel):
            return False
        return self.now_ms - channel.active_ms > self.idle_limit_ms

    def can_be_idle(self, channel: Channel) -> bool:
        """Decide whether the client has to go on."""
        return not self.is_muted(channel)

    def is_slow(self, channel: Channel) -> bool:
        """Decide whether a channel holds memory for longer than the limit."""
        if not self.receive_limit_ms or not channel.memory:
            return False
        return self.now_ms - channel.granted_ms > self.receive_limit_ms

    # What is shown

    def shown_waiting(self, channel: Channel) -> bool:
        """Decide whether a channel waits for memory."""
        return channel.waits

    def depleted_ms(self) -> int:
        """Return how long channels have waited, ms."""
        return self.waited_ms + (self.now_ms - self.waits_since_ms if self.line else 0)

    def check_limits(self, limit: int, most: int) -> None:
        """Raise ``Refusal`` for limits that no server can have."""
        if most < 1 or 0 < limit < most:
            raise Refusal


MakeServer = Callable[
    [profiles.ChannelMutingConfiguration, profiles.ChannelMutingProfile, Habits], SmallServer
]


class SmallServerInstance(Specimen):
    """Put a small server behind the step vocabulary, with its clients and its handlers."""

    def __init__(self, server: SmallServer, profile: profiles.ChannelMutingProfile) -> None:
        """Begin without any connection of a client."""
        super().__init__(profile)
        self._server = server
        self._channels: dict[str, Channel] = {}
        self._sent: dict[str, SentRequests] = {}
        self._handled: dict[str, Request] = {}

    def settle(self) -> None:
        """Hand the requests that were received to their handlers."""
        self.events += [self._event_of(request) for request in self._server.received]
        self._server.received.clear()

    def perform(self, operation: op.Operation) -> Value:
        """Carry out one operation, which has no result."""
        server = self._server
        match operation:
            case op.Connect(name):
                self._channels[name] = Channel(name)
                self._sent[name] = SentRequests(name)
                server.connect(self._channels[name])
            case op.Announce(name, size_bytes, sent_bytes):
                self._write(name, known(self._sent, name).announce(size_bytes, sent_bytes))
            case op.Send(name, sent_bytes):
                self._write(name, known(self._sent, name).send(sent_bytes))
            case op.HangUp(name, ending):
                known(self._channels, name).ending = ending
            case op.Poll():
                server.poll()
            case op.PollWhile(name):
                request = self._no_longer_handled(name)
                server.poll(lambda: server.release(request))
            case op.PollBeside(name):
                self._poll_beside(known(self._channels, name))
            case op.Construct(limit_bytes, max_request_bytes):
                server.check_limits(limit_bytes, max_request_bytes)
            case op.Elapse(to_ms):
                server.now_ms = to_ms
            case _:
                self._handle(operation)
        return None

    def _poll_beside(self, channel: Channel) -> None:
        """Poll while a client sends records without data."""
        channel.supply = _SUPPLY if channel.is_open and channel.ending is None else None
        with suppress(GivenUp):
            self._server.poll()
        channel.supply = None

    def _handle(self, operation: op.Operation) -> None:
        """Do an operation of a handler, or of the server by itself."""
        server = self._server
        match operation:
            case op.Release(name):
                server.release(self._no_longer_handled(name))
            case op.Respond(name):
                server.respond(known(self._channels, name))
            case op.Throttle(name):
                server.throttle(known(self._channels, name))
            case op.Unthrottle(name):
                server.unthrottle(known(self._channels, name))
            case op.Close(name):
                if known(self._channels, name).is_open:
                    server.close(known(self._channels, name))
            case _:
                raise Refusal(Reason.UNSUPPORTED)

    def _write(self, name: str, data: bytes) -> None:
        """Write a client's data, which a closed connection does not take."""
        channel = known(self._channels, name)
        if channel.is_open and data:
            channel.wire.append(data)

    def _no_longer_handled(self, name: str) -> Request:
        request = known(self._handled, name)
        del self._handled[name]
        return request

    def _event_of(self, request: Request) -> Event:
        name = self._sent[request.channel.name].receive(request.body)
        self._handled[name] = request
        return received(name)

    def show(self) -> Mapping[StrEnum, Value]:
        """Return all observables; what lies unread in a socket is not known under TLS."""
        server = self._server
        alive = [each for _, each in sorted(self._channels.items()) if each.is_open]
        return {
            profiles.ChannelMutingObservable.AVAILABLE: server.available,
            profiles.ChannelMutingObservable.OPEN: _names(alive),
            profiles.ChannelMutingObservable.WAITING: _names(filter(server.shown_waiting, alive)),
            profiles.ChannelMutingObservable.ORDERED: _names(
                each for each in alive if each.is_ordered
            ),
            profiles.ChannelMutingObservable.HOLDING: _names(each for each in alive if each.memory),
            profiles.ChannelMutingObservable.UNREAD: None if server.tls else self._unread(alive),
            profiles.ChannelMutingObservable.DEPLETED_TIME: server.depleted_ms(),
        }

    def _unread(self, alive: Iterable[Channel]) -> int:
        return sum(self._sent[each.name].of_bodies(each.unread) for each in alive)


def _names(channels: Iterable[Channel]) -> tuple[str, ...]:
    return tuple(each.name for each in channels)


def small_server_subject(
    server: MakeServer = SmallServer,
    profile: profiles.ChannelMutingProfile = PROFILE,
    *,
    behaves: profiles.ChannelMutingProfile | None = None,
    habits: Habits | None = None,
    name: str = "small server",
) -> InProcessSubject:
    """Return small servers, right or wrong, as a subject in process.

    Args:
        server: Makes a server.
        profile: What the subject declares.
        behaves: The profile that the servers follow; ``profile`` if None.
        habits: The order of reads and of grants, which the rules leave free.
        name: The subject's name in reports.
    """

    def make(configuration: profiles.Configuration) -> SmallServerInstance:
        assert isinstance(configuration, profiles.ChannelMutingConfiguration)
        made = server(configuration, behaves or profile, habits or Habits())
        return SmallServerInstance(made, profile)

    implementation = Implementation(name=name, language="Python")
    return InProcessSubject(implementation, {profiles.Component.CHANNEL_MUTING: profile}, make)
