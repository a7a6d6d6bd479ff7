"""A network thread: some channels, looked at together, one poll after the other.

A poll has four parts. It takes what other threads have posted: new connections, memory that was
granted, responses. It waits until a socket is ready, somebody posts, or the time is over. It reads
and writes what is ready, at most one request of each channel. It closes what has been idle or slow
for too long.

Nobody who sends or takes without end keeps the others: in one poll a channel has one turn of its
transport. A channel that has used up a turn before its request was whole, or its response written,
is *lengthy* until then. Lengthy channels stand in a line, and each poll serves the first of them
alone, so that ten that never stop cost the others no more than one.

Before every read every reason to read nothing is asked for, whoever says that there are bytes: the
socket, or TLS, which has taken some from the socket already. What must not be read is left where it
is, and looked at again when its last reason ends.

An error that one channel meets closes that channel: it is logged and counted, and the others go on.
Two kinds leave ``poll``: an error of the clock or of the sockets' readiness, which concerns all
channels, and an exception that asks the program to end, such as ``KeyboardInterrupt``. That one
closes its channel too, and leaves ``poll`` after the others have had their turn. What was received
is not lost then: the next poll returns it, or ``close`` releases it.

Interest in a socket is changed late: a channel whose request is being handled stays in the set of
sockets that are looked at, and leaves it only if its next request comes before the response.
"""

import socket
import ssl
import struct
import threading
from collections import OrderedDict, deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from typing import Final

from purgatory_impl.clocks import Clock, MonotonicClock
from purgatory_impl.network.channel import MEMORY, NO_SIZE, ORDER, THROTTLE, Channel, Request
from purgatory_impl.network.faults import report
from purgatory_impl.network.limits import NetworkLimits
from purgatory_impl.network.memory_line import MemoryLine
from purgatory_impl.network.readiness import (
    BROKEN,
    END,
    READ,
    WRITE,
    Readiness,
    system_readiness,
    unread_bytes,
)
from purgatory_impl.network.reasons import CloseReason
from purgatory_impl.network.transports import PlainTransport, TlsTransport, TooManyRecords
from purgatory_impl.network.unread_responses import LARGE_BYTES, UnreadResponses

_SIZE_BYTES: Final = 4
_SIZE: Final = struct.Struct(">i")
_NOTHING: Final = memoryview(b"")
_PASSED_OVER_S: Final = 0.001
_MOST_PASSED_OVER: Final = 5
"""The waits that last as long as Python's interpreter stays with a thread that does not wait."""


@dataclass(frozen=True, slots=True)
class ClosedChannel:
    """A channel that was closed, and why."""

    channel: Channel
    reason: CloseReason


@dataclass(slots=True)
class Polled:
    """The requests received and the channels closed in one poll.

    Attributes:
        received: Requests, in the order of their reception; at most one of each channel.
        closed: Channels that were closed.
    """

    received: list[Request] = field(default_factory=list)
    closed: list[ClosedChannel] = field(default_factory=list)


