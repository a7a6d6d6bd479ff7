"""Peers that send without end: how much of them one poll takes, and when they are turned out."""

import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from typing import cast

import pytest
import trustme

from purgatory_impl.network import CloseReason, Request, transports
from purgatory_lab.benchmarks.network import raw_records
from tests.impl.network.wire import Bench, Client, bench, both, frame, tls_contexts
from tests.impl.threads import LONG_S

TLS_1_2, TLS_1_3 = ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3
ALLOW_CLIENT_RENEGOTIATION = 1 << 8
"""An option of OpenSSL 3 that Python has no name for; nothing in older releases."""
ANSWER_BYTES = 27
"""A record of TLS 1.3 with an update of keys: head, message, kind, tag."""


def client_context(version: ssl.TLSVersion = TLS_1_3) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    context.maximum_version = version
    return context


def small_buffers(wire: socket.socket) -> None:
    wire.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    wire.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)


def connect(
    network: Bench,
    version: ssl.TLSVersion = TLS_1_3,
    *,
    context: ssl.SSLContext | None = None,
    has_small_buffers: bool = False,
) -> tuple[Client, raw_records.RawClient]:
    """A client that writes records itself, after its handshake."""
    wire = socket.socket()
    if has_small_buffers:
        small_buffers(wire)
    wire.settimeout(LONG_S)
    wire.connect(network.listener.getsockname())
    connection, _ = network.listener.accept()
    if has_small_buffers:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)
    client = Client(network.thread.add(connection, context or tls_contexts()[0]), wire)
    network.clients.append(client)
    shaken: list[raw_records.RawClient] = []
    shaking = threading.Thread(
        target=lambda: shaken.append(raw_records.RawClient(wire, client_context(version)))
    )
    shaking.start()
    while shaking.is_alive() or not client.channel.is_ready:
        network.poll(10)
    shaking.join()
    return client, shaken[0]


def slow_request(raw: raw_records.RawClient, size: int) -> bytes:
    """A request whose body comes in records of one byte."""
    body = (raw.record(raw_records.DATA, b"x") for _ in range(size))
    return raw.record(raw_records.DATA, frame(size)) + b"".join(body)


def records_in(client: Client) -> int:
    """Return the number of records that the server has begun to look at since the last data."""
    return cast("transports.TlsTransport", client.channel.transport)._barren


# Turns

SMALL_RECORDS = transports.TURN_RECORDS // transports.SMALL_COST


def test_a_poll_reads_four_small_records_of_a_channel_and_serves_the_others() -> None:
    with bench(1000, 100, tls=True) as network:
        honest = network.connect()
        client, raw = connect(network)
        client.send(slow_request(raw, 95))
        honest.request(b"ping")
        (ping,) = network.poll()
        assert bytes(ping.payload) == b"ping"
        network.complete(ping)
        seen = [1 + client.channel.filled]
        while not (found := network.poll()):
            seen.append(1 + client.channel.filled)
        assert seen == [SMALL_RECORDS * turn for turn in range(1, 24)]
        assert bytes(found[0].payload) == b"x" * 95
        network.complete(found[0])


def test_of_those_who_send_without_end_a_poll_serves_one() -> None:
    with bench(1000, 200, tls=True) as network:
        floods = [connect(network) for _ in range(3)]
        for client, raw in floods:
            client.send(slow_request(raw, 196))
        network.poll()
        seen = []
        for _ in range(9):
            before = [client.channel.filled for client, _ in floods]
            assert network.poll() == []
            seen.append(
                [
                    client.channel.filled - old
                    for (client, _), old in zip(floods, before, strict=True)
                ]
            )
        assert sorted(seen[:3]) == [
            [0, 0, SMALL_RECORDS],
            [0, SMALL_RECORDS, 0],
            [SMALL_RECORDS, 0, 0],
        ]
        assert seen == seen[:3] * 3
        requests: list[Request] = []
        while len(requests) < 3:
            requests += network.poll()
        for request in requests:
            network.complete(request)


