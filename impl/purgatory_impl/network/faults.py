"""The errors that end a connection or a thread of a server, told whatever the logger does."""

import logging
import sys
import traceback
from contextlib import suppress
from typing import Final

_LOGGER: Final = logging.getLogger("purgatory")


def report(problem: str, error: BaseException) -> None:
    """Log an error with its traceback, and raise nothing.

    A filter or a handler of ``logging`` may raise. Then the error goes to standard error, and what
    the logger raised behind it: a thread that serves others must not end for it.

    Args:
        problem: What the error means for connections.
        error: The error.
    """
    try:
        _LOGGER.error("%s", problem, exc_info=error)
    except BaseException as second:
        with suppress(BaseException):  # there may be no standard error
            print(f"purgatory: {problem}", file=sys.stderr)
            traceback.print_exception(error)
            traceback.print_exception(second, chain=False)
