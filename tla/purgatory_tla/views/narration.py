"""A checker's trace as a story: every step in the words of its action, the counts beside it."""

import re
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from purgatory_model.claims.narrative import Narrative, NarrativeStep
from purgatory_tla.checkers.results import CheckResult, Outcome
from purgatory_tla.comparing.history_dump import STEP
from purgatory_tla.manifest.manifest import Kind, Model
from purgatory_tla.modules.vocabulary import Owned, vocabulary
from purgatory_tla.views import counts_of
from purgatory_tla.views.actors import tell
from purgatory_tla.views.sayings import State

if TYPE_CHECKING:
    from itf_py import Trace

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z0-9]+")


def narrate(model: Model, result: CheckResult, folder: Path) -> Narrative:
    """Return the trace of a run as a story.

    Raises:
        ValueError: the run has no trace.
        InvalidSaying: a ``@says`` line does not fit the trace.
    """
    if result.trace is None or model.module is None:
        raise ValueError("there is no trace to tell")
    known = vocabulary(folder, model.module)
    steps = _steps(result.trace, known, model)
    last = steps[-1]
    remark = _remark(model, result)
    steps[-1] = NarrativeStep(last.number, last.actor, last.text, last.counts, remark)
    return Narrative(
        title=model.title,
        actors=tuple(dict.fromkeys(step.actor for step in steps if step.actor)),
        counts=tuple(dict.fromkeys(name for step in steps for name in step.counts)),
        steps=tuple(steps),
        verdict=_verdict(model, result, known),
        explanation=model.explanation,
        loop=result.trace.loop,
        is_witness=model.kind is Kind.WITNESS and result.violated is not None,
    )


def _steps(trace: "Trace", known: Mapping[str, Owned], model: Model) -> list[NarrativeStep]:
    """Return the steps from the initial state; a lasso's step back is the last."""
    states: list[State] = [state.values for state in trace.states]
    actions = [str(state.meta.get("action", "")) for state in trace.states]
    if STEP in states[0]:
        states, actions = _labelled(states)
    if trace.loop is not None and trace.loop < len(states) - 1:
        states.append(states[trace.loop])
        actions.append(str(trace.meta.get("loop_action", "")))
    counts = [counts_of(model.module or "", state, model.constants) for state in states]
    steps = [NarrativeStep(0, "", "at first", counts[0])]
    for number, (before, after) in enumerate(pairwise(states), start=1):
        told = tell(actions[number], before, after, known)
        steps.append(NarrativeStep(number, told.actor, told.text, counts[number]))
    return steps


def _labelled(states: list[State]) -> tuple[list[State], list[str]]:
    """Return the labelled states of a history module's trace, without steps to rest."""
    bearing = [states[0], *(state for state in states[1:] if _label(state))]
    return bearing, [_label(state) for state in bearing]


def _label(state: State) -> str:
    """Return the action that a history module's state shows; empty at rest."""
    label = state[STEP]
    return str(label[0]) if isinstance(label, tuple) and label else ""


def _remark(model: Model, result: CheckResult) -> str:
    if result.outcome is Outcome.DEADLOCK:
        return "nothing can happen any more"
    if model.kind is Kind.WITNESS:
        return "reached"
    return f"claim broken: {in_words(result.violated or 'an assertion')}"


def _verdict(model: Model, result: CheckResult, known: Mapping[str, Owned]) -> str:
    if result.violated is None:
        return "Nothing can happen any more, and not everything is done."
    claim = known.get(result.violated)
    sentence = f" It says: {claim.sentence}." if claim and claim.sentence else ""
    if model.kind is Kind.WITNESS:
        about = ", ".join(model.about)
        situation = f": {claim.sentence}" if claim and claim.sentence else ""
        return (
            f"The situation is reached{situation}. So it is not for want of it that {about} holds."
        )
    return f"{result.violated} is broken.{sentence}"


def in_words(name: str) -> str:
    """Return a claim's name as words: ``LiveIsCounted`` is ``live is counted``."""
    words = _WORD.findall(name)
    return " ".join(word if word.isupper() and len(word) > 1 else word.lower() for word in words)
