"""Ask for the sockets that are ready, and the peers that have ended.

Linux tells of a peer's end also where nothing is to be read from the socket: by ``epoll``, which
``selectors`` does not let through. Elsewhere a look at the socket tells of it, as long as the peer
has sent nothing before its end that is unread, such as a next request. Behind unread bytes the end
is noticed when these have been read.
"""

import array
import select
import selectors
import socket
import sys
from typing import Final, Protocol

READ: Final = 1
"""There are bytes, or the peer has ended; to be read."""

WRITE: Final = 2
"""The socket takes bytes."""

END: Final = 4
"""The peer sends nothing after what is in the socket."""

BROKEN: Final = 8
"""The connection is gone in both directions."""


class Readiness(Protocol):
    """Sockets that are looked at together."""

    def watch(self, connection: socket.socket, interest: int) -> None:
        """Look at a socket from now on; ``interest`` is made of READ, WRITE and END."""

    def change(self, connection: socket.socket, interest: int) -> None:
        """Look at it for something else."""

    def forget(self, connection: socket.socket) -> None:
        """Look at it no longer; called before it is closed."""

    def wait(self, timeout_ms: int) -> list[tuple[int, int]]:
        """Return descriptors with what was found, as soon as one is ready or after the time-out."""

    def close(self) -> None:
        """Forget all sockets and close."""


class EpollReadiness:
    """Readiness by ``epoll`` of the system."""

    def __init__(self) -> None:
        self._epoll = select.epoll()

    def watch(self, connection: socket.socket, interest: int) -> None:
        """Look at a socket from now on."""
        self._epoll.register(connection.fileno(), _mask(interest))

    def change(self, connection: socket.socket, interest: int) -> None:
        """Look at it for something else."""
        self._epoll.modify(connection.fileno(), _mask(interest))

    def forget(self, connection: socket.socket) -> None:
        """Look at it no longer."""
        self._epoll.unregister(connection.fileno())

    def wait(self, timeout_ms: int) -> list[tuple[int, int]]:
        """Return descriptors with what was found."""
        return [
            (descriptor, _MEANING.get(mask) or _meaning(mask))
            for descriptor, mask in self._epoll.poll(timeout_ms / 1000)
        ]

    def close(self) -> None:
        """Forget all sockets and close."""
        self._epoll.close()


class SelectorReadiness:
    """Any system's selector: a socket that is not to be read is left out, its end unnoticed.

    So the end is looked for in each socket that has something to read, before it is left out.
    """

    def __init__(self) -> None:
        self._selector = selectors.DefaultSelector()
        self._known: set[int] = set()

    def watch(self, connection: socket.socket, interest: int) -> None:
        """Look at a socket from now on."""
        self.change(connection, interest)

    def change(self, connection: socket.socket, interest: int) -> None:
        """Look at it for something else."""
        descriptor, events = connection.fileno(), interest & (READ | WRITE)
        if not events:
            self.forget(connection)
        elif descriptor in self._known:
            self._selector.modify(descriptor, events, connection)
        else:
            self._selector.register(descriptor, events, connection)
            self._known.add(descriptor)

    def forget(self, connection: socket.socket) -> None:
        """Look at it no longer."""
        descriptor = connection.fileno()
        if descriptor in self._known:
            self._known.remove(descriptor)
            self._selector.unregister(descriptor)

    def wait(self, timeout_ms: int) -> list[tuple[int, int]]:
        """Return descriptors with what was found."""
        return [
            (key.fd, events | _end_in(key.data) if events & READ else events)
            for key, events in self._selector.select(timeout_ms / 1000)
        ]

    def close(self) -> None:
        """Forget all sockets and close."""
        self._selector.close()


def system_readiness() -> Readiness:
    """Return the best readiness that the system has."""
    return EpollReadiness() if hasattr(select, "epoll") else SelectorReadiness()


if sys.platform != "win32":
    import fcntl
    import termios

    def unread_bytes(connection: socket.socket) -> int:
        """Return the number of unread bytes in a socket."""
        count = array.array("i", [0])
        fcntl.ioctl(connection, termios.FIONREAD, count)
        return count[0]

else:

    def unread_bytes(_connection: socket.socket) -> int:
        """Return 0: it is asked after END, which is seen here behind the last byte alone."""
        return 0


def _end_in(connection: socket.socket) -> int:
    """Return END where the next thing to read is the peer's end, BROKEN for a failure, or 0."""
    try:
        return 0 if connection.recv(1, socket.MSG_PEEK) else END
    except BlockingIOError:
        return 0
    except OSError:
        return BROKEN


def _mask(interest: int) -> int:
    mask = 0
    if interest & READ:
        mask |= select.EPOLLIN
    if interest & WRITE:
        mask |= select.EPOLLOUT
    if interest & END:
        mask |= select.EPOLLRDHUP
    return mask


def _meaning(mask: int) -> int:
    meaning = 0
    if mask & select.EPOLLIN:
        meaning |= READ
    if mask & select.EPOLLOUT:
        meaning |= WRITE
    if mask & select.EPOLLRDHUP:
        meaning |= END
    if mask & (select.EPOLLHUP | select.EPOLLERR):
        meaning |= BROKEN
    return meaning


_MEANING: Final = {1: READ, 4: WRITE, 5: READ | WRITE}
"""The usual ones, looked up: the numbers of EPOLLIN and EPOLLOUT."""
