"""A client that writes the records of TLS itself: kinds, sizes and numbers as no library would.

The handshake is Python's own. The keys of what the client writes after it follow from the secrets
that the library logs, by RFC 8446 for TLS 1.3 and by RFC 5246 and RFC 5288 for TLS 1.2. So any
record can be written that a server has to take for one of its client's.
"""

import hmac
import socket
import ssl
import struct
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from cryptography.hazmat.primitives.ciphers.aead import AESGCM, ChaCha20Poly1305

CHANGE_CIPHER: Final = 20
ALERT: Final = 21
HANDSHAKE: Final = 22
DATA: Final = 23

CLIENT_HELLO: Final = 1
_KEY_UPDATE: Final = 24
_TAG_BYTES: Final = 16
_IV_BYTES: Final = 12
_SALT_BYTES: Final = 4
_CHUNK_BYTES: Final = 2**16
_SERVER_RANDOM: Final = slice(11, 43)
"""The place of the server's random in its first bytes, behind two heads and the version."""

_CIPHERS_1_2: Final = "ECDHE+AESGCM"
"""The cipher suites of TLS 1.2 that this module can write."""


class RawClient:
    """A connection whose handshake is done, and records for it.

    Attributes:
        wire: The connection, with the time-out that its maker has set.
    """

    def __init__(
        self, wire: socket.socket, context: ssl.SSLContext, *, name: str = "localhost"
    ) -> None:
        """Shake hands and read the secrets.

        Args:
            wire: A connection to the server.
            context: The client's side; it logs secrets afterwards into a file that is gone.
            name: The server's name in its certificate.

        Raises:
            ssl.SSLError: the handshake has failed.
        """
        self.wire = wire
        with TemporaryDirectory() as folder:
            log = Path(folder) / "secrets"
            context.keylog_filename = str(log)
            context.set_ciphers(_CIPHERS_1_2)
            session, first = _shaken(wire, context, name)
            lines = log.read_text("ascii").splitlines()
            secrets = dict(_secret(line) for line in lines if not line.startswith("#"))
        cipher = session.cipher()
        assert cipher is not None
        self._is_1_3 = session.version() == "TLSv1.3"
        self._hash = "sha384" if "SHA384" in cipher[0] else "sha256"
        self._key_bytes = 16 if "128" in cipher[0] else 32
        self._is_chacha = "CHACHA20" in cipher[0]
        self._number = 0
        if self._is_1_3:
            self._secret = secrets["CLIENT_TRAFFIC_SECRET_0"][1]
            self._take_keys()
        else:
            client_random, master = secrets["CLIENT_RANDOM"]
            seed = b"key expansion" + first[_SERVER_RANDOM] + client_random
            block = _expanded(master, seed, 2 * (self._key_bytes + _SALT_BYTES), self._hash)
            self._box: AESGCM | ChaCha20Poly1305 = AESGCM(block[: self._key_bytes])
            self._iv = block[2 * self._key_bytes :][:_SALT_BYTES]
            self._number = 1  # the end of the handshake was the first that was encrypted

    def record(self, kind: int, data: bytes) -> bytes:
        """Encrypt the next record; records must be sent once each, in the order of the calls."""
        number = struct.pack(">Q", self._number)
        self._number += 1
        if self._is_1_3:
            inner = data + bytes([kind])
            head = struct.pack(">BHH", DATA, 0x0303, len(inner) + _TAG_BYTES)
            nonce = bytes(a ^ b for a, b in zip(self._iv, bytes(4) + number, strict=True))
            return head + self._box.encrypt(nonce, inner, head)
        signed = number + struct.pack(">BHH", kind, 0x0303, len(data))
        sealed = number + self._box.encrypt(self._iv + number, data, signed)
        return struct.pack(">BHH", kind, 0x0303, len(sealed)) + sealed

    def key_update(self, *, is_requested: bool) -> bytes:
        """Change the client's keys by a record, which may ask the server for the same."""
        found = self.record(HANDSHAKE, bytes([_KEY_UPDATE, 0, 0, 1, is_requested]))
        self._secret = _labelled(self._secret, b"traffic upd", len(self._secret), self._hash)
        self._take_keys()
        return found

    def _take_keys(self) -> None:
        key = _labelled(self._secret, b"key", self._key_bytes, self._hash)
        self._box = ChaCha20Poly1305(key) if self._is_chacha else AESGCM(key)
        self._iv = _labelled(self._secret, b"iv", _IV_BYTES, self._hash)
        self._number = 0


def client_hello() -> bytes:
    """Return the message with which a client asks for a handshake within a connection."""
    body = b"\x03\x03" + bytes(32) + b"\0" + b"\0\2\xc0\x2f" + b"\1\0"
    return bytes([CLIENT_HELLO]) + len(body).to_bytes(3, "big") + body


def _shaken(wire: socket.socket, context: ssl.SSLContext, name: str) -> tuple[ssl.SSLObject, bytes]:
    """Shake hands; return the session and the server's first bytes."""
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    session = context.wrap_bio(incoming, outgoing, server_hostname=name)
    first = b""
    while True:
        try:
            session.do_handshake()
        except ssl.SSLWantReadError:
            wire.sendall(outgoing.read())
            found = wire.recv(_CHUNK_BYTES)
            if not found:
                raise ConnectionError("the server has ended the handshake") from None
            first = first or found
            incoming.write(found)
        else:
            wire.sendall(outgoing.read())
            return session, first


def _secret(line: str) -> tuple[str, tuple[bytes, bytes]]:
    """Return the name of a logged secret, the client's random bytes, and the secret."""
    name, random, secret = line.split()
    return name, (bytes.fromhex(random), bytes.fromhex(secret))


def _labelled(secret: bytes, label: bytes, count: int, name: str) -> bytes:
    """Compute HKDF-Expand-Label of RFC 8446, for results of at most one digest."""
    label = b"tls13 " + label
    told = struct.pack(">HB", count, len(label)) + label + b"\0"
    return hmac.digest(secret, told + b"\1", name)[:count]


def _expanded(secret: bytes, seed: bytes, count: int, name: str) -> bytes:
    """Compute the pseudorandom function of RFC 5246; ``seed`` begins with the label."""
    found, inner = b"", seed
    while len(found) < count:
        inner = hmac.digest(secret, inner, name)
        found += hmac.digest(secret, inner + seed, name)
    return found[:count]
