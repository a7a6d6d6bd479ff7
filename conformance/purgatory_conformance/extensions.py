"""What other packages bring by entry points, also where their extra is not installed."""

from collections.abc import Iterator
from importlib import metadata
from typing import Any


def extensions(group: str) -> Iterator[tuple[metadata.EntryPoint, Any]]:
    """The entry points of a group by name, with what they name.

    Where that needs an extra of the distribution that is not installed, it is None; the entry
    point names the extra.
    """
    for entry_point in sorted(metadata.entry_points(group=group), key=lambda each: each.name):
        try:
            yield entry_point, entry_point.load()
        except ModuleNotFoundError:
            if not entry_point.extras:
                raise
            yield entry_point, None


def how_to_install(entry_point: metadata.EntryPoint) -> str:
    """The command that installs what an entry point needs."""
    return f"pip install 'purgatory-spec[{','.join(entry_point.extras)}]'"
