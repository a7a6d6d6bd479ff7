"""``--log-level``: what the parts of the pipeline log while a command runs.

Each module that logs has a logger of its own name, below ``purgatory_traces`` or
``purgatory_spark``; its level may be set apart in a program. The option shows their records on
standard error, and no one else's: what Spark and other libraries log is no part of it.
"""

import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import click

LEVELS: Final = ("debug", "info", "warning", "error")
_LOGGERS: Final = tuple(map(logging.getLogger, ("purgatory_traces", "purgatory_spark")))
_FORMAT: Final = "%(asctime)s.%(msecs)03dZ %(levelname)s %(name)s: %(message)s"


class _ToStandardError(logging.Handler):
    """Writes to what is standard error at that moment: while a bar is shown, above the bar."""

    def emit(self, record: logging.LogRecord) -> None:
        try:
            click.echo(self.format(record), err=True)
        except Exception:
            self.handleError(record)


@contextmanager
def shown_from(level: str) -> Iterator[None]:
    """Show the records of the pipeline from a level on, on standard error, with times in UTC."""
    formatter = logging.Formatter(_FORMAT, "%Y-%m-%dT%H:%M:%S")
    formatter.converter = time.gmtime
    handler = _ToStandardError()
    handler.setFormatter(formatter)
    before = [logger.level for logger in _LOGGERS]
    for logger in _LOGGERS:
        logger.setLevel(level.upper())
        logger.addHandler(handler)
    try:
        yield
    finally:
        for logger, its_level in zip(_LOGGERS, before, strict=True):
            logger.removeHandler(handler)
            logger.setLevel(its_level)


def _show(context: click.Context, _: click.Parameter, level: str) -> None:
    if not context.resilient_parsing:
        context.with_resource(shown_from(level))


LOG_LEVEL: Final = click.option(
    "--log-level",
    type=click.Choice(LEVELS),
    default="warning",
    show_default=True,
    envvar="PURGATORY_LOG_LEVEL",
    show_envvar=True,
    expose_value=False,
    callback=_show,
    help="What is logged, on standard error.",
)
"""The option, for a command."""
