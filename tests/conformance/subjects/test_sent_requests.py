"""The bytes that a client has sent, and the requests that a server says it has received."""

import pytest

from purgatory_conformance.subjects.sent_requests import SentRequests, body_of


def test_requests_have_a_size_and_a_body_of_their_own() -> None:
    """The bytes are four of size, and those that the protocol says."""
    sent = SentRequests("c1")
    assert sent.announce(3, 2) + sent.send(3) + sent.send(2) == b"\0\0\0\3" + bytes((1, 2, 3))
    assert sent.announce(1, 5) == b"\0\0\0\1" + bytes((2,))
    assert body_of(250, 3) == bytes((250, 0, 1))


@pytest.mark.parametrize("size", [-1, -(2**31), 2**31 - 1])
def test_the_body_of_a_size_that_cannot_be_is_not_made(size: int) -> None:
    assert SentRequests("c1").announce(size, 4) == size.to_bytes(4, "big", signed=True)


def test_a_request_is_named_by_its_bytes() -> None:
    """Each is the first that was not received and has these bytes; else its number is 0."""
    sent = SentRequests("c1")
    for size in (0, 2, 0):
        sent.announce(size, 4 + size)
    bodies = (bytes((2, 3)), b"", bytes((2, 4)), b"", b"", bytes((2, 3)))
    names = [sent.receive(body) for body in bodies]
    assert names == ["c1#2", "c1#1", "c1#0", "c1#3", "c1#0", "c1#0"]


def test_bytes_of_size_are_none_of_bodies() -> None:
    sent = SentRequests("c1")
    sent.announce(3, 7)
    sent.announce(2, 5)
    assert [sent.of_bodies(unread) for unread in (0, 1, 5, 6, 12)] == [0, 1, 1, 2, 4]
