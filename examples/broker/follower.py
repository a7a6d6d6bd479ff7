"""A follower: a replica of all partitions, which fetches from the leader over a connection."""

import logging
import ssl
import threading
from collections.abc import Iterable
from typing import Final, Self

from broker.client import Client
from broker.log import PartitionLog
from broker.protocol import RefusedRequest, TopicPartition

_LOGGER: Final = logging.getLogger("broker")
_RETRY_S: Final = 0.5


class Follower:
    """A thread that copies the leader's records; the offset of each fetch says what it has.

    Attributes:
        logs: The copies, by partition.
    """

    def __init__(
        self,
        replica_id: int,
        address: tuple[str, int],
        partitions: Iterable[TopicPartition],
        *,
        tls: ssl.SSLContext | None = None,
        max_wait_ms: int = 500,
    ) -> None:
        """Make a follower without records.

        Args:
            replica_id: A number that the broker counts among its followers.
            address: The broker's.
            partitions: What to copy.
            tls: The client's side of TLS; plain without.
            max_wait_ms: How long a fetch waits; stopping takes so long at the most.
        """
        self._replica_id = replica_id
        self._address = address
        self._tls = tls
        self._max_wait_ms = max_wait_ms
        self.logs = {partition: PartitionLog() for partition in partitions}
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._follow, name=f"follower-{replica_id}")

    def __enter__(self) -> Self:
        """Begin to follow the broker."""
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Stop, after the fetch that is under way."""
        self._stopping.set()
        self._thread.join()

    def _follow(self) -> None:
        """Fetch until stopped; connect again after a failure."""
        while not self._stopping.is_set():
            try:
                with Client(self._address, self._tls) as client:
                    while not self._stopping.is_set():
                        self._fetch(client)
            except (OSError, RefusedRequest, ValueError) as problem:
                _LOGGER.warning("follower %s cannot fetch: %s", self._replica_id, problem)
                self._stopping.wait(_RETRY_S)

    def _fetch(self, client: Client) -> None:
        positions = {partition: log.end for partition, log in self.logs.items()}
        found = client.fetch(positions, max_wait_ms=self._max_wait_ms, replica_id=self._replica_id)
        for partition, each in found.items():
            self.logs[partition].append(each.records)