def test_who_was_lengthy_is_not_after_the_request() -> None:
    with bench(1000, 100, tls=True) as network:
        client, raw = connect(network)
        client.send(slow_request(raw, 30))
        network.poll()
        assert client.channel.is_lengthy
        while not (found := network.poll()):
            pass
        network.complete(found[0])
        client.send(raw.record(raw_records.DATA, frame(1) + b"y"))
        network.complete(network.one())
        assert not client.channel.is_lengthy


class EndlessSocket:
    """Has always more to read, and takes always more: the fastest peer there can be."""

    def __init__(self) -> None:
        self.calls: list[int] = []

    def recv(self, most: int) -> bytes:
        self.calls.append(most)
        return bytes(most)

    def recv_into(self, view: memoryview, most: int) -> int:
        self.calls.append(most)
        return most

    def send(self, view: memoryview) -> int:
        self.calls.append(len(view))
        return len(view)


def test_a_plain_turn_is_so_many_bytes_read_and_written_together() -> None:
    peer = EndlessSocket()
    transport = transports.PlainTransport(cast("socket.socket", peer))
    view = memoryview(bytearray(4 * transports.TURN_BYTES))
    assert transport.read(4) == bytes(4)
    assert transport.write(view[:100]) == 100
    assert transport.read_into(view) == transports.TURN_BYTES - 104
    assert transport.is_spent
    assert (transport.read(4), transport.read_into(view), transport.write(view)) == (None, None, 0)
    assert peer.calls == [4, 100, transports.TURN_BYTES - 104]
    transport.renew()
    assert transport.write(view) == transports.TURN_BYTES
    assert transport.is_spent


@both
def test_a_poll_writes_a_turn_of_a_long_response(*, tls: bool) -> None:
    """No poll writes more than a turn, and all arrives."""
    with bench(1000, 100, tls=tls) as network:
        client = network.connect()
        client.request(b"a")
        response = bytes(range(256)) * 2**13
        network.complete(network.one(), response)
        arrived: list[bytes] = []
        reading = threading.Thread(target=lambda: arrived.append(client.response()))
        reading.start()
        left = len(response)
        while left:
            network.poll(10)
            now = sum(map(len, client.channel.outgoing))
            assert left - now <= transports.TURN_BYTES
            left = now
        while reading.is_alive():
            network.poll(10)
        reading.join()
        assert arrived == [response]
        client.request(b"b")
        network.complete(network.one())


# Records without data


Flood = Callable[[raw_records.RawClient], bytes]


def update(raw: raw_records.RawClient) -> bytes:
    return raw.key_update(is_requested=False)


def requested_update(raw: raw_records.RawClient) -> bytes:
    return raw.key_update(is_requested=True)


def empty(raw: raw_records.RawClient) -> bytes:
    return raw.record(raw_records.DATA, b"")


def renegotiation(raw: raw_records.RawClient) -> bytes:
    return raw.record(raw_records.HANDSHAKE, raw_records.client_hello())


def warning(raw: raw_records.RawClient) -> bytes:
    return raw.record(raw_records.ALERT, b"\1\x5a")


def change_of_ciphers(raw: raw_records.RawClient) -> bytes:
    return b"\x14\3\3\0\1\1"


COUNTED = [
    (update, TLS_1_3),
    (requested_update, TLS_1_3),
    (empty, TLS_1_3),
    (empty, TLS_1_2),
    (renegotiation, TLS_1_2),
]
"""Floods that TLS itself would take for ever, or longer than we do."""
counted = pytest.mark.parametrize(
    ("flood", "version"), COUNTED, ids=[f"{each.__name__}-{v.name}" for each, v in COUNTED]
)


@counted
def test_records_without_data_are_taken_up_to_a_number(
    flood: Flood, version: ssl.TLSVersion
) -> None:
    """The request is received."""
    with bench(1000, 100, tls=True) as network:
        client, raw = connect(network, version)
        client.send(b"".join(flood(raw) for _ in range(transports.RECORDS_WITHOUT_DATA - 1)))
        client.send(raw.record(raw_records.DATA, frame(4) + b"data"))
        while not (found := network.poll()):
            assert not client.channel.is_closed
        network.complete(found[0])


