"""Transports: how bytes come out of a socket and go into it, plain or by TLS.

A transport never blocks and never reads ahead, so that what it was not asked for stays in the
socket: there the peer's own flow control holds it. TLS is the exception by necessity, since a
record can only be decrypted whole. At most one record of a channel, 16 KiB and some bytes, lies
outside of any bound; while the hands are shaken it is one message of the peer, which OpenSSL bounds
at 128 KiB.

A transport works in *turns*. A turn has a fixed number of bytes, or of records under TLS, whether
they carry data or not; then the transport is *spent*, and leaves what there may be to its next
turn. So a peer that sends without end gets as much as one that sends much.

TLS answers some records by itself, an update of keys for example. Such an answer is handed to the
socket before another record is taken, and while the socket does not take it none is. So what is
owed to a peer that does not read is at most what one record asks for.
"""

import socket
import ssl
from collections.abc import Callable
from contextlib import suppress
from typing import Final, Protocol, cast

_HEADER_BYTES: Final = 5
"""The bytes of the head of a TLS record: type, version, length."""

_RECORD_TYPES: Final = range(20, 25)
_LARGEST_RECORD_BYTES: Final = 2**14 + 2**11
_CHUNK_BYTES: Final = 16 * 1024
"""The bytes that are encrypted at a time: a record."""

TURN_RECORDS: Final = 16
"""The most records of TLS that are read and written in a turn.

After the handshake a small one counts as ``SMALL_COST``: it costs the server nearly as much as a
full one, and who sends well seldom sends many. One behind a record without data ends the turn: new
keys, and the answer, cost as much as many records.
"""

SMALL_COST: Final = 4
_SMALL_BYTES: Final = 1024

TURN_BYTES: Final = TURN_RECORDS * _CHUNK_BYTES
"""The most bytes that are read and written in a turn without TLS: those of 16 records."""

RECORDS_WITHOUT_DATA: Final = 32
"""The most records in a row that may bring no data once the handshake is over."""

RECORDS_OF_HANDSHAKE: Final = 128
"""The most records of a handshake: chains of certificates come in pieces of 512 bytes."""


class TooManyRecords(Exception):
    """A peer sends records that bring no data, or a handshake in more records than any needs."""


class Transport(Protocol):
    """The bytes of one connection."""

    @property
    def is_buffering(self) -> bool:
        """Decide whether bytes are ready to read of which the socket will not tell."""

    @property
    def is_writing(self) -> bool:
        """Decide whether bytes wait that the socket has not taken, a handshake's among them."""

    @property
    def is_spent(self) -> bool:
        """Return whether the turn is used up, so that more may be there to read or to write."""

    def renew(self) -> None:
        """Begin a turn of reading and writing."""

    def handshake(self) -> bool:
        """Go on with the handshake as far as the turn allows; whether it is complete.

        Raises:
            TooManyRecords: it has more than ``RECORDS_OF_HANDSHAKE``.
            ssl.SSLError: it has failed.
            OSError: the connection has broken.
        """

    def read(self, most: int) -> bytes | None:
        """Return up to ``most`` bytes; none at the peer's end; None where none are there now.

        Raises:
            TooManyRecords: more than ``RECORDS_WITHOUT_DATA`` in a row have brought none.
            ssl.SSLError: a record was wrong.
            OSError: the connection has broken.
        """

    def read_into(self, view: memoryview) -> int | None:
        """Read into a buffer and return the number of bytes; otherwise like ``read``."""

    def write(self, view: memoryview) -> int:
        """Write as much as is taken at present and in this turn; how much that was."""

    def flush(self) -> None:
        """Hand over to the socket what it has not taken before."""

    def close(self) -> None:
        """Say good-bye if that is possible at once, and close the socket."""


class PlainTransport:
    """A plain socket without encryption."""

    __slots__ = ("_left", "_socket")

    is_buffering = False
    is_writing = False

    def __init__(self, connection: socket.socket) -> None:
        self._socket = connection
        self._left = TURN_BYTES

    @property
    def is_spent(self) -> bool:
        """Return whether the bytes of the turn are used up."""
        return self._left <= 0

    def renew(self) -> None:
        """Begin a turn of ``TURN_BYTES``."""
        self._left = TURN_BYTES

    def handshake(self) -> bool:
        """Return true: a plain connection has no handshake."""
        return True

    def read(self, most: int) -> bytes | None:
        """Return up to ``most`` bytes; none at the peer's end; None where none are there now."""
        if self._left <= 0:
            return None
        try:
            found = self._socket.recv(most)
        except BlockingIOError:
            return None
        self._left -= len(found)
        return found

    def read_into(self, view: memoryview) -> int | None:
        """Read into a buffer and return the number of bytes; otherwise like ``read``."""
        if self._left <= 0:
            return None
        try:
            taken = self._socket.recv_into(view, min(len(view), self._left))
        except BlockingIOError:
            return None
        self._left -= taken
        return taken

    def write(self, view: memoryview) -> int:
        """Write as much as the socket takes and the turn has."""
        if self._left <= 0:
            return 0
        try:
            taken = self._socket.send(view if len(view) <= self._left else view[: self._left])
        except BlockingIOError:
            return 0
        self._left -= taken
        return taken

    def flush(self) -> None:
        """Do nothing: no bytes are kept back."""

    def close(self) -> None:
        """Close the socket of the connection."""
        self._socket.close()


