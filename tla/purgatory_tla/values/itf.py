"""itf-py, loaded when it is first needed.

The commands of this package are there in every installation, itf-py only with the extra ``tla``.
Where it is missing, that is a missing tool like any other.
"""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from purgatory_spec.installing import command_for
from purgatory_tla.errors import MissingTool

if TYPE_CHECKING:
    from types import ModuleType

    from itf_py import State, Trace


def make_state(meta: Mapping[str, object], values: Mapping[str, object]) -> "State":
    """Return a state of a trace."""
    return _itf().State(meta=dict(meta), values=dict(values))


def make_trace(states: list["State"], loop: int | None, meta: Mapping[str, object]) -> "Trace":
    """Return a trace of at least one state, with the variables of the first state."""
    return _itf().Trace(
        meta={"format": "ITF", **meta},
        params=[],
        vars=list(states[0].values),
        states=states,
        loop=loop,
    )


def read_trace(json: Mapping[str, object]) -> "Trace":
    """Return the trace that a JSON object holds."""
    return _itf().trace_from_json(json)


def immutable_list(elements: Iterable[object]) -> list[object]:
    """Return a list that can be hashed."""
    made: list[object] = _itf().itf.ImmutableList(elements)
    return made


def immutable_map(pairs: Mapping[object, object]) -> Mapping[object, object]:
    """Return a map that can be hashed."""
    made: Mapping[object, object] = _itf().itf.ImmutableDict(pairs)
    return made


def _itf() -> "ModuleType":
    try:
        import itf_py
    except ModuleNotFoundError as error:
        raise MissingTool(
            f"the Python package itf-py is not installed; install it with: {command_for('tla')}"
        ) from error
    module: ModuleType = itf_py
    return module