@counted
def test_who_sends_more_records_without_data_is_turned_out(
    flood: Flood, version: ssl.TLSVersion
) -> None:
    """The others are served by the first poll; the first record beyond the limit closes."""
    with bench(1000, 100, tls=True) as network:
        honest = network.connect()
        client, raw = connect(network, version)
        client.send(b"".join(flood(raw) for _ in range(10 * transports.RECORDS_WITHOUT_DATA)))
        honest.request(b"ping")
        seen = []
        found = network.poll()
        seen.append(records_in(client))
        assert [bytes(request.payload) for request in found] == [b"ping"]
        network.complete(found[0], b"pong")
        while not network.closed:
            network.poll()
            seen.append(records_in(client))
        assert network.closed == {client.channel.number: CloseReason.NO_DATA}
        assert seen == list(range(2, transports.RECORDS_WITHOUT_DATA + 2))
        assert honest.response() == b"pong"


REFUSED = [
    (warning, TLS_1_3),
    (warning, TLS_1_2),
    (change_of_ciphers, TLS_1_3),
    (change_of_ciphers, TLS_1_2),
    (renegotiation, TLS_1_3),
]


MOST_WARNINGS = 5  # in a row: OpenSSL refuses the next one


@pytest.mark.parametrize(
    ("flood", "version"), REFUSED, ids=[f"{each.__name__}-{v.name}" for each, v in REFUSED]
)
def test_what_tls_refuses_is_closed_within_few_polls(flood: Flood, version: ssl.TLSVersion) -> None:
    with bench(1000, 100, tls=True) as network:
        client, raw = connect(network, version)
        client.send(b"".join(flood(raw) for _ in range(10 * transports.RECORDS_WITHOUT_DATA)))
        for _ in range(MOST_WARNINGS):
            network.poll()
        assert network.closed == {client.channel.number: CloseReason.TLS_FAILED}


def test_renegotiation_is_refused_where_the_context_allows_it() -> None:
    """No handshake begins, and the request is received and answered."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.options |= ALLOW_CLIENT_RENEGOTIATION
    trustme.CA().issue_cert("localhost").configure_cert(context)
    with bench(1000, 100, tls=True) as network:
        client, raw = connect(network, TLS_1_2, context=context)
        parts = (frame(4) + b"da", None, b"ta")
        client.send(
            b"".join(
                renegotiation(raw) if p is None else raw.record(raw_records.DATA, p) for p in parts
            )
        )
        request = network.one()
        network.complete(request, b"answer")
        network.poll()
        assert client.channel.mutes == frozenset()
        assert not client.channel.outgoing
        assert not network.closed


# What is owed


def test_nothing_is_read_while_an_answer_is_owed() -> None:
    """One answer is owed, and nothing more is read until the client reads."""
    with bench(30_000, 20_000, tls=True) as network:
        client, raw = connect(network, has_small_buffers=True)
        data = b"".join(
            raw.key_update(is_requested=True) + raw.record(raw_records.DATA, bytes([byte]))
            for byte in frame(20_000) + b"x" * 20_000
        )
        sending = threading.Thread(target=raw.wire.sendall, args=(data,))
        sending.start()
        transport = cast("transports.TlsTransport", client.channel.transport)
        still = 0
        filled = -1
        while still < 100:  # polls in which nothing has been read
            network.poll(1)
            owed = len(transport._unsent) + transport._outgoing.pending
            assert owed <= ANSWER_BYTES
            still = still + 1 if transport.is_writing and client.channel.filled == filled else 0
            filled = client.channel.filled
        assert filled < 20_000
        reading = threading.Thread(target=drain, args=(raw.wire,))
        reading.start()
        while not (found := network.poll(10)):
            pass
        network.complete(found[0])
        sending.join()
        client.channel.close()
        network.poll()
        reading.join()


def drain(wire: socket.socket) -> None:
    """Read until the server's end."""
    try:
        while wire.recv(4096):
            pass
    except ConnectionResetError:
        pass


# Handshakes


def hello() -> bytes:
    """The message with which Python begins a handshake, without the head of its record."""
    outgoing = ssl.MemoryBIO()
    session = client_context().wrap_bio(ssl.MemoryBIO(), outgoing)
    with pytest.raises(ssl.SSLWantReadError):
        session.do_handshake()
    return outgoing.read()[5:]


