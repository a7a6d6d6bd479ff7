"""``purgatory bench floods``: honest pings beside peers that send without end.

Server, attackers and the honest client are three processes on loopback. An attacker writes as much
as its socket takes and has small buffers, so that the server's own pace limits it; the attackers'
process gives way to the others, since what it costs to attack is not the question. All handshakes
are over before the first ping, and many records are encrypted: the server is slower than they are.
"""

import os
import selectors
import socket
import ssl
import statistics
import struct
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import click

from purgatory_impl.network import NetworkLimits, Request, Server
from purgatory_lab.benchmarks.network.pairs import Certificates
from purgatory_lab.benchmarks.network.raw_records import (
    ALERT,
    DATA,
    HANDSHAKE,
    RawClient,
    client_hello,
)
from purgatory_lab.benchmarks.python_peer.resident import peak_bytes, reset_peak, resident_bytes

COUNTS: Final = (1, 10, 50)
MOST_RATIO: Final = 2.0
"""The median of the pings beside attackers is at most so many times the undisturbed one."""
MOST_MS: Final = 250.0
"""The longest time that a ping may take, ms."""

_WARM_UP: Final = 32
_AHEAD_BYTES: Final = 2 * 2**20
"""The bytes that are encrypted before the attack, for all attackers together."""
_MORE_BYTES: Final = 1024
_LONG_BYTES: Final = 2**20
_RECORD_BYTES: Final = 2**14
_BUFFER_BYTES: Final = 2**14
_PING: Final = struct.pack(">i", 100) + b"p" * 100
_PAUSE_S: Final = 0.001
_PATIENCE_S: Final = 5.0
_START_S: Final = 60.0

_HEAD: Final = (
    *("attack", "attackers", "pings", "median, ms", "longest, ms", "memory, KiB", "turned out"),
    "aim",
)

Records = Callable[[RawClient], bytes]


@dataclass(frozen=True)
class Attack:
    """A kind of attack by records of TLS.

    Attributes:
        words: What it is called in the table.
        version: Of TLS.
        again: Makes what is written again and again.
        first: Makes what is written first.
        asked_bytes: How much of the pool an attacker asks for, and may have.
    """

    words: str
    version: ssl.TLSVersion
    again: Records
    first: Records = lambda _: b""
    asked_bytes: int = 0


def _announced(raw: RawClient) -> bytes:
    return raw.record(DATA, struct.pack(">i", _LONG_BYTES))


