"""Reasons for rejections: a closed enumeration, compared by code and never by message."""

from enum import Enum


class Reason(Enum):
    """The reasons an operation may be rejected for, in every language the same."""

    INVALID_ARGUMENT = "invalid_argument"
    """An argument lies outside what the rules allow, for example no key, or no byte."""

    TOO_LARGE = "too_large"
    """A delay exceeds the largest one that the implementation documents."""

    CLOSED = "closed"
    """The component has been shut down."""

    NO_MEMORY = "no_memory"
    """The memory behind a buffer cannot be had, though the pool grants it."""

    REFUSED = "refused"
    """The executor takes no task, and its exception reached the caller."""

    THROWN = "thrown"
    """The user's own code threw, and its exception reached the caller."""

    UNKNOWN_NAME = "unknown_name"
    """The step names something that was never introduced."""

    UNSUPPORTED = "unsupported"
    """The adapter does not offer this operation."""

    INTERNAL = "internal"
    """The implementation failed in a way that no rule plans; no rule ever predicts it."""