def pieces(message: bytes, size: int) -> Iterator[bytes]:
    for begin in range(0, len(message), size):
        part = message[begin : begin + size]
        yield b"\x16\3\1" + len(part).to_bytes(2, "big") + part


def beginner(network: Bench) -> Client:
    """A client that is connected, and has said nothing."""
    wire = socket.create_connection(network.listener.getsockname())
    wire.settimeout(LONG_S)
    client = Client(network.thread.add(network.listener.accept()[0], tls_contexts()[0]), wire)
    network.clients.append(client)
    network.poll()
    return client


def test_a_handshake_may_come_in_many_records() -> None:
    message = hello()
    size = -(-len(message) // (transports.RECORDS_OF_HANDSHAKE - 2))
    with bench(1000, 100, tls=True) as network:
        client = beginner(network)
        client.send(b"".join(pieces(message, size)))
        for _ in range(transports.RECORDS_OF_HANDSHAKE):
            network.poll()
        assert not network.closed
        assert client.wire.recv(1) == b"\x16"  # the server's part of the handshake


def test_a_handshake_in_too_many_records_is_turned_out_turn_by_turn() -> None:
    with bench(1000, 100, tls=True) as network:
        honest = network.connect()
        client = beginner(network)
        client.send(b"".join(pieces(hello(), 1)))
        honest.request(b"ping")
        network.complete(network.one())
        polls = 1
        while not network.closed:
            network.poll()
            polls += 1
        assert network.closed == {client.channel.number: CloseReason.NO_DATA}
        assert polls == transports.RECORDS_OF_HANDSHAKE // transports.TURN_RECORDS + 1


@pytest.mark.parametrize(
    "record",
    [
        pytest.param(b"\x16\3\1\0\0", id="handshake"),
        pytest.param(bytes([raw_records.CHANGE_CIPHER]) + b"\3\3\0\1\1", id="change-cipher"),
        pytest.param(bytes([raw_records.ALERT]) + b"\3\3\0\2\1\x5a", id="warning"),
        pytest.param(b"\x80\x2e\1\3\1", id="version-2"),
    ],
)
def test_other_records_before_a_handshake_end_it(record: bytes) -> None:
    with bench(1000, 100, tls=True) as network:
        client = beginner(network)
        client.send(record * 10 * transports.RECORDS_OF_HANDSHAKE)
        polls = 0
        while not network.closed:
            network.poll()
            polls += 1
        assert network.closed[client.channel.number] in (
            CloseReason.NO_DATA,
            CloseReason.TLS_FAILED,
        )
        assert polls <= transports.RECORDS_OF_HANDSHAKE // transports.TURN_RECORDS + 1


def test_a_message_of_a_handshake_is_bounded() -> None:
    """The handshake has failed."""
    with bench(1000, 100, tls=True) as network:
        client = beginner(network)
        client.send(b"\x16\3\1\0\4\1" + (2**17 + 400).to_bytes(3, "big"))
        network.poll()
        assert network.closed == {client.channel.number: CloseReason.TLS_FAILED}


def test_a_record_that_dribbles_is_received_when_it_is_whole() -> None:
    with bench(1000, 100, tls=True) as network:
        client, raw = connect(network)
        record = raw.record(raw_records.DATA, frame(4) + b"data")
        for place in range(len(record) - 1):
            client.send(record[place : place + 1])
            assert network.poll() == []
        client.send(record[-1:])
        network.complete(network.one())


# Handlers


def test_handlers_have_the_interpreter_between_turns() -> None:
    """Five polls in a row pass the first client over, and none once the request is answered."""
    with bench(10_000, 4000, tls=True) as network:
        honest = network.connect()
        client, raw = connect(network)
        client.send(slow_request(raw, 3000))
        honest.request(b"ping")
        (ping,) = network.poll()
        before = client.channel.filled
        turns = []
        for _ in range(12):
            assert network.poll() == []
            turns.append((client.channel.filled - before) // SMALL_RECORDS)
        assert turns == [0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 2]
        network.complete(ping)
        before = client.channel.filled
        for _ in range(3):
            assert network.poll() == []
        assert client.channel.filled == before + 3 * SMALL_RECORDS
        assert client.channel.is_lengthy
