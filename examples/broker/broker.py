"""The broker: produces and fetches that wait in a purgatory until their partitions have moved.

A produce with acks=all waits until the high watermark has passed its records; a fetch waits until
there are enough bytes. Both are watched under their partitions. A partition moves when records are
appended, and when a follower fetches. Each time the event comes first, in the log, and then the
check of the partition's key: a request that is watched in between sees the event at its second try.
A follower's fetch is a request like any other, and waits in the same purgatory.

To stop is an event, too, under all keys: what waits then is answered at once. A client that leaves
does not end the wait of its request. The wait ends in time, and the response goes nowhere.
"""

import logging
import ssl
import threading
from collections.abc import Callable, Iterable, Mapping
from typing import Final, Self

from broker.log import PartitionLog
from broker.protocol import (
    CONSUMER,
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
from purgatory_impl import DelayedOperation, Purgatory
from purgatory_impl.network import NetworkLimits, Request, Server

_LOGGER: Final = logging.getLogger("broker")

Answer = Callable[[Response], None]
"""Sends the response of a request; called once, by any thread."""


class DelayedProduce(DelayedOperation):
    """Waits until every follower has the records of a produce."""

    def __init__(
        self,
        asked: ProduceRequest,
        log: PartitionLog,
        offset: int,
        answer: Answer,
        stopping: threading.Event,
    ) -> None:
        """A produce whose records are in the leader's log, from ``offset`` on."""
        super().__init__(asked.timeout_ms)
        self._asked = asked
        self._log = log
        self._offset = offset
        self._end = offset + len(asked.records)
        self._answer = answer
        self._stopping = stopping

    def try_complete(self) -> bool:
        """All followers have the records, or the broker stops."""
        return (self._is_replicated() or self._stopping.is_set()) and self.force_complete()

    def on_complete(self) -> None:
        """Acknowledge, or say why not: the followers may have caught up in the last moment."""
        correlation_id = self._asked.correlation_id
        if self._is_replicated():
            self._answer(Produced(correlation_id, self._offset))
            return
        code, cause = ErrorCode.TIMED_OUT, f"after {self.delay_ms} ms"
        if self._stopping.is_set():
            code, cause = ErrorCode.STOPPING, "and the broker stops"
        offsets = f"offsets {self._offset} to {self._end - 1} of {self._asked.partition}"
        problem = f"{offsets} are not on all followers {cause}"
        self._answer(Refusal(correlation_id, code, problem))

    def _is_replicated(self) -> bool:
        return self._log.high_watermark >= self._end


class DelayedFetch(DelayedOperation):
    """Waits until there are enough bytes to read, in all positions of a fetch together."""

    def __init__(
        self,
        asked: FetchRequest,
        logs: Mapping[TopicPartition, PartitionLog],
        answer: Answer,
        stopping: threading.Event,
    ) -> None:
        """A fetch of positions that exist."""
        super().__init__(asked.max_wait_ms)
        self._asked = asked
        self._logs = logs
        self._answer = answer
        self._stopping = stopping

    def try_complete(self) -> bool:
        """There are enough bytes, or the broker stops."""
        return (self._is_enough() or self._stopping.is_set()) and self.force_complete()

    def on_complete(self) -> None:
        """Answer with what there is: enough, or after the longest wait less."""
        found: dict[TopicPartition, Read] = {}
        left = self._asked.max_bytes
        at_least_one = True
        for key, offset in self._asked.positions.items():
            log = self._logs[key]
            records = log.read(offset, self._end_of(log), left, at_least_one=at_least_one)
            found[key] = Read(log.high_watermark, records)
            left -= sum(map(len, records))
            at_least_one = at_least_one and not records
        self._answer(Fetched(self._asked.correlation_id, found))

    def _is_enough(self) -> bool:
        found = 0
        for key, offset in self._asked.positions.items():
            log = self._logs[key]
            found += log.bytes_between(offset, self._end_of(log))
        # What the response may not hold is not waited for.
        return found >= min(self._asked.min_bytes, self._asked.max_bytes)

    def _end_of(self, log: PartitionLog) -> int:
        """Where the reader has to stop: consumers see what all followers have."""
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
            InvalidConfiguration: a number is impossible.
        """
        self.follower_ids = frozenset(follower_ids)
        self.logs = {
            TopicPartition(topic, number): PartitionLog(self.follower_ids)
            for topic, partitions in topics.items()
            for number in range(partitions)
        }
        self._stopping = threading.Event()
        self.server = Server(
            self._handle, limits, address=address, tls=tls, handler_threads=handler_threads
        )
        self.produces = Purgatory[TopicPartition]("produce", purge_interval=purge_interval)
        self.fetches = Purgatory[TopicPartition]("fetch", purge_interval=purge_interval)

    def __enter__(self) -> Self:
        """Serve."""
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
                    self._produce(asked, answer)
                case FetchRequest():
                    self._fetch(asked, answer)
        except RefusedRequest as refusal:
            answer(Refusal(asked.correlation_id, refusal.code, str(refusal)))

    def _produce(self, asked: ProduceRequest, answer: Answer) -> None:
        key = asked.partition
        log = self._log_of(key)
        offset = log.append(asked.records)
        if asked.acks is Acks.ALL:
            produce = DelayedProduce(asked, log, offset, answer, self._stopping)
            self.produces.try_complete_else_watch(produce, [key])
        else:
            answer(Produced(asked.correlation_id, offset))
        self.fetches.check_and_complete(key)

    def _fetch(self, asked: FetchRequest, answer: Answer) -> None:
        for key, offset in asked.positions.items():
            end = self._log_of(key).end
            if not 0 <= offset <= end:
                problem = f"offset {offset} of {key}; a fetch begins at 0 to {end}"
                raise RefusedRequest(ErrorCode.OFFSET_OUT_OF_RANGE, problem)
        if asked.replica_id != CONSUMER:
            self._follower_has(asked.replica_id, asked.positions)
        fetch = DelayedFetch(asked, self.logs, answer, self._stopping)
        self.fetches.try_complete_else_watch(fetch, asked.positions)

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
        """The high watermark of a partition has moved."""
        self.produces.check_and_complete(key)
        self.fetches.check_and_complete(key)

    def _log_of(self, key: TopicPartition) -> PartitionLog:
        log = self.logs.get(key)
        if log is None:
            raise RefusedRequest(ErrorCode.UNKNOWN_PARTITION, f"there is no partition {key}")
        return log
