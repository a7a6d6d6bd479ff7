"""Starts a broker with its followers, and stops it at Ctrl-C or SIGTERM.

python -m broker --topic orders:2 --port 9292
"""

import logging
import os
import signal
import ssl
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Final

import click

from broker.broker import Broker
from broker.client import trusting
from broker.follower import Follower
from broker.metrics import serving_metrics
from purgatory_impl import InvalidConfiguration
from purgatory_impl.errors import ServerFailed
from purgatory_impl.network import NetworkLimits, Server

_END: Final = {signal.SIGINT, signal.SIGTERM}
_PORT: Final = click.IntRange(0, 2**16 - 1)
_COUNT: Final = click.IntRange(1, 2**31 - 1)


class Topic(click.ParamType[tuple[str, int]]):
    """A topic's name and how many partitions it has."""

    name = "NAME:PARTITIONS"

    def convert(
        self, value: str, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, int]:
        """Split at the last colon."""
        topic, _, partitions = value.rpartition(":")
        if not (topic and partitions.isdecimal() and 0 < int(partitions) <= 1000):
            self.fail(f"{value!r} is no NAME:PARTITIONS of 1 to 1000, such as orders:2", param, ctx)
        return topic, int(partitions)


@click.command(help="Run a broker until Ctrl-C or SIGTERM.")
@click.option("--topic", "topics", type=Topic(), multiple=True, help="May be repeated; orders:2.")
@click.option("--host", default="127.0.0.1", show_default=True)
@click.option("--port", default=0, type=_PORT, help="Any that is free without.")
@click.option("--metrics-port", default=0, type=_PORT, help="Any that is free without.")
@click.option("--followers", default=1, show_default=True, type=click.IntRange(0, 10))
@click.option("--limit-bytes", default=50_000_000, show_default=True, type=click.IntRange(min=-1))
@click.option("--max-request-bytes", default=1_000_000, show_default=True, type=_COUNT)
@click.option("--queued-requests", default=500, show_default=True, type=_COUNT)
@click.option("--receive-limit-ms", default=30_000, show_default=True, type=_COUNT)
@click.option("--purge-interval", default=1000, show_default=True, type=click.IntRange(min=0))
@click.option("--tls-certificate", metavar="FILE", help="Use TLS: certificate chain and key.")
@click.option("--tls-authority", metavar="FILE", help="The certificates that followers trust.")
def main(
    topics: tuple[tuple[str, int], ...],
    host: str,
    port: int,
    metrics_port: int,
    followers: int,
    limit_bytes: int,
    max_request_bytes: int,
    queued_requests: int,
    receive_limit_ms: int,
    purge_interval: int,
    tls_certificate: str | None,
    tls_authority: str | None,
) -> None:
    """Run until a signal comes."""
    logging.basicConfig(format="%(levelname)s %(name)s: %(message)s")
    server_tls, client_tls = _tls(tls_certificate, tls_authority)
    try:
        limits = NetworkLimits(
            limit_bytes,
            max_request_bytes,
            receive_limit_ms=receive_limit_ms,
            queued_requests=queued_requests,
        )
    except InvalidConfiguration as error:
        raise click.UsageError(str(error)) from None
    with ExitStack() as stack:
        # Before any thread starts, and so in all.
        stack.enter_context(_held_back(_END))
        try:
            broker = stack.enter_context(
                Broker(
                    dict(topics) or {"orders": 2},
                    limits,
                    follower_ids=range(followers),
                    address=(host, port),
                    tls=server_tls,
                    purge_interval=purge_interval,
                )
            )
            url = stack.enter_context(serving_metrics(broker, (host, metrics_port)))
        except InvalidConfiguration as error:
            raise click.UsageError(str(error)) from None
        except OSError as error:
            raise click.ClickException(f"cannot listen on {host}: {error}") from None
        # The certificate is for the host as it was given.
        address = (host, broker.server.address[1])
        for number in range(followers):
            stack.enter_context(Follower(number, address, broker.logs, tls=client_tls))
        click.echo(f"broker: {host}:{address[1]}\nmetrics: {url}")
        sys.stdout.flush()
        threading.Thread(target=_end_with, args=(broker.server,), name="watch").start()
        signal.sigwait(_END)
    click.echo("stopped")


@contextmanager
def _held_back(signals: set[signal.Signals]) -> Iterator[None]:
    """Let signals wait until they are asked for; those that still wait at the end are dropped."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, signals)
    try:
        yield
    finally:
        while signal.sigpending() & signals:
            signal.sigwait(signals)
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _end_with(server: Server) -> None:
    """End the process, as by the signal, if the server stops by an error; leaving raises it."""
    try:
        server.wait()
    except ServerFailed:
        os.kill(os.getpid(), signal.SIGTERM)


def _tls(
    certificate: str | None, authority: str | None
) -> tuple[ssl.SSLContext | None, ssl.SSLContext | None]:
    """Return both sides of TLS, for the server and for followers; None and None without."""
    if certificate is None and authority is None:
        return None, None
    if certificate is None or authority is None:
        raise click.UsageError(
            "--tls-certificate and --tls-authority go together: followers are clients, too"
        )
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    try:
        server.load_cert_chain(certificate)
    except OSError as error:
        raise click.UsageError(f"--tls-certificate {certificate}: {error}") from None
    try:
        return server, trusting(authority)
    except OSError as error:
        raise click.UsageError(f"--tls-authority {authority}: {error}") from None


if __name__ == "__main__":
    main()