def _long_request(raw: RawClient) -> bytes:
    body = (raw.record(DATA, b"x" * _RECORD_BYTES) for _ in range(_LONG_BYTES // _RECORD_BYTES))
    return _announced(raw) + b"".join(body)


ATTACKS: Final = {
    "updates": Attack(
        "updates of keys",
        ssl.TLSVersion.TLSv1_3,
        lambda raw: raw.key_update(is_requested=False),
    ),
    "requested": Attack(
        "updates of keys that ask for an answer",
        ssl.TLSVersion.TLSv1_3,
        lambda raw: raw.key_update(is_requested=True),
    ),
    "mixed": Attack(
        "an update that asks for an answer before each byte",
        ssl.TLSVersion.TLSv1_3,
        lambda raw: raw.key_update(is_requested=True) + raw.record(DATA, b"x"),
        _announced,
        _LONG_BYTES,
    ),
    "bytes": Attack(
        "records of one byte",
        ssl.TLSVersion.TLSv1_3,
        lambda raw: raw.record(DATA, b"x"),
        _announced,
        _LONG_BYTES,
    ),
    "empty": Attack("empty records", ssl.TLSVersion.TLSv1_3, lambda raw: raw.record(DATA, b"")),
    "renegotiation": Attack(
        "renegotiation asked for, TLS 1.2",
        ssl.TLSVersion.TLSv1_2,
        lambda raw: raw.record(HANDSHAKE, client_hello()),
    ),
    "alerts": Attack(
        "warnings, TLS 1.2", ssl.TLSVersion.TLSv1_2, lambda raw: raw.record(ALERT, b"\1\x5a")
    ),
    "long": Attack(
        "requests of 1 MiB, in full records",
        ssl.TLSVersion.TLSv1_3,
        _long_request,
        asked_bytes=_LONG_BYTES,
    ),
}


@dataclass(frozen=True)
class Pings:
    """The figures of pings beside attackers.

    Attributes:
        attack: The name of the attack; empty for none.
        attackers: How many there were.
        pings: How many pings were answered.
        median_ms: Of the pings, ms.
        worst_ms: The longest, ms; the patience where the last ping was not answered.
        grown_bytes: The peak of the server's resident memory, less what it was before and less what
            the attackers have asked of the pool, bytes; below zero where they did not use it all.
        closed: How many attackers the server has turned out.
    """

    attack: str
    attackers: int
    pings: int
    median_ms: float
    worst_ms: float
    grown_bytes: int
    closed: int


@click.command("floods")
@click.option("--seconds", type=click.FloatRange(0.1, 60.0), default=2.0, show_default=True)
@click.option("--attack", "names", type=click.Choice(tuple(ATTACKS)), multiple=True)
@click.option("--attackers", "counts", type=click.IntRange(1, 100), multiple=True)
def floods(seconds: float, names: tuple[str, ...], counts: tuple[int, ...]) -> None:
    """Measure honest pings beside peers that send without end.

    Each attack, by 1, 10 and 50 attackers; the undisturbed pings stand above each attack.
    """
    # Here, since this module is run in the server's process too, which needs none of it.
    from purgatory_lab.benchmarks.network.command import certificates_in

    rows: list[Pings] = []
    with TemporaryDirectory() as folder:
        certificates = certificates_in(Path(folder))
        for name in names or ATTACKS:
            for count in (0, *(counts or COUNTS)):
                click.echo(f"{name or 'undisturbed'}: {count}", err=True)
                rows.append(measure(name, count, seconds, certificates))
    click.echo(table_of(rows))


def measure(name: str, count: int, seconds: float, certificates: Certificates) -> Pings:
    """Measure pings for a time beside so many attackers of a kind.

    Raises:
        subprocess.CalledProcessError: a process has failed.
    """
    with ExitStack() as stack:
        server = stack.enter_context(_process("serve", str(certificates.server)))
        port = int(_line(server))
        wire = stack.enter_context(_secured(port, certificates))
        for _ in range(_WARM_UP):
            _ping(wire)
        arguments = (name, str(port), str(count), str(seconds))
        attackers = stack.enter_context(_process("attack", *arguments))
        _line(attackers)  # all hands are shaken
        _tell(server, "begin")
        _line(server)
        _tell(attackers, "go")
        times_ms = list(_pings(wire, seconds))
        closed = int(_line(attackers))
        _tell(server, "end")
        grown_bytes = int(_line(server))
    return Pings(
        name if count else "",
        count,
        len(times_ms),
        statistics.median(times_ms),
        max(times_ms),
        grown_bytes - count * ATTACKS[name].asked_bytes,
        closed,
    )


def table_of(rows: list[Pings]) -> str:
    """Return the rows as a table; a row without attackers is the measure of those below it."""
    # Here, since this module is run in the server's process too, which needs none of it.
    from purgatory_lab.documents import number, table

    cells = []
    quiet_ms = 0.0
    for row in rows:
        verdict = ""
        if not row.attackers:
            quiet_ms = row.median_ms
        else:
            is_met = row.median_ms <= MOST_RATIO * quiet_ms and row.worst_ms <= MOST_MS
            verdict = "met" if is_met else "**missed**"
        words = ATTACKS[row.attack].words if row.attack else "undisturbed"
        times = (number(row.median_ms, 2), number(row.worst_ms, 1))
        counts = (str(row.grown_bytes // 1024), str(row.closed))
        cells.append((words, str(row.attackers), str(row.pings), *times, *counts, verdict))
    return table(_HEAD, cells, left=("attack", "aim"))


def _pings(wire: socket.socket, seconds: float) -> Iterator[float]:
    """Yield how long each ping took, ms, one after the other with a pause."""
    ends_s = time.monotonic() + seconds
    while time.monotonic() < ends_s:
        begun_s = time.perf_counter()
        try:
            _ping(wire)
        except TimeoutError:
            yield _PATIENCE_S * 1000
            return
        yield (time.perf_counter() - begun_s) * 1000
        time.sleep(_PAUSE_S)


def _ping(wire: socket.socket) -> None:
    wire.sendall(_PING)
    missing = len(_PING)
    while missing:
        found = len(wire.recv(missing))
        if not found:
            raise ConnectionError("the server has closed the honest connection")
        missing -= found


def _secured(port: int, certificates: Certificates) -> ssl.SSLSocket:
    wire = socket.create_connection(("127.0.0.1", port), _PATIENCE_S)
    wire.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    context = ssl.create_default_context(cafile=str(certificates.authority))
    return context.wrap_socket(wire, server_hostname="localhost")


# The processes


class _Running(subprocess.Popen[str]):
    """Run this module in a process that ends with the block that has started the process."""

    def __exit__(self, *_: object) -> None:
        self.kill()
        self.communicate()


def _process(*arguments: str) -> _Running:
    command = [sys.executable, "-m", __name__, *arguments]
    return _Running(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8")


def _tell(process: _Running, words: str) -> None:
    assert process.stdin is not None
    process.stdin.write(words + "\n")
    process.stdin.flush()


def _line(process: _Running) -> str:
    assert process.stdout is not None
    line = process.stdout.readline()
    if not line:
        raise subprocess.CalledProcessError(process.wait(), process.args)
    return line


def _serve(certificate: str) -> None:
    """Answer each request with itself, until the end of the input; tell of memory when asked."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)

    def echo(request: Request) -> None:
        is_ping = len(request.payload) < _RECORD_BYTES
        request.respond(bytes(request.payload) if is_ping else b"")

    with Server(echo, NetworkLimits(), tls=context) as server:
        print(server.address[1], flush=True)
        before_bytes = 0
        for line in sys.stdin:
            if line.strip() == "begin":
                reset_peak()
                before_bytes = resident_bytes()[0]
                print("begun", flush=True)
            else:
                print(peak_bytes() - before_bytes, flush=True)


def _attack(name: str, port: int, count: int, seconds: float) -> None:
    """Shake all hands, and write without end for a time; tell how many were turned out."""
    attack = ATTACKS[name]
    raws = [_raw(attack, port) for _ in range(count)]
    with suppress(AttributeError, OSError):
        os.nice(10)
    unsent = {raw: bytearray(attack.first(raw)) for raw in raws}
    for raw, ahead in unsent.items():
        while len(ahead) < _AHEAD_BYTES // count:
            ahead += attack.again(raw)
    print("ready", flush=True)
    sys.stdin.readline()
    ends_s = time.monotonic() + seconds
    with selectors.DefaultSelector() as writable:
        for raw in raws:
            raw.wire.setblocking(False)
            writable.register(raw.wire, selectors.EVENT_WRITE, raw)
        while (left_s := ends_s - time.monotonic()) > 0:
            for key, _ in writable.select(left_s) if writable.get_map() else ():
                raw = key.data
                if not _write(attack, raw, unsent[raw]):
                    writable.unregister(raw.wire)
                    del unsent[raw]
            if not unsent:
                time.sleep(max(0.0, ends_s - time.monotonic()))
    print(count - len(unsent), flush=True)


def _write(attack: Attack, raw: RawClient, unsent: bytearray) -> bool:
    """Write what the socket takes; False where the server has closed."""
    while len(unsent) < _MORE_BYTES:
        unsent += attack.again(raw)
    try:
        del unsent[: raw.wire.send(unsent)]
    except BlockingIOError:
        return True
    except OSError:
        return False
    return True


def _raw(attack: Attack, port: int) -> RawClient:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    context.maximum_version = attack.version
    wire = socket.socket()
    wire.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _BUFFER_BYTES)
    wire.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _BUFFER_BYTES)
    wire.settimeout(_START_S)
    wire.connect(("127.0.0.1", port))
    return RawClient(wire, context)


if __name__ == "__main__":
    if sys.argv[1] == "serve":
        _serve(sys.argv[2])
    else:
        _attack(sys.argv[2], int(sys.argv[3]), int(sys.argv[4]), float(sys.argv[5]))
