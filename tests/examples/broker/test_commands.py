"""The two commands, as somebody starts them: from the first line printed to the exit code."""

import resource
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from urllib.request import urlopen

import pytest
import trustme
from click.testing import CliRunner

from broker.__main__ import main as start
from broker.client import Client
from broker.client import main as talk
from broker.protocol import CONSUMER, FetchRequest, Read, encode
from tests.examples.broker.running import LONG_MS, ORDERS, eventually
from tests.impl.network.wire import frame

PATIENCE_S = 300


@contextmanager
def started(*options: str) -> Iterator[tuple[subprocess.Popen[str], str, str]]:
    """A broker's process, its address, and the URL of its metrics."""
    with subprocess.Popen(
        [sys.executable, "-m", "broker", *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
    ) as process:
        try:
            assert process.stdout is not None
            address, url = process.stdout.readline(), process.stdout.readline()
            assert address.startswith("broker: "), address + url + process.stdout.read()
            assert url.startswith("metrics: http://")
            yield process, address.split()[1], url.split()[1]
        finally:
            process.kill()


def client(*words: str, expected: int = 0) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "broker.client", *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        timeout=PATIENCE_S,
        check=False,
    )
    assert done.returncode == expected, done.stdout
    return done.stdout


@pytest.mark.slow
def test_a_broker_whose_server_fails_ends_by_itself() -> None:
    program = """
from broker.__main__ import main
from purgatory_impl.network import NetworkThread

poll = NetworkThread.poll
polls = iter(range(20))


def ending(thread, *arguments, **options):
    if next(polls, None) is None:
        raise OSError("no more sockets")
    return poll(thread, *arguments, **options)


NetworkThread.poll = ending
main(["--followers", "1"])
"""
    done = subprocess.run(
        [sys.executable, "-c", program],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        timeout=PATIENCE_S,
        check=False,
    )
    assert done.returncode == 1, done.stdout
    assert "OSError: no more sockets" in done.stdout
    assert "ServerFailed: a thread of the server has ended" in done.stdout
    assert "stopped\n" not in done.stdout


@pytest.mark.slow
@pytest.mark.parametrize("end", [signal.SIGTERM, signal.SIGINT])
def test_start_produce_fetch_scrape_stop(end: signal.Signals) -> None:
    """It prints what it got, the metrics are there, and the signal ends the broker with code 0."""
    with started("--followers", "2", "--topic", "pets:1") as (process, address, url):
        assert client(address, "--topic", "pets", "cat", "dög") == (
            "produced pets-0 0 to 1, acks all\n"
            "fetched pets-0 0: cat\n"
            "fetched pets-0 1: dög\n"
            "high watermark of pets-0: 2\n"
        )
        with urlopen(url, timeout=PATIENCE_S) as response:
            assert b"broker_memory_pool_available_bytes 5e+07\n" in response.read()
        refused = client(address, expected=1)
        assert refused == f"Error: {address}: there is no partition orders-0\n"
        process.send_signal(end)
        assert process.wait(PATIENCE_S) == 0
        assert process.stdout is not None
        assert process.stdout.read() == "stopped\n"


@pytest.mark.slow
def test_start_and_talk_by_tls(tmp_path: Path) -> None:
    """A record is acknowledged by all; a client that trusts others, or uses no TLS, is told."""
    authority = trustme.CA()
    for name, pem in (
        ("authority.pem", authority.cert_pem),
        ("broker.pem", authority.issue_cert("127.0.0.1").private_key_and_cert_chain_pem),
        ("others.pem", trustme.CA().cert_pem),
    ):
        pem.write_to_path(tmp_path / name)
    trusted = ("--tls-authority", str(tmp_path / "authority.pem"))
    options = ("--tls-certificate", str(tmp_path / "broker.pem"), *trusted)
    with started(*options) as (process, address, _):
        assert "fetched orders-0 0: cat\n" in client(address, *trusted, "cat")
        others = client(address, "--tls-authority", str(tmp_path / "others.pem"), expected=1)
        assert "certificate verify failed" in others
        process.terminate()
        assert process.wait(PATIENCE_S) == 0


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(resource, "prlimit"), reason="nobody limits a process here")
def test_a_broker_without_descriptors_serves_a_new_client_once_others_have_left() -> None:
    """A newcomer, who could not be served before, is served at once."""
    poll = encode(FetchRequest(1, {ORDERS: 0}, 1, LONG_MS, 100, CONSUMER))
    with started("--followers", "0") as (process, address, _), ExitStack() as stack:
        host, port = address.split(":")
        descriptors = Path(f"/proc/{process.pid}/fd")
        most = max(int(each.name) for each in descriptors.iterdir()) + 1 + 128
        _, hard = resource.prlimit(process.pid, resource.RLIMIT_NOFILE)
        resource.prlimit(process.pid, resource.RLIMIT_NOFILE, (most, hard))
        free = most - len(list(descriptors.iterdir()))
        leaving = [
            stack.enter_context(socket.create_connection((host, int(port)))) for _ in range(free)
        ]
        for wire in leaving:
            wire.sendall(frame(len(poll)) + poll)
        assert eventually(lambda: len(list(descriptors.iterdir())) == most)
        with Client((host, int(port))) as newcomer:
            for wire in leaving:
                wire.close()
            assert newcomer.fetch({ORDERS: 0}, max_wait_ms=0) == {ORDERS: Read(0, ())}
        process.terminate()
        assert process.wait(PATIENCE_S) == 0


@pytest.mark.slow
def test_a_port_that_is_taken_is_told() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        for option in ("--port", "--metrics-port"):
            done = subprocess.run(
                [sys.executable, "-m", "broker", option, str(taken.getsockname()[1])],
                capture_output=True,
                encoding="utf-8",
                timeout=PATIENCE_S,
                check=False,
            )
            assert done.returncode == 1
            assert "Error: cannot listen on 127.0.0.1: " in done.stderr
            assert "in use" in done.stderr


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["--topic", "orders"], "'orders' is no NAME:PARTITIONS"),
        (["--topic", "orders:0"], "'orders:0' is no NAME:PARTITIONS"),
        (["--limit-bytes", "99", "--max-request-bytes", "100"], "Raise the limit"),
        (
            [f"--topic={name}:1000" for name in "abcdefghijk"],
            "11000 partitions; there may be 10000",
        ),
        (["--queued-requests", "0"], "0 is not in the range"),
        (["--tls-certificate", "broker.pem"], "go together"),
        (["--tls-certificate", "missing", "--tls-authority", "missing"], "No such file"),
        (["orders"], "unexpected extra argument"),
    ],
)
def test_bad_arguments_of_the_broker_are_told(words: list[str], problem: str) -> None:
    before = signal.pthread_sigmask(signal.SIG_BLOCK, ())
    result = CliRunner().invoke(start, words)
    assert result.exit_code == 2
    assert problem in result.output
    # Whoever called it can be interrupted as before.
    assert signal.pthread_sigmask(signal.SIG_BLOCK, ()) == before


@pytest.mark.parametrize("address", ["", "host", "host:", ":1", "host:0", "host:70000", "host:one"])
def test_a_bad_address_is_told(address: str) -> None:
    result = CliRunner().invoke(talk, [address])
    assert result.exit_code == 2
    assert f"'{address}' is no HOST:PORT, such as 127.0.0.1:9292" in result.output


def test_a_broker_that_is_not_there_is_told() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"127.0.0.1:{taken.getsockname()[1]}"
    result = CliRunner().invoke(talk, [address])
    assert result.exit_code == 1
    assert f"Error: {address}: " in result.output
    assert "refused" in result.output
