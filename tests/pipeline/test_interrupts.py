"""Ctrl-C that waits: remembered, told where it takes long, and obeyed at the second time."""

import signal

import pytest

from purgatory_traces.engines.interrupts import remembered_interrupt

pytestmark = pytest.mark.verify


@pytest.fixture(autouse=True)
def as_in_a_terminal() -> None:
    """Heed the signals that a test run in the background ignores."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.mark.parametrize("words", ["", "interrupted; waiting for Java"])
def test_the_first_is_remembered_and_the_second_obeyed(
    words: str, capfd: pytest.CaptureFixture[str]
) -> None:
    with remembered_interrupt(words) as interrupted:
        assert not interrupted.is_set()
        signal.raise_signal(signal.SIGINT)
        assert interrupted.is_set()
        assert capfd.readouterr().err == (f"{words}\n" if words else "")
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)
