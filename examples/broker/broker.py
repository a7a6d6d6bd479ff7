"""The broker: produces and fetches that wait in a purgatory until their partitions have moved.

A produce with acks=all waits until the high watermark has passed its records; a fetch waits until
there are enough bytes. Both are watched under their partitions. A partition moves when records are
appended, and when a follower fetches. Each time the event comes first, in the log, and then the
check of the partition's key: a request that is watched in between sees the event at its second try.
A follower's fetch is a request like any other, and waits in the same purgatory.

To stop is an event, too, under all keys: what waits then is answered at once. So is the request of
a client that leaves: whether it reads the response shows only when the response is written, and the
connection of a client that has gone then closes.
"""

import logging
import ssl
import threading
from collections.abc import Callable, Iterable, Mapping
from typing import Final, Self

from broker.log import PartitionLog
from broker.protocol import (
    CONSUMER,
    MOST_BYTES,
    MOST_ELEMENTS,
    MOST_WAIT_MS,
    REQUESTS,
    Acks,
    ErrorCode,
    Fetched,
    FetchRequest,
    Produced,
    ProduceRequest,
    Read,
    Refusal,
    RefusedRequest,
    Response,
    TopicPartition,
    encode,
)
from purgatory_impl import DelayedOperation, InvalidConfiguration, Purgatory
from purgatory_impl.network import NetworkLimits, Request, Server

_LOGGER: Final = logging.getLogger("broker")

Answer = Callable[[Response], None]
"""Sends the response of a request; called once, by any thread."""


class DelayedRequest(DelayedOperation):
    """A request that waits, and is answered once, with what there is then."""

    def __init__(self, delay_ms: int, answer: Answer, stopping: threading.Event) -> None:
        """Make a request that waits for ``delay_ms``, or for the broker's longest time."""
        super().__init__(min(delay_ms, MOST_WAIT_MS))
        self._answer = answer
        self._stopping = stopping
        self._has_client_ended = False

    def try_complete(self) -> bool:
        """Complete where there is what the request waits for, or the broker stops."""
        return (self._is_satisfied() or self._stopping.is_set()) and self.force_complete()

    def client_ended(self) -> None:
        """Complete at once: perhaps nobody waits for the answer any more."""
        self._has_client_ended = True
        self.force_complete()

    def on_complete(self) -> None:
        """Answer, and let go of the connection."""
        self._answer(self._response())
        # The purgatory's lists keep the operation until a purge, and would keep the connection.
        del self._answer

    def _is_satisfied(self) -> bool:
        raise NotImplementedError

    def _response(self) -> Response:
        raise NotImplementedError


class DelayedProduce(DelayedRequest):
    """Waits until every follower has the records of a produce."""

    def __init__(
        self,
        asked: ProduceRequest,
        log: PartitionLog,
        offset: int,
        answer: Answer,
        stopping: threading.Event,
    ) -> None:
        """Make a produce whose records are in the leader's log, from ``offset`` on."""
        super().__init__(asked.timeout_ms, answer, stopping)
        self._correlation_id = asked.correlation_id
        self._partition = asked.partition
        self._log = log
        self._offset = offset
        self._end = offset + len(asked.records)

    def _is_satisfied(self) -> bool:
        return self._log.high_watermark >= self._end

    def _response(self) -> Response:
        """Acknowledge, or say why not: the followers may have caught up in the last moment."""
        if self._is_satisfied():
            return Produced(self._correlation_id, self._offset)
        code, cause = ErrorCode.TIMED_OUT, f"after {self.delay_ms} ms"
        if self._stopping.is_set():
            code, cause = ErrorCode.STOPPING, "and the broker stops"
        elif self._has_client_ended:
            code, cause = ErrorCode.CLIENT_ENDED, "and the client sends no more"
        offsets = f"offsets {self._offset} to {self._end - 1} of {self._partition}"
        problem = f"{offsets} are not on all followers {cause}"
        return Refusal(self._correlation_id, code, problem)


class DelayedFetch(DelayedRequest):
    """Waits until there are enough bytes to read, in all positions of a fetch together."""

    def __init__(
        self,
        asked: FetchRequest,
        logs: Mapping[TopicPartition, PartitionLog],
        answer: Answer,
        stopping: threading.Event,
    ) -> None:
        """Make a fetch of positions that exist."""
        super().__init__(asked.max_wait_ms, answer, stopping)
        self._asked = asked
        self._logs = logs
        self._most_bytes = min(asked.max_bytes, MOST_BYTES)

    def _response(self) -> Response:
        """Read what there is: enough, or after the longest wait less."""
        found: dict[TopicPartition, Read] = {}
        left_bytes, left_records = self._most_bytes, MOST_ELEMENTS
        for key, offset in self._asked.positions.items():
            log = self._logs[key]
            end = min(self._end_of(log), offset + left_records)
            is_first = left_records == MOST_ELEMENTS
            records = log.read(offset, end, left_bytes, at_least_one=is_first)
            found[key] = Read(log.high_watermark, records)
            left_bytes -= sum(map(len, records))
            left_records -= len(records)
        return Fetched(self._asked.correlation_id, found)

    def _is_satisfied(self) -> bool:
        bytes_ = records = 0
        for key, offset in self._asked.positions.items():
            log = self._logs[key]
            end = self._end_of(log)
            bytes_ += log.bytes_between(offset, end)
            records += max(0, end - offset)
        # What the response may not hold is not waited for.
        return bytes_ >= min(self._asked.min_bytes, self._most_bytes) or records >= MOST_ELEMENTS

    def _end_of(self, log: PartitionLog) -> int:
        """Return the offset at which the reader stops: consumers see what all followers have."""
        return log.high_watermark if self._asked.replica_id == CONSUMER else log.end


