"""The size of a thread's stack, which bounds how deep tries and callbacks may be nested in it.

Linux tells it of each thread. Elsewhere, and where Python has no ``ctypes``, the size counts that
the program has set for new threads by ``threading.stack_size``.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Final

_ATTRIBUTES_BYTES: Final = 256
"""The bytes of a buffer that is larger than a ``pthread_attr_t`` on any system."""

_KNOWN: Final = threading.local()


def stack_bytes() -> int | None:
    """Return the size of this thread's stack, bytes; None where it is the platform's choice."""
    known: list[int | None] | None = getattr(_KNOWN, "stack", None)
    if known is None:
        known = _KNOWN.stack = [_ask() or threading.stack_size() or None]
    return known[0]


def _question() -> Callable[[], int]:
    """Make a function that asks the library of threads, or answers 0 without such a library.

    Made once and early: to load a library takes more stack than a small one has.
    """
    try:
        import ctypes

        library = ctypes.CDLL(None)
        read, free = library.pthread_getattr_np, library.pthread_attr_destroy
        read_size = library.pthread_attr_getstacksize
    except (ImportError, OSError, TypeError, AttributeError):
        return int

    def ask() -> int:
        attributes = ctypes.create_string_buffer(_ATTRIBUTES_BYTES)
        size = ctypes.c_size_t(0)
        if read(ctypes.c_ulong(threading.get_ident()), attributes) != 0:
            return 0
        read_size(attributes, ctypes.byref(size))
        free(attributes)
        return size.value

    return ask


_ask: Final = _question()
