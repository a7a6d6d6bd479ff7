"""Functions of tests that Spark's workers run, though they import nothing of the present folder."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import ModuleType

from pyspark import cloudpickle


@contextmanager
def sent_whole(name: str) -> Iterator[None]:
    """Send the functions of a module whole, and not by the module's name."""
    begin: Callable[[ModuleType], None] = cloudpickle.register_pickle_by_value
    end: Callable[[ModuleType], None] = cloudpickle.unregister_pickle_by_value
    begin(sys.modules[name])
    try:
        yield
    finally:
        end(sys.modules[name])
