"""Reasons for not reading from a channel, and for closing one: names for users.

This module is not compiled: the compiler takes the docstrings of enumerations away.
"""

import enum


class Mute(enum.Enum):
    """A reason for which nothing is read from a channel."""

    MEMORY = "memory"
    """Its request was refused memory."""

    ORDER = "order"
    """Its last request is being handled, or the response is not written to its end."""

    THROTTLE = "throttle"
    """The server has told it to slow down."""


class CloseReason(enum.Enum):
    """The reason for which a channel was closed."""

    PEER_ENDED = "peer_ended"
    """The peer has ended before, between or within requests."""

    PEER_RESET = "peer_reset"
    """The connection is broken."""

    INVALID_SIZE = "invalid_size"
    """A request was announced with a negative size, or one above the largest."""

    TLS_FAILED = "tls_failed"
    """The handshake has failed, or a record was wrong."""

    NO_DATA = "no_data"
    """The peer has sent more than 32 records of TLS in a row without data, or a handshake of more
    than 128."""

    IDLE = "idle"
    """Nothing was received, written or handled for the idle limit."""

    SLOW = "slow"
    """A request had its memory and was not complete within the receive limit."""

    BY_US = "by_us"
    """The server has closed it."""

    UNREAD = "unread"
    """The unread responses had exceeded their limit, and this peer had read nothing the longest."""

    BAD_RESPONSE = "bad_response"
    """Its request was answered with something that is no response, or too large."""

    HANDLER_FAILED = "handler_failed"
    """The handler of its request has raised, or the memory of the request could not go back."""

    FAILED = "failed"
    """The server met an error at this connection alone: of a pool, a clock, TLS, memory."""