class Broker:
    """The leader of all its partitions, behind a server with both bounds.

    Attributes:
        logs: The records, by partition.
        produces: Where produces with acks=all wait, under their partition.
        fetches: Where fetches wait, under each of their partitions.
        server: The connections, and the memory of requests that are received and handled.
    """

    def __init__(
        self,
        topics: Mapping[str, int],
        limits: NetworkLimits,
        *,
        follower_ids: Iterable[int] = (),
        address: tuple[str, int] = ("127.0.0.1", 0),
        tls: ssl.SSLContext | None = None,
        handler_threads: int = 2,
        purge_interval: int = 1000,
    ) -> None:
        """Listen, and serve nobody before the ``with`` block.

        Args:
            topics: How many partitions each topic has.
            limits: The bounds of the server.
            follower_ids: Who must have a record before it is acknowledged to all, numbers from 0.
            address: Where to listen: host and port; port 0 is any that is free.
            tls: The server's side of TLS; plain without.
            handler_threads: How many handle requests.
            purge_interval: How many stale entries each purgatory may have before a purge.

        Raises:
            OSError: the address cannot be listened on.
            InvalidConfiguration: a number is impossible, or there are more than ``MOST_ELEMENTS``
                partitions: a follower asks for all in one fetch.
        """
        self.follower_ids = frozenset(follower_ids)
        self.logs = {
            TopicPartition(topic, number): PartitionLog(self.follower_ids)
            for topic, partitions in topics.items()
            for number in range(partitions)
        }
        if len(self.logs) > MOST_ELEMENTS:
            raise InvalidConfiguration(f"{len(self.logs)} partitions; there may be {MOST_ELEMENTS}")
        self._stopping = threading.Event()
        self.server = Server(
            self._handle, limits, address=address, tls=tls, handler_threads=handler_threads
        )
        self.produces = Purgatory[TopicPartition]("produce", purge_interval=purge_interval)
        self.fetches = Purgatory[TopicPartition]("fetch", purge_interval=purge_interval)

    def __enter__(self) -> Self:
        """Start to serve clients, and return the broker itself."""
        self.server.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Answer what waits, and stop.

        Raises:
            ServerFailed: a thread of the server has ended by an error, which has stopped it before.
        """
        self._stopping.set()
        for key in self.logs:
            self._moved(key)
        try:
            self.server.stop()
        finally:
            self.produces.close()
            self.fetches.close()

    def _handle(self, request: Request) -> None:
        try:
            asked = REQUESTS.decode(request.payload)
        except ValueError as problem:
            _LOGGER.warning("a malformed request of %s: %s", request.channel.peer, problem)
            request.channel.close()
            return
        # What a purgatory keeps must not refer to the payload. A produce that waits with its memory
        # takes it from the fetch of the follower for whom it waits: if produces fill the pool, that
        # fetch is never read, and all of them time out. The decoder has copied all, and the memory
        # goes back before anything waits or is answered. So the pool does not bound what waits.
        request.release()

        def answer(response: Response) -> None:
            request.respond(encode(response))

        try:
            match asked:
                case ProduceRequest():
                    waiting = self._produce(asked, answer)
                case FetchRequest():
                    waiting = self._fetch(asked, answer)
        except RefusedRequest as refusal:
            answer(Refusal(asked.correlation_id, refusal.code, str(refusal)))
        else:
            if waiting is not None:
                request.on_end(waiting.client_ended)

    def _produce(self, asked: ProduceRequest, answer: Answer) -> DelayedRequest | None:
        """Append; the produce if it waits."""
        key = asked.partition
        log = self._log_of(key)
        offset = log.append(asked.records)
        waiting: DelayedRequest | None = None
        if asked.acks is Acks.ALL:
            produce = DelayedProduce(asked, log, offset, answer, self._stopping)
            if not self.produces.try_complete_else_watch(produce, [key]):
                waiting = produce
        else:
            answer(Produced(asked.correlation_id, offset))
        self.fetches.check_and_complete(key)
        return waiting

    def _fetch(self, asked: FetchRequest, answer: Answer) -> DelayedRequest | None:
        """Read; the fetch if it waits."""
        for key, offset in asked.positions.items():
            end = self._log_of(key).end
            if not 0 <= offset <= end:
                problem = f"offset {offset} of {key}; a fetch begins at 0 to {end}"
                raise RefusedRequest(ErrorCode.OFFSET_OUT_OF_RANGE, problem)
        if asked.replica_id != CONSUMER:
            self._follower_has(asked.replica_id, asked.positions)
        fetch = DelayedFetch(asked, self.logs, answer, self._stopping)
        return None if self.fetches.try_complete_else_watch(fetch, asked.positions) else fetch

    def _follower_has(self, follower_id: int, positions: Mapping[TopicPartition, int]) -> None:
        if follower_id not in self.follower_ids:
            raise RefusedRequest(
                ErrorCode.UNKNOWN_REPLICA,
                f"there is no follower {follower_id}; a consumer's replica id is {CONSUMER}",
            )
        for key, offset in positions.items():
            if self.logs[key].follower_has(follower_id, offset):
                self._moved(key)

    def _moved(self, key: TopicPartition) -> None:
        """Check the requests of a partition whose high watermark has moved."""
        self.produces.check_and_complete(key)
        self.fetches.check_and_complete(key)

    def _log_of(self, key: TopicPartition) -> PartitionLog:
        log = self.logs.get(key)
        if log is None:
            raise RefusedRequest(ErrorCode.UNKNOWN_PARTITION, f"there is no partition {key}")
        return log
