"""The figures of the docs page: for each study its answer in sentences and its table, from rows."""

from collections.abc import Callable, Iterator
from typing import Final

from purgatory_pipeline.studies.figures_of_lists import agreement, expiries, keys, purge, weak
from purgatory_pipeline.studies.figures_of_timers import designs, time_outs, wheel
from purgatory_pipeline.studies.reading import Rows

_FIGURES: Final[dict[str, Callable[[Rows], Iterator[str]]]] = {
    "designs": designs,
    "wheel": wheel,
    "time-outs": time_outs,
    "purge": purge,
    "keys": keys,
    "weak": weak,
    "expiries": expiries,
    "agreement": agreement,
}


def figures_of(study: str, rows: Rows) -> str:
    """Answer and table of a study, in Markdown."""
    return "\n".join(_FIGURES[study](rows))
