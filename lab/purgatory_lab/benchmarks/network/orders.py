"""Fairness: one request fills the pool, and six clients always have one pending.

First come is what the network does. Random order and Kafka's order are that of a line which lets
everybody who was refused ask again when memory comes back, newcomers among them: a contest in each
poll. Waits are counted in requests of others, so that the machine has no influence.
"""

import random
import socket
import struct
from collections import deque
from collections.abc import Callable
from contextlib import ExitStack, suppress
from typing import Final, Literal, TypeAlias

from purgatory_impl import MemoryPool, SimpleMemoryPool
from purgatory_impl.network import MemoryLine, NetworkLimits, NetworkThread, Request
from purgatory_impl.network.memory_line import Receiver
from purgatory_lab.benchmarks.network.results import FairnessSample

CLIENTS: Final = 6
_BODY: Final = b"x" * 100
_SMALL_SHARE: Final = 10
"""The share of the pool, as one part in so many, below which Kafka shuffles."""

Order: TypeAlias = Literal["first come", "random", "Kafka's"]
ORDERS: Final[tuple[Order, ...]] = ("first come", "random", "Kafka's")
Crowd: TypeAlias = list[tuple[Receiver, int]]


class ContestLine(MemoryLine):
    """A crowd without a line: refused receivers ask again in each contest, in a given order."""

    def __init__(self, pool: MemoryPool, arrange: Callable[[Crowd, bool], None]) -> None:
        """Make a crowd before a pool.

        Args:
            pool: Where the memory comes from.
            arrange: Brings the crowd into the order in which it asks; the second argument is
                whether Kafka would shuffle.
        """
        super().__init__(pool)
        self._arrange = arrange
        self._crowd: Crowd = []
        self._was_refused = False

    def ask(self, receiver: Receiver, bytes_: int) -> memoryview | None:
        """Wait for the next contest."""
        self._crowd.append((receiver, bytes_))
        return None

    def release(self, buffer: memoryview) -> None:
        """Give a buffer back to the pool; nobody is served."""
        self.pool.release(buffer)

    def leave(self, receiver: Receiver) -> bool:
        """Take a receiver out of the crowd."""
        before = len(self._crowd)
        self._crowd = [each for each in self._crowd if each[0] is not receiver]
        return len(self._crowd) < before

    def contest(self) -> None:
        """Let all ready receivers ask, as a poll of Kafka's does once the sockets are known."""
        available = self.pool.available_bytes
        if available > 0:
            self._was_refused = False  # all waiting channels are un-muted
        is_short = available < self.pool.size_bytes // _SMALL_SHARE
        self._arrange(self._crowd, is_short and not self._was_refused)
        crowd, self._crowd = self._crowd, []
        for receiver, bytes_ in crowd:
            buffer = self.pool.try_allocate(bytes_)
            if buffer is None:
                self._was_refused = True
                self._crowd.append((receiver, bytes_))
            else:
                receiver.grant(buffer)


def arranger(order: Order, seed: int) -> Callable[[Crowd, bool], None]:
    """Return the arrangement of a crowd: at random, or as a hash set of keys has it."""
    draws = random.Random(seed)
    ranks: dict[int, float] = {}

    def at_random(crowd: Crowd, _: bool) -> None:
        draws.shuffle(crowd)

    def as_kafka(crowd: Crowd, is_shuffled: bool) -> None:
        crowd.sort(key=lambda each: ranks.setdefault(id(each[0]), draws.random()))
        if is_shuffled:
            draws.shuffle(crowd)

    return at_random if order == "random" else as_kafka


def measure_fairness(order: Order, requests: int, *, is_late: bool, seed: int) -> FairnessSample:
    """Serve so many requests, and count who was served and how long each has waited.

    Args:
        order: Who is let on.
        requests: How many.
        is_late: Whether a request is answered only when the next one has been received, so that
            its client cannot compete for the memory that it has just released.
        seed: Of the random order, and of the order of the keys.
    """
    limits = NetworkLimits(len(_BODY), len(_BODY))
    pool = SimpleMemoryPool(len(_BODY), len(_BODY))
    line = MemoryLine(pool) if order == "first come" else ContestLine(pool, arranger(order, seed))
    thread = NetworkThread(line, limits)
    served = [0] * CLIENTS
    sent_at = [0] * CLIENTS
    longest = 0
    unanswered: deque[Request] = deque()
    with ExitStack() as stack:
        wires: list[socket.socket] = []
        for _ in range(CLIENTS):
            ours, theirs = socket.socketpair()
            thread.add(ours)
            theirs.setblocking(False)
            wires.append(stack.enter_context(theirs))
        stack.callback(thread.close)
        for wire in wires:
            _send(wire)
        for turn in range(requests):
            request = _next(thread, line)
            client = request.channel.number - 1
            longest = max(longest, turn - sent_at[client])
            served[client] += 1
            sent_at[client] = turn + 1
            with suppress(BlockingIOError):
                wires[client].recv(64)  # responses
            _send(wires[client])  # it is there when the response lets the channel on
            unanswered.append(request)
            while len(unanswered) > is_late:
                unanswered.popleft().respond(b"")
            request.release()
        pending = max(requests - at for at in sent_at)
    return FairnessSample(order, is_late, tuple(served), max(longest, pending))


def _send(wire: socket.socket) -> None:
    wire.sendall(struct.pack(">i", len(_BODY)) + _BODY)


def _next(thread: NetworkThread, line: MemoryLine) -> Request:
    """Poll until a request has come.

    Raises:
        RuntimeError: none comes.
    """
    for _ in range(10):
        received = thread.poll().received
        if received:
            (request,) = received
            return request
        if isinstance(line, ContestLine):
            line.contest()
    raise RuntimeError("there is memory, and nobody is served")
