"""What tests that start programs share."""

import signal


def may_be_interrupted() -> None:
    """Run in a child before its program begins: a test run in the background ignores Ctrl-C."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
