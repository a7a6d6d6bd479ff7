"""The thread that makes calls while a callback stands still: it ends with its step."""

import threading
from functools import partial

import pytest

from purgatory_conformance.subjects.other_thread import OtherThread


def named() -> set[threading.Thread]:
    return {thread for thread in threading.enumerate() if thread.name == "meanwhile"}


def test_the_thread_ends_with_its_step() -> None:
    """Given another thread: all calls are made in their order, and no thread is left."""
    before = named()
    other, made, held = OtherThread(0.01), list[int](), threading.Lock()

    def wait() -> None:
        with held:
            pass

    for step in (1, 2):
        with held:
            other.call(wait)
            other.call(partial(made.append, step))
            assert made == list(range(1, step))
        other.end_step()

    assert made == [1, 2]
    assert named() <= before


def test_the_failure_of_a_call_ends_the_step() -> None:
    before = named()
    other = OtherThread()

    def fail() -> None:
        raise KeyError("o1")

    other.call(fail)
    with pytest.raises(KeyError):
        other.end_step()
    other.end_step()
    assert named() <= before