class TlsTransport:
    """TLS over the socket, record by record.

    The context refuses renegotiation from now on: TLS 1.2 would let the peer ask for a handshake, a
    millisecond of work, as often as it likes, and stop the writing of responses with half of one.
    """

    __slots__ = (
        "_barren",
        "_cost",
        "_decrypt_into",
        "_head",
        "_incoming",
        "_left",
        "_missing",
        "_most_barren",
        "_outgoing",
        "_socket",
        "_tls",
        "_unsent",
    )

    def __init__(self, connection: socket.socket, context: ssl.SSLContext) -> None:
        self._socket = connection
        context.options |= ssl.OP_NO_RENEGOTIATION
        self._incoming = ssl.MemoryBIO()
        self._outgoing = ssl.MemoryBIO()
        self._tls = context.wrap_bio(self._incoming, self._outgoing, server_side=True)
        # With a buffer ``read`` returns a number, which its published type does not know.
        self._decrypt_into = cast("Callable[[int, memoryview], int]", self._tls.read)
        self._head = bytearray()  # of the record that is being taken
        self._missing = _HEADER_BYTES
        self._cost = 1  # of that record, once its head is there
        self._unsent = b""
        self._left = TURN_RECORDS
        self._barren = 0  # records that were taken since the last data
        self._most_barren = RECORDS_OF_HANDSHAKE

    @property
    def is_spent(self) -> bool:
        """Return whether the records of the turn are used up."""
        return self._left <= 0

    def renew(self) -> None:
        """Begin a turn of ``TURN_RECORDS``."""
        self._left = TURN_RECORDS

    @property
    def is_buffering(self) -> bool:
        """Decide whether a record has been decrypted and not been read to its end."""
        return self._tls.pending() > 0

    @property
    def is_writing(self) -> bool:
        """Decide whether records wait that the socket has not taken."""
        return bool(self._unsent or self._outgoing.pending)

    def handshake(self) -> bool:
        """Go on with the handshake as far as the turn allows; whether it is complete."""
        try:
            while True:
                try:
                    self._tls.do_handshake()
                except ssl.SSLWantReadError:
                    if not self._take_record():
                        return False
                else:
                    self._barren = 0
                    self._most_barren = RECORDS_WITHOUT_DATA
                    return True
        finally:
            self.flush()

    def read(self, most: int) -> bytes | None:
        """Return up to ``most`` bytes; none at the peer's end; None where none are there now."""
        while True:
            try:
                found = self._tls.read(most)
            except ssl.SSLWantReadError:
                if not self._take_record():
                    return None
            except (ssl.SSLZeroReturnError, ssl.SSLEOFError):
                return b""  # with or without a good-bye: the sizes say what is whole
            else:
                self._barren = 0
                return found

    def read_into(self, view: memoryview) -> int | None:
        """Read as many records as fit and have come, and return the number of bytes."""
        done = 0
        while done < len(view):
            try:
                taken = self._decrypt_into(len(view) - done, view[done:])
            except ssl.SSLWantReadError:
                if not self._take_record():
                    break
            except (ssl.SSLZeroReturnError, ssl.SSLEOFError):
                return done
            else:
                if not taken:
                    return done
                self._barren = 0
                done += taken
        return done or None

    def write(self, view: memoryview) -> int:
        """Encrypt and write, record by record, while the socket takes them whole, for a turn."""
        self.flush()
        done = 0
        while done < len(view) and self._left > 0 and not self.is_writing:
            self._left -= 1
            done += self._tls.write(view[done : done + _CHUNK_BYTES])
            self.flush()
        return done

    def flush(self) -> None:
        """Hand over to the socket what it has not taken before."""
        while self.is_writing:
            records = self._unsent or self._outgoing.read()
            try:
                taken = self._socket.send(records)
            except BlockingIOError:
                taken = 0
            self._unsent = records[taken:]
            if self._unsent:
                return

    def close(self) -> None:
        """Tell the peer, if the socket takes it at once, and close."""
        with suppress(OSError, ValueError):  # the peer's good-bye is not waited for
            self._tls.unwrap()
        with suppress(OSError):  # nobody may be there any more
            self.flush()
        self._socket.close()

    def _take_record(self) -> bool:
        """Take one record from the socket, or a part of the record; whether the record is whole.

        None is taken while an answer to an earlier one is owed, or when the turn is over.

        Raises:
            TooManyRecords: so many have brought no data that this one is not looked at.
        """
        self.flush()
        if self._left <= 0 or self.is_writing:
            return False
        while True:
            try:
                taken = self._socket.recv(self._missing)
            except BlockingIOError:
                return False
            if not taken:
                self._incoming.write_eof()
                return True
            self._incoming.write(taken)
            self._missing -= len(taken)
            is_head = len(self._head) < _HEADER_BYTES
            if is_head:
                self._head += taken
            if self._missing:
                return False
            if is_head:
                self._missing = _bytes_behind(self._head)
                self._cost = self._cost_of(self._missing)
            if not is_head or not self._missing:
                self._head.clear()
                self._missing = _HEADER_BYTES
                self._left -= self._cost
                self._barren += 1
                if self._barren > self._most_barren:
                    raise TooManyRecords
                return True

    def _cost_of(self, bytes_: int) -> int:
        """Return what a record of a size counts in the turn: a peer chooses the dearest records."""
        if self._most_barren == RECORDS_OF_HANDSHAKE:
            return 1
        if self._barren:
            return TURN_RECORDS
        return 1 if bytes_ >= _SMALL_BYTES else SMALL_COST


def _bytes_behind(head: bytearray) -> int:
    """Return the bytes that follow a record's head; 0 for no record at all: TLS will refuse it."""
    size = int.from_bytes(head[3:5], "big")
    return size if head[0] in _RECORD_TYPES and size <= _LARGEST_RECORD_BYTES else 0
