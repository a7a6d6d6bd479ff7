"""Threads and coroutines of one process that receive from the same mailboxes."""

import threading
from collections import Counter

import pytest
from click.testing import CliRunner

from mailboxes.__main__ import main
from mailboxes.clients import END, Clients
from mailboxes.mailboxes import Mailboxes


def test_200_threads_and_200_coroutines_receive_every_message_exactly_once() -> None:
    """Each message is received by one client, some coroutines have given up, nothing is left."""
    before = set(threading.enumerate())
    clients = Clients(200, 20, 6000)
    clients.run()
    assert clients.received_by_threads + clients.received_by_coroutines == clients.sent
    assert clients.sent == Counter(map(str, range(6000)))
    assert min(clients.received_by_threads.total(), clients.received_by_coroutines.total()) > 0
    assert clients.given_up > 0
    assert clients.left() == 0
    assert set(threading.enumerate()) <= before


def test_a_message_that_is_received_twice_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """It says no, and ends with code 1; without that it says yes, and ends with code 0."""
    arguments = ["--clients", "3", "--mailboxes", "2", "--messages", "50"]
    ended = CliRunner().invoke(main, arguments)
    assert (ended.exit_code, ended.output.split()[-1]) == (0, "yes")

    put = Mailboxes.put

    def put_some_twice(self: Mailboxes, mailbox: str, message: str) -> None:
        put(self, mailbox, message)
        if message == "7":
            put(self, mailbox, message)

    monkeypatch.setattr(Mailboxes, "put", put_some_twice)
    ended = CliRunner().invoke(main, arguments)
    assert (ended.exit_code, ended.output.split()[-1]) == (1, "no")


def test_nobody_waits_longer_than_asked() -> None:
    mailboxes = Mailboxes()
    assert mailboxes.receive("empty", 1) is None
    mailboxes.put("full", END)
    assert mailboxes.receive("full", 1) == END
    mailboxes.close()
