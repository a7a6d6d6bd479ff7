"""Runs threads and coroutines that receive from the same mailboxes, and counts what they get.

python -m mailboxes --clients 200 --messages 20000
"""

import sys

import click

from mailboxes.clients import Clients

_COUNT = click.IntRange(1, 100_000)


@click.command(help="Send messages to threads and coroutines of one process.")
@click.option("--clients", default=200, show_default=True, type=_COUNT, help="Of each kind.")
@click.option("--mailboxes", default=20, show_default=True, type=_COUNT)
@click.option("--messages", default=20_000, show_default=True, type=_COUNT)
def main(clients: int, mailboxes: int, messages: int) -> None:
    """Run all clients; exit code 1 where a message was not received exactly once."""
    run = Clients(clients, mailboxes, messages)
    run.run()
    received = run.received_by_threads + run.received_by_coroutines
    click.echo(f"{clients} threads: {run.received_by_threads.total()} messages")
    click.echo(f"{clients} coroutines: {run.received_by_coroutines.total()} messages")
    click.echo(f"given up and begun anew: {run.given_up} times")
    exactly_once = received == run.sent and run.left() == 0
    click.echo(f"each of {messages} received exactly once: {'yes' if exactly_once else 'no'}")
    sys.exit(0 if exactly_once else 1)


if __name__ == "__main__":
    main()
