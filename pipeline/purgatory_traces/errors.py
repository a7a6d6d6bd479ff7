"""Errors of the pipeline itself; none of them is ever a verdict."""

from importlib.util import find_spec

from purgatory_spec.installing import command_for


class PipelineError(Exception):
    """The pipeline did something wrong, or was given something that it cannot work with."""


class Refused(PipelineError):
    """A request that would do harm or cannot be meant; the message suggests another."""


class OutOfOrder(PipelineError):
    """An engine handed the lines of a run to the replay in the wrong order."""


class MissingExtra(Exception):
    """A library is not installed; the message says which extra has it."""


def require(library: str, extra: str, what: str) -> None:
    """See that a library of an extra is installed, which something needs.

    Raises:
        MissingExtra: it is not.
    """
    if find_spec(library) is None:
        raise MissingExtra(f"{what} needs {library}, not installed here: {command_for(extra)}")


class Unusable(Exception):
    """The contents of a line are impossible at its place in the run; the message says why."""


class Undecided(Exception):
    """The rules leave too much open to follow the run any further; the message says why."""