class NetworkThread:
    """Channels of one thread; ``poll`` and ``close`` are called by that thread alone.

    Attributes:
        closed_counts: How many channels were closed, by reason.
        unread: The responses that peers do not read.
    """

    def __init__(
        self,
        line: MemoryLine,
        limits: NetworkLimits,
        *,
        clock: Clock | None = None,
        readiness: Readiness | None = None,
        unread: UnreadResponses | None = None,
    ) -> None:
        """Make a network thread without channels.

        Args:
            line: Where the memory comes from; several network threads may share one.
            limits: The largest request, and how long a connection may be idle or slow.
            clock: For those two; a ``MonotonicClock`` when absent.
            readiness: How sockets are looked at; the system's best when absent.
            unread: Where responses are counted that peers do not read; several network threads may
                share one. When absent the thread has its own.
        """
        self._line = line
        self._most = limits.max_request_bytes
        self._idle_limit_ms = limits.idle_limit_ms
        self._receive_limit_ms = limits.receive_limit_ms
        self._clock: Clock = MonotonicClock() if clock is None else clock
        self._readiness = system_readiness() if readiness is None else readiness
        self.unread = UnreadResponses(limits.unread_response_bytes) if unread is None else unread
        self._letters: deque[tuple[Channel, Callable[[], None]]] = deque()
        self._waker, self._bell = socket.socketpair()
        self._waker.setblocking(False)
        self._bell.setblocking(False)
        self._readiness.watch(self._bell, READ)
        self._is_woken = False
        self._is_ended = False
        # What asks the program to end, and was met at a channel.
        self._ending: BaseException | None = None
        self.closed_counts = dict.fromkeys(CloseReason, 0)
        self._polling_thread = threading.get_ident()
        self._channels: dict[int, Channel] = {}
        self._numbers = count(1)
        self._polled = Polled()
        self._turn = 0  # the number of the poll
        self._is_reading = True
        self._is_awaiting_response = False
        self._passed_over = 0  # polls in a row that have served no lengthy channel
        # To be read in the next poll whatever the socket says.
        self._eager: dict[Channel, None] = {}
        # Lengthy channels that are ready: the first is served in the next poll.
        self._lengthy: dict[Channel, None] = {}
        # Ready sockets that a poll without reading has left out.
        self._passed: dict[Channel, None] = {}
        # By the last sign of life, and by the time of the grant.
        self._active: OrderedDict[Channel, int] = OrderedDict()
        self._holders: OrderedDict[Channel, int] = OrderedDict()

    def add(self, connection: socket.socket, tls: ssl.SSLContext | None = None) -> Channel:
        """Take a connection over, from any thread; it is looked at from the next poll on.

        Args:
            connection: A connected stream socket, which belongs to the channel from now on.
            tls: The server's side of TLS, if the connection is to be encrypted.

        Raises:
            ssl.SSLError: the TLS is not that of a server; the connection is closed.
        """
        try:
            connection.setblocking(False)
            transport = PlainTransport(connection) if tls is None else TlsTransport(connection, tls)
            channel = Channel(self, next(self._numbers), connection, transport)
            self.post(channel, partial(self._opens, channel))
        except BaseException:
            connection.close()
            raise
        return channel

    def poll(self, timeout_ms: int = 0, *, is_reading: bool = True) -> Polled:
        """Do one round: wait until something is ready, for ``timeout_ms`` at most, and serve it.

        Args:
            timeout_ms: How long to wait where nothing is ready, ms.
            is_reading: Whether requests are read; without, only the rest is done, and responses
                are written.

        Raises:
            Exception: what the clock raised, or looking at the sockets.
            BaseException: what asks the program to end; the channel that met it is closed.

        Rules: MUTING-CLOSE.
        """
        self._polling_thread = threading.get_ident()
        self._turn += 1
        self._is_reading = is_reading
        if is_reading and self._passed:
            self._look_at_passed()
        self._take_letters()
        if self._lengthy:
            timeout_ms = 0
            self._serve_lengthy()
        if self._polled.closed or self._ending or (is_reading and self._eager):
            timeout_ms = 0
        for descriptor, events in self._readiness.wait(self._within_limits(timeout_ms)):
            present = self._channels.get(descriptor)
            if present is not None:
                try:
                    self._attend(present, events)
                except BaseException as error:
                    self._fails(present, error)
            elif descriptor == self._bell.fileno():
                self._be_woken()
        if is_reading and self._eager:
            for channel in list(self._eager):
                self._eager.pop(channel, None)
                if channel.reasons or channel.is_closed:
                    continue
                try:
                    self._read(channel)
                except BaseException as error:
                    self._fails(channel, error)
        self._expire()
        self._raise_ending()
        if self._polled.received:
            self._is_awaiting_response = True
        polled, self._polled = self._polled, Polled()
        return polled

    def post(self, channel: Channel, letter: Callable[[], None]) -> None:
        """Call this in the next poll, and wake the thread for it; from any thread.

        A letter that raises closes the channel. After ``close`` it is called at once, and finds its
        channel closed.
        """
        self._letters.append((channel, letter))
        if self._is_ended:
            self._take_letters()
        elif self._polling_thread != threading.get_ident():
            self.wake()

    def wake(self) -> None:
        """End the wait of the present poll, or of the next; from any thread.

        Rules: MUTING-WAKE.
        """
        if not self._is_woken:
            self._is_woken = True
            with suppress(OSError):  # the bell rings already, or the thread has ended
                self._waker.send(b"\0")

    def close(self) -> None:
        """Close all channels, and give back all memory but that of requests being handled.

        Raises:
            Exception: looking at the sockets could not be ended; all channels are closed.
            BaseException: what asks the program to end, and was met at a channel.
        """
        self._take_letters()
        for channel in list(self._channels.values()):
            self._close(channel, CloseReason.BY_US)
        # From here on whoever posts a letter takes it as well.
        self._is_ended = True
        self._take_letters()
        # Requests of a poll that was interrupted, which nobody has got.
        received, self._polled = self._polled.received, Polled()
        for request in received:
            try:
                request.release()
            except BaseException as error:
                self._tell("the memory of a request is lost", error)
        try:
            self._readiness.close()
        finally:
            self._waker.close()
            self._bell.close()
        self._raise_ending()

    @property
    def connections(self) -> int:
        """Return the number of open channels; from any thread."""
        return len(self._channels)

    @property
    def channels(self) -> tuple[Channel, ...]:
        """Return the open channels of the thread."""
        return tuple(self._channels.values())

    @property
    def owes_a_turn(self) -> bool:
        """Decide whether a channel waits for its next turn: a later poll reads on, or writes.

        Rules: MUTING-TURNS.
        """
        return bool(self._lengthy)

    def granted(self, channel: Channel, buffer: memoryview) -> None:
        """Serve a letter: the channel's request has its memory."""
        if channel.is_closed:
            self._line.release(buffer)
            return
        channel.buffer = buffer
        self._holds(channel)
        self._unmute(channel, MEMORY)
        self._eager[channel] = None

    def respond(self, channel: Channel, response: bytes | None) -> None:
        """Send the response of the channel's last request in the next poll; from any thread."""
        announced_bytes = 0
        if response is not None and len(response) > LARGE_BYTES:
            announced_bytes = len(response)
            is_waiting = self._polling_thread != threading.get_ident()
            self.unread.announce(announced_bytes, is_waiting=is_waiting)
        try:
            self.post(channel, partial(self._responded, channel, response, announced_bytes))
        except BaseException:
            self.unread.tried(channel, announced_bytes, 0)
            raise

    def _responded(self, channel: Channel, response: bytes | None, announced_bytes: int) -> None:
        """Serve a letter: the response of the channel's last request is here."""
        self._is_awaiting_response = False
        channel.on_end = None
        try:
            if not channel.is_closed:
                self._begin(channel, response)
        finally:
            if channel.outgoing and response is not None:
                channel.owed = _SIZE_BYTES + len(response)
            if channel.owed or announced_bytes:
                self._make_room(self.unread.tried(channel, announced_bytes, channel.owed))

    def _begin(self, channel: Channel, response: bytes | None) -> None:
        """Write what the socket takes of a response."""
        if response is not None:
            size = _SIZE.pack(len(response))
            # A copy of a small one behind its size is cheaper than a second write.
            if len(response) <= LARGE_BYTES:
                channel.outgoing.append(memoryview(size + response))
            else:
                channel.outgoing.extend((memoryview(size), memoryview(response)))
        channel.is_responding = True
        self._write(channel)

    def _make_room(self, stuck: list[Channel]) -> None:
        """Close channels whose peers do not read, those of other threads by a letter."""
        for channel in stuck:
            if channel.owner is self:
                self._close(channel, CloseReason.UNREAD)
            else:
                channel.close(CloseReason.UNREAD)

    def awaits_end(self, request: Request, callback: Callable[[], object]) -> None:
        """Note who is to be told of the peer's end before the response; a letter."""
        if request.is_answered:
            return
        channel = request.channel
        channel.on_end = callback
        if channel.is_closed or not channel.interest & END:  # it was seen before
            self._tell_end(channel)

    def throttled(self, channel: Channel, *, is_throttled: bool) -> None:
        """Serve a letter: throttling begins or ends."""
        if channel.is_closed:
            return
        if is_throttled:
            channel.reasons |= THROTTLE
        else:
            self._unmute(channel, THROTTLE)

    def closed(self, channel: Channel, reason: CloseReason) -> None:
        """Serve a letter: the server wants the channel no more."""
        if reason is CloseReason.UNREAD and not channel.owed:
            return  # the peer has read the response meanwhile
        self._close(channel, reason)

    def _take_letters(self) -> None:
        letters = self._letters
        while letters:
            try:
                channel, letter = letters.popleft()
            except IndexError:  # after the end of the thread others take letters as well
                return
            try:
                letter()
            except BaseException as error:
                self._fails(channel, error)

    def _fails(self, channel: Channel, error: BaseException) -> None:
        """Close the one channel that has met an error, and let the others go on.

        Rules: MUTING-CLOSE.
        """
        self._close(channel, CloseReason.FAILED)
        self._tell("a connection has met an error and is closed", error)

    def _tell(self, problem: str, error: BaseException) -> None:
        """Log an error, and keep it for the end of the poll if it asks the program to end."""
        report(problem, error)
        if self._ending is None and not isinstance(error, Exception):
            self._ending = error

    def _raise_ending(self) -> None:
        ending, self._ending = self._ending, None
        if ending is not None:
            raise ending

    def _be_woken(self) -> None:
        with suppress(BlockingIOError, TimeoutError):
            self._bell.recv(64)
        self._is_woken = False
        self._take_letters()

    def _opens(self, channel: Channel) -> None:
        if self._is_ended:
            self._close(channel, CloseReason.BY_US)
            return
        channel.interest = READ | END
        self._channels[channel.descriptor] = channel
        self._active[channel] = self._clock.now_ms()
        self._readiness.watch(channel.connection, channel.interest)

    def _attend(self, channel: Channel, events: int) -> None:
        """Do what a socket is ready for; what is to be read is read when all were looked at.

        Rules: MUTING-TURNS.
        """
        if not channel.is_ready and not self._is_handshake_done(channel):
            return
        if events & BROKEN and (channel.reasons or not self._is_reading):
            self._close(channel, CloseReason.PEER_RESET)
            return
        if events & WRITE:
            if channel.is_lengthy and channel.outgoing:
                self._lengthy[channel] = None
            else:
                self._write(channel)
        if events & END:
            self._ends(channel)
        if channel.is_closed or not events & (READ | BROKEN):
            return
        if channel.is_lengthy and not channel.reasons:
            self._lengthy[channel] = None
        else:
            self._is_readable(channel)

    def _is_readable(self, channel: Channel) -> None:
        """Have a channel read in this poll, unless there is a reason against it."""
        if channel.reasons:
            self._look_for(channel, channel.interest & ~READ)
        elif not self._is_reading:
            self._look_for(channel, channel.interest & ~READ)
            self._passed[channel] = None
        else:
            self._eager[channel] = None

    def _serve_lengthy(self) -> None:
        """Give a turn to the lengthy channel that has waited longest for one.

        While handlers work on what was received last, a few polls in a row pass lengthy channels
        over and wait for the response: a thread that is never idle keeps Python's interpreter for
        5 ms, however short its turns, and each response would wait for the end of a turn.

        Rules: MUTING-TURNS, MUTING-SERVED.
        """
        if self._is_awaiting_response and self._passed_over < _MOST_PASSED_OVER:
            self._passed_over += 1
            self._wait_for_letters()
            return
        self._passed_over = 0
        channel = next(iter(self._lengthy))
        del self._lengthy[channel]
        try:
            if channel.outgoing:
                self._write(channel)
            else:
                self._is_readable(channel)
        except BaseException as error:
            self._fails(channel, error)

    def _wait_for_letters(self) -> None:
        """Wait for the bell alone: sockets of lengthy channels are ready all the time."""
        self._bell.settimeout(_PASSED_OVER_S)
        try:
            self._be_woken()
        finally:
            self._bell.setblocking(False)

    def _begin_turn(self, channel: Channel) -> None:
        """Renew the turn of a channel that has done nothing in this poll yet."""
        if channel.turn != self._turn:
            channel.turn = self._turn
            channel.transport.renew()

    def _is_handshake_done(self, channel: Channel) -> bool:
        transport = channel.transport
        self._begin_turn(channel)
        try:
            channel.is_ready = transport.handshake()
        except TooManyRecords:
            self._close(channel, CloseReason.NO_DATA)
            return False
        except ssl.SSLError:
            self._close(channel, CloseReason.TLS_FAILED)
            return False
        except OSError:
            self._close(channel, CloseReason.PEER_RESET)
            return False
        self._write(channel)
        if channel.is_ready and transport.is_buffering:
            self._eager[channel] = None
        return channel.is_ready and not channel.is_closed

    def _read(self, channel: Channel) -> None:
        """Go on with the request of a channel that may be read, for a turn.

        Rules: MUTING-GRANTED-FINISHES, MUTING-TURNS.
        """
        transport = channel.transport
        self._begin_turn(channel)
        try:
            self._receive(channel)
        except TooManyRecords:
            self._close(channel, CloseReason.NO_DATA)
        except ssl.SSLError:
            self._close(channel, CloseReason.TLS_FAILED)
        except OSError:
            self._close(channel, CloseReason.PEER_RESET)
        if channel.is_closed:
            return
        if transport.is_writing:
            self._write(channel)
        if transport.is_spent and not channel.reasons and not channel.is_closed:
            channel.is_lengthy = True
            self._lengthy[channel] = None

    def _receive(self, channel: Channel) -> None:
        """Read the size of a request, ask for its memory, and read its bytes.

        Rules: MUTING-READ-AFTER-GRANT, MUTING-ORDER.
        """
        transport, buffer = channel.transport, channel.buffer
        if buffer is None:
            header = transport.read(_SIZE_BYTES - len(channel.header))
            if header is None:
                return
            if not header:
                self._close(channel, CloseReason.PEER_ENDED)
                return
            self._is_active(channel)
            if channel.header:
                header = channel.header + header
            if len(header) < _SIZE_BYTES:
                channel.header = header
                return
            buffer = self._memory_for(channel, header)
            if buffer is None:
                return
        filled = channel.filled
        if filled < channel.size:
            taken = transport.read_into(buffer[filled:] if filled else buffer)
            if taken is None:
                self._holds(channel)
                return
            if not taken:
                self._close(channel, CloseReason.PEER_ENDED)
                return
            filled += taken
            channel.filled = filled
        if filled == channel.size:
            self._receives(channel, buffer)
        else:
            self._is_active(channel)
            self._holds(channel)

    def _memory_for(self, channel: Channel, header: bytes) -> memoryview | None:
        """Return the memory of a request of known size; None where the channel waits or closes.

        Rules: MUTING-ASK, MUTING-WAIT, MUTING-BAD-SIZE.
        """
        (size,) = _SIZE.unpack(header)
        if not 0 <= size <= self._most:
            self._close(channel, CloseReason.INVALID_SIZE)
            return None
        channel.header = b""
        channel.size = size
        if not size:
            return _NOTHING
        channel.reasons |= MEMORY  # already while it asks: a pool that raises leaves it in the line
        try:
            channel.buffer = self._line.ask(channel, size)
        except OSError as error:  # the pool's, and not the connection's
            self._fails(channel, error)
            return None
        if channel.buffer is not None:
            channel.reasons &= ~MEMORY
        elif not channel.interest & END:  # the end was seen before, and is not told again
            self._give_up(channel)
        return channel.buffer

    def _receives(self, channel: Channel, buffer: memoryview) -> None:
        """Hand on a request that is whole, and read nothing more until its response.

        Rules: MUTING-ONE-AT-A-TIME, MUTING-EMPTY.
        """
        channel.received += 1
        line = self._line if channel.size else None
        channel.buffer = None
        channel.size = NO_SIZE
        channel.filled = 0
        channel.is_lengthy = False
        channel.reasons |= ORDER
        if self._holders:
            self._holders.pop(channel, None)
        self._polled.received.append(Request(channel, channel.received, buffer, line))

    def _unmute(self, channel: Channel, reason: int) -> None:
        """End a reason for muting; without any left the channel is read again, TLS's bytes first.

        Rules: MUTING-TWO-REASONS, MUTING-BUFFERED, MUTING-THROTTLE.
        """
        channel.reasons &= ~reason
        if channel.reasons:
            return
        self._is_active(channel)
        if not channel.interest & READ:
            self._look_for(channel, channel.interest | READ)
        if channel.transport.is_buffering:
            self._eager[channel] = None

    def _ends(self, channel: Channel) -> None:
        """Note that the peer will send nothing more."""
        self._look_for(channel, channel.interest & ~END)
        self._give_up(channel)
        self._tell_end(channel)

    def _tell_end(self, channel: Channel) -> None:
        """Tell whoever waits with the response, once.

        Rules: MUTING-HALF-CLOSE, MUTING-END-WHILE-HANDLED.
        """
        callback, channel.on_end = channel.on_end, None
        if callback is None:
            return
        try:
            callback()
        except BaseException as error:
            self._fails(channel, error)

    def _give_up(self, channel: Channel) -> None:
        """Close a channel whose peer has ended and whose waiting request cannot be completed.

        Rules: MUTING-END-WHILE-WAITING, MUTING-HALF-CLOSE.
        """
        if not channel.reasons & MEMORY or not isinstance(channel.transport, PlainTransport):
            return
        if unread_bytes(channel.connection) < channel.size:
            self._close(channel, CloseReason.PEER_ENDED)

    def _write(self, channel: Channel) -> None:
        """Write what the socket takes in a turn; a response that is written un-mutes its channel.

        Rules: MUTING-TURNS.
        """
        transport, outgoing = channel.transport, channel.outgoing
        self._begin_turn(channel)
        try:
            transport.flush()
            while True:
                if not outgoing:
                    break
                view = outgoing[0]
                taken = transport.write(view)
                if taken < len(view):
                    if taken:
                        outgoing[0] = view[taken:]
                        self._is_active(channel)
                        if channel.owed:
                            self.unread.progress(channel)
                    break
                outgoing.popleft()
        except ssl.SSLError:
            self._close(channel, CloseReason.TLS_FAILED)
            return
        except OSError:
            self._close(channel, CloseReason.PEER_RESET)
            return
        if outgoing and transport.is_spent:
            channel.is_lengthy = True
            self._lengthy[channel] = None
            return
        is_done = not outgoing and not transport.is_writing
        if is_done != (not channel.interest & WRITE):
            self._look_for(channel, channel.interest ^ WRITE)
        if is_done and channel.is_responding:
            channel.is_responding = False
            self._owes_nothing(channel)
            channel.is_lengthy = False
            self._unmute(channel, ORDER)

    def _owes_nothing(self, channel: Channel) -> None:
        if channel.owed:
            channel.owed = 0
            self.unread.remove(channel)

    def _close(self, channel: Channel, reason: CloseReason) -> None:
        """Close a connection; the memory of what it was receiving goes back at once.

        Rules: MUTING-END-MID-REQUEST, MUTING-CLOSE.
        """
        if channel.is_closed:
            return
        channel.is_closed = True
        self.closed_counts[reason] += 1
        self._polled.closed.append(ClosedChannel(channel, reason))
        for among in (self._eager, self._lengthy, self._passed, self._active, self._holders):
            among.pop(channel, None)
        channel.outgoing.clear()
        self._owes_nothing(channel)
        # Another channel may have the descriptor if somebody has closed the socket behind our back.
        is_watched = self._channels.get(channel.descriptor) is channel
        if is_watched:
            del self._channels[channel.descriptor]
        try:
            self._ends_connection(channel, is_watched=is_watched)
        except BaseException as error:
            self._tell("an error was met at the end of a connection", error)
        self._tell_end(channel)

    def _ends_connection(self, channel: Channel, *, is_watched: bool) -> None:
        """Let the socket and the memory of a channel go: each, also if another one fails."""
        try:
            if is_watched:
                self._readiness.forget(channel.connection)
        finally:
            try:
                channel.transport.close()
            finally:
                channel.connection.close()
                if channel.reasons & MEMORY:
                    self._line.leave(channel)  # or the grant is on its way, and goes back
                elif channel.buffer is not None:
                    buffer, channel.buffer = channel.buffer, None
                    self._line.release(buffer)

    def _look_for(self, channel: Channel, interest: int) -> None:
        if interest != channel.interest:
            channel.interest = interest
            self._readiness.change(channel.connection, interest)

    def _look_at_passed(self) -> None:
        """Look at the sockets that were ready while reading was off, when reading begins again."""
        for channel in list(self._passed):
            self._passed.pop(channel, None)
            if channel.reasons or channel.is_closed:
                continue
            try:
                self._look_for(channel, channel.interest | READ)
            except BaseException as error:
                self._fails(channel, error)
            if channel.transport.is_buffering:
                self._eager[channel] = None

    def _is_active(self, channel: Channel) -> None:
        """Note a sign of life, against the idle limit."""
        if self._idle_limit_ms:
            self._active[channel] = self._clock.now_ms()
            self._active.move_to_end(channel)

    def _holds(self, channel: Channel) -> None:
        """Note the time at which an incomplete request got its memory."""
        if self._receive_limit_ms and channel not in self._holders:
            self._holders[channel] = self._clock.now_ms()

    def _within_limits(self, timeout_ms: int) -> int:
        """Return the time-out, cut down to the first idle or receive limit that ends before it.

        Rules: MUTING-NO-TIGHT-LOOP.
        """
        if not timeout_ms:
            return 0
        now_ms = self._clock.now_ms()
        if self._holders:
            since_ms = next(iter(self._holders.values()))
            timeout_ms = min(timeout_ms, max(0, since_ms + self._receive_limit_ms - now_ms))
        if self._idle_limit_ms and self._active:
            since_ms = next(iter(self._active.values()))
            timeout_ms = min(timeout_ms, max(0, since_ms + self._idle_limit_ms - now_ms))
        return timeout_ms

    def _expire(self) -> None:
        """Close the slow and the idle. Who waits, is handled or throttled is not idle.

        Rules: MUTING-IDLE, MUTING-NOT-IDLE, MUTING-SLOW-SENDER.
        """
        if not (self._idle_limit_ms or self._receive_limit_ms):
            return
        now_ms = self._clock.now_ms()
        holders, active = self._holders, self._active
        while holders:
            channel, since_ms = next(iter(holders.items()))
            if now_ms - since_ms < self._receive_limit_ms:
                break
            self._close(channel, CloseReason.SLOW)
        while active and self._idle_limit_ms:
            channel, since_ms = next(iter(active.items()))
            if now_ms - since_ms < self._idle_limit_ms:
                break
            if channel.reasons and not channel.outgoing:
                self._is_active(channel)
            else:
                self._close(channel, CloseReason.IDLE)
