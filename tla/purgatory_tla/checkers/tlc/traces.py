"""The behaviour that TLC prints, as an ITF trace.

Every state's ``meta`` holds ``index`` (from 0), and but for the first one ``action``, the operator
whose step led there. A lasso's last step leads back: ``loop`` is the index of the state to which
it does, and the trace's ``meta`` holds ``loop_action``. Where the behaviour ends in stuttering,
``loop`` is the index of the last state.
"""

import re
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from purgatory_tla.checkers.tlc.log import Message
from purgatory_tla.errors import IllTyped, UnexpectedOutput
from purgatory_tla.modules.module_text import ModuleText
from purgatory_tla.values.itf import make_state, make_trace
from purgatory_tla.values.printed import Printed, parse_state
from purgatory_tla.values.shapes import shaped
from purgatory_tla.values.values import Value

if TYPE_CHECKING:
    from itf_py import State, Trace

INITIAL_VIOLATION = frozenset({2107, 2108})
STATE = 2217
STUTTERING = 2218
BACK_TO_STATE = 2122

_STATE = re.compile(r"(\d+): (?:<(.*?)>)?[ ]*\n(.*)\Z", re.DOTALL)
_BACK = re.compile(r"(\d+): Back to state[^:<]*:? ?(?:<(.*?)>)?", re.DOTALL)
_ACTION = re.compile(r"(\S+) line (\d+), col \d+ to line \d+, col \d+ of module (\S+)\Z")
_SIMULATED = re.compile(r"^STATE_\d+ ==\s*$", re.MULTILINE)


def trace_in(messages: Iterable[Message], module: ModuleText) -> "Trace | None":
    """Return the behaviour among the messages; None where there is none.

    Raises:
        UnexpectedOutput: it has a form that is not known.
        IllTyped: a value is not of the type that the module declares.
    """
    states: list[State] = []
    loop: int | None = None
    meta: dict[str, object] = {}
    for message in messages:
        if message.code in INITIAL_VIOLATION:
            text = message.text.partition("\n")[2]
            states.append(_state(text, 0, None, module))
        elif message.code == STATE:
            states.append(_numbered_state(message.text, len(states), module))
        elif message.code == STUTTERING:
            loop = len(states) - 1
        elif message.code == BACK_TO_STATE:
            match = _BACK.match(message.text)
            if match is None:
                raise UnexpectedOutput(f"TLC ends a lasso in an unknown form: {message.text}")
            loop = int(match[1]) - 1
            if (action := _action_name(match[2], module)) is not None:
                meta["loop_action"] = action
    if not states:
        return None
    if loop is not None and not 0 <= loop < len(states):
        raise UnexpectedOutput(f"TLC's lasso leads to state {loop + 1} of {len(states)}")
    return make_trace(states, loop, {"source": module.path.name, **meta})


def simulated_trace(path: Path, module: ModuleText) -> "Trace":
    """Return the behaviour in a file that TLC's simulation writes; it does not name actions.

    Raises:
        UnexpectedOutput: the file has a form that is not known.
        IllTyped: a value is not of the type that the module declares.
    """
    text = path.read_text(encoding="utf-8", errors="replace")
    body, closed, _ = text.rpartition("\n====")
    parts = _SIMULATED.split(body)
    if not closed or len(parts) < 2:
        raise UnexpectedOutput(f"the simulated behaviour {path.name} is not complete", raw_log=text)
    states = [_state(part, index, None, module) for index, part in enumerate(parts[1:])]
    return make_trace(states, None, {"source": module.path.name})


def _numbered_state(text: str, index: int, module: ModuleText) -> "State":
    match = _STATE.match(text)
    if match is None or int(match[1]) != index + 1:
        raise UnexpectedOutput(f"TLC prints a state in an unknown form: {text}")
    return _state(match[3], index, _action_name(match[2], module), module)


def _state(text: str, index: int, action: str | None, module: ModuleText) -> "State":
    meta: dict[str, object] = {"index": index}
    if action is not None:
        meta["action"] = action
    values = {
        name: _shaped_variable(name, printed, index, module)
        for name, printed in parse_state(text).items()
    }
    return make_state(meta, values)


def _shaped_variable(name: str, printed: Printed, index: int, module: ModuleText) -> Value:
    try:
        return shaped(printed, module.annotations.types.get(name))
    except IllTyped as error:
        raise IllTyped(
            f"{name} in state {index + 1} of {module.name}: {error}", module=module.name
        ) from error


def _action_name(header: str | None, module: ModuleText) -> str | None:
    """Return the operator that a header names; an unnamed part of ``Next`` has "Action"."""
    match = _ACTION.match(header or "")
    if match is None:
        return None
    if match[1] in module.definitions:
        return match[1]
    return module.definition_at(match[3], int(match[2])) or match[1]
