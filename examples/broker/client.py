"""The client: one request after the other over one connection; as a command, one of each kind.

python -m broker.client 127.0.0.1:9292 --topic orders "first record" "second record"
"""

import socket
import ssl
import struct
import sys
from collections.abc import Sequence
from typing import Final, Self, TypeVar

import click

from broker.protocol import (
    CONSUMER,
    RESPONSES,
    Acks,
    Fetched,
    FetchRequest,
    Produced,
    ProduceRequest,
    Read,
    Refusal,
    RefusedRequest,
    Request,
    TopicPartition,
    encode,
)

_PATIENCE_S: Final = 10.0
"""The time that a response may take beyond the time of the request itself, s."""

_SIZE: Final = struct.Struct(">i")


Answer = TypeVar("Answer", Produced, Fetched)


class Client:
    """A connection to a broker, for one thread.

    Every call raises ``RefusedRequest`` where the broker refuses, ``OSError`` where the connection
    fails or the response does not come in time, and ``ValueError`` where it cannot be read.
    """

    def __init__(self, address: tuple[str, int], tls: ssl.SSLContext | None = None) -> None:
        """Connect to a broker, with TLS or without.

        Args:
            address: Host and port.
            tls: The client's side of TLS, which must trust the broker's certificate for the host.

        Raises:
            OSError: there is no connection to be had, or the certificate is not trusted.
        """
        self._wire = socket.create_connection(address, timeout=_PATIENCE_S)
        self._wire.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if tls is not None:
            self._wire = tls.wrap_socket(self._wire, server_hostname=address[0])
        self._correlation_id = 0

    def __enter__(self) -> Self:
        """Return the client itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the connection to the broker."""
        self._wire.close()

    def produce(
        self,
        partition: TopicPartition,
        records: Sequence[bytes],
        *,
        acks: Acks = Acks.ALL,
        timeout_ms: int = 30_000,
    ) -> int:
        """Append records to a partition; the offset of the first.

        Args:
            partition: Where to.
            records: 1 to ``MOST_ELEMENTS``.
            acks: Whose logs must have the records before this returns.
            timeout_ms: How long that may take, ms.
        """
        number = self._next_number()
        request = ProduceRequest(number, partition, tuple(records), acks, timeout_ms)
        return self._ask(request, Produced, timeout_ms).offset

    def fetch(
        self,
        positions: dict[TopicPartition, int],
        *,
        min_bytes: int = 1,
        max_wait_ms: int = 500,
        max_bytes: int = 2**20,
        replica_id: int = CONSUMER,
    ) -> dict[TopicPartition, Read]:
        """Read records, by partition; the arguments are those of ``FetchRequest``.

        An answer may have less than there is: ask again from where it ends.
        """
        number = self._next_number()
        request = FetchRequest(number, positions, min_bytes, max_wait_ms, max_bytes, replica_id)
        return self._ask(request, Fetched, max_wait_ms).partitions

    def _next_number(self) -> int:
        self._correlation_id += 1
        return self._correlation_id

    def _ask(self, request: Request, kind: type[Answer], wait_ms: int) -> Answer:
        data = encode(request)
        self._wire.settimeout(wait_ms / 1000 + _PATIENCE_S)
        self._wire.sendall(_SIZE.pack(len(data)) + data)
        (size,) = _SIZE.unpack(self._receive(_SIZE.size))
        response = RESPONSES.decode(self._receive(size))
        if response.correlation_id == request.correlation_id:
            if isinstance(response, Refusal):
                raise RefusedRequest(response.code, response.problem)
            if isinstance(response, kind):
                return response
        raise ConnectionError(f"the response is to another request than {request.correlation_id}")

    def _receive(self, size: int) -> bytes:
        data = bytearray()
        while len(data) < size:
            part = self._wire.recv(min(size - len(data), 2**16))
            if not part:
                raise ConnectionError(
                    "the broker has closed the connection; it does so when it stops, and to a "
                    "request that is malformed or too large"
                )
            data += part
        return bytes(data)


class Address(click.ParamType[tuple[str, int]]):
    """A host and a port."""

    name = "HOST:PORT"

    def convert(
        self, value: str, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, int]:
        """Split at the last colon."""
        host, colon, port = value.rpartition(":")
        if not (colon and host and port.isdecimal() and 0 < int(port) < 2**16):
            self.fail(f"{value!r} is no HOST:PORT, such as 127.0.0.1:9292", param, ctx)
        return host, int(port)


def trusting(authority: str | None) -> ssl.SSLContext | None:
    """Return the client's side of TLS, which trusts a file of certificates; None without one.

    Raises:
        OSError: the file cannot be read, or has no certificate.
    """
    return None if authority is None else ssl.create_default_context(cafile=authority)


@click.command(help="Produce the RECORDs, if there are any, then fetch, and print what came.")
@click.argument("address", type=Address())
@click.argument("records", metavar="[RECORD]...", nargs=-1)
@click.option("--topic", default="orders", show_default=True)
@click.option(
    "--partition", default=0, show_default=True, type=click.IntRange(min=0, max=2**31 - 1)
)
@click.option("--acks", default="all", show_default=True, type=click.Choice(["all", "leader"]))
@click.option("--timeout-ms", default=5000, show_default=True, type=click.IntRange(0, 10**6))
@click.option("--offset", type=click.IntRange(0, 2**63 - 1), help="Fetch from here.")
@click.option("--min-bytes", default=1, show_default=True, type=click.IntRange(0, 2**31 - 1))
@click.option("--max-wait-ms", default=500, show_default=True, type=click.IntRange(0, 10**6))
@click.option("--tls-authority", metavar="FILE", help="Use TLS, and trust these certificates.")
def main(
    address: tuple[str, int],
    records: tuple[str, ...],
    topic: str,
    partition: int,
    acks: str,
    timeout_ms: int,
    offset: int | None,
    min_bytes: int,
    max_wait_ms: int,
    tls_authority: str | None,
) -> None:
    """Produce and fetch records once."""
    name = TopicPartition(topic, partition)
    try:
        with Client(address, trusting(tls_authority)) as client:
            if records:
                data = [record.encode() for record in records]
                first = client.produce(name, data, acks=Acks[acks.upper()], timeout_ms=timeout_ms)
                offset = first if offset is None else offset
                click.echo(f"produced {name} {first} to {first + len(data) - 1}, acks {acks}")
            offset = offset or 0
            found = client.fetch({name: offset}, min_bytes=min_bytes, max_wait_ms=max_wait_ms)
    except (OSError, RefusedRequest, ValueError) as error:
        host, port = address
        raise click.ClickException(f"{host}:{port}: {error}") from None
    for place, record in enumerate(found[name].records, start=offset):
        click.echo(f"fetched {name} {place}: {record.decode(errors='backslashreplace')}")
    click.echo(f"high watermark of {name}: {found[name].high_watermark}")


if __name__ == "__main__":
    sys.exit(main())
