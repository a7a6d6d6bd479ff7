"""Failures of users' code: which of them ask the program to end, and how the others are logged.

An exception of whatever class ends only what has raised it: one operation, task or pass. Python has
two by which a program is asked to end, ``KeyboardInterrupt`` and ``SystemExit``. They mean the
program in its main thread alone; in another thread they are failures like any other.
"""

import logging
import threading
import traceback
from typing import Final

_LOGGER: Final = logging.getLogger("purgatory")


def asks_to_leave(failure: BaseException) -> bool:
    """Tell a request to end the program, which goes on to the caller, from a failure."""
    if not isinstance(failure, (KeyboardInterrupt, SystemExit)):
        return False
    return threading.current_thread() is threading.main_thread()


def log_failure(words: str, *named: object) -> None:
    """Log the exception that is being handled, as an error of the logger ``purgatory``.

    Handlers and filters are users' code too, and so is the ``__repr__`` of what is named. Where one
    of these raises, both tracebacks go to standard error, where ``logging`` itself reports such
    failures.

    Args:
        words: The message, with a place for each name.
        named: What the message names.

    Raises:
        KeyboardInterrupt, SystemExit: logging was interrupted, in the main thread.
    """
    try:
        _LOGGER.exception(words, *named, stacklevel=2)
    except BaseException as failure:
        if asks_to_leave(failure):
            raise
        traceback.print_exc()


def named_safely(thing: object) -> str:
    """Return the representation of something, or the name of its class alone where that raises."""
    try:
        return repr(thing)
    except BaseException as failure:
        if asks_to_leave(failure):
            raise
        return f"an unprintable {type(thing).__name__}"
