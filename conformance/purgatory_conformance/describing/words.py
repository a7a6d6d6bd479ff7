"""Outcomes, profiles and rules in readable words, shared by all components and all reports.

Names and texts come from subjects and may hold anything: line breaks, escape codes, halves of
characters. Every text made here can be printed on one line of any terminal.
"""

import re
import shlex
from typing import TypeAlias

from purgatory_spec.messages import Implementation
from purgatory_spec.outcomes import Event, EventKind, Outcome, Value
from purgatory_spec.profiles import Component, Profile

STATE_SYMBOLS = {"held": "✓", "broken": "✗", "deviates": "≠", "doubtful": "?", "too few": "…"}
"""The symbol of a rule's state; the word always stands beside it."""

VERDICT_SYMBOLS = {0: "✓", 1: "✗", 3: "!", 4: "…"}
"""The symbol of a verdict, by its exit code."""

Span: TypeAlias = tuple[str, str]
"""A piece of a rule's text: its kind (``text``, ``code`` or ``emphasis``) and its words."""

_PLAIN_NAME = re.compile(r"[\w.#-]+")
_MOST_TOLD, _ENDS_TOLD = 200, 20
"""The most characters of a name that are all told; those of each end of a longer one."""

_PLAIN_PATH = re.compile(r"[\w./\\:+@%,=-]+")
_INLINE = re.compile(
    r"`(?P<code>[^`]+)`|\*(?P<emphasis>[^*\s](?:[^*]*[^*\s])?)\*|\[(?P<link>[^\]]+)\]\([^)]*\)"
)

_MARKED = re.compile(r"[^\s\[]\*(?=[\s,\]])")
"""The sign behind the name of an operation that is completed."""


def printable(text: str) -> str:
    """Return the text with characters that cannot be printed as escapes, line breaks included."""
    if text.isprintable():
        return text
    return "".join(
        letter if letter.isprintable() else letter.encode("unicode_escape").decode("ascii")
        for letter in text
    )


def describe_task(name: str) -> str:
    """Return a task's name, in quotation marks where it could be taken for another word.

    A very long name is told by its beginning, its end and its length, so that alike names differ.
    """
    if len(name) > _MOST_TOLD:
        words = f"{name[:_ENDS_TOLD]}…{name[-_ENDS_TOLD:]}"
        return f"{words if words.isprintable() else repr(words)} ({len(name):,} characters)"
    return name if _PLAIN_NAME.fullmatch(name) and name.isprintable() else repr(name)


def shortened(words: str, most: int) -> str:
    """Return the words, cut off where they are longer than ``most``."""
    return words if len(words) <= most else f"{words[: most - 1]}…"


def joined(words: list[str]) -> str:
    """Return words as an enumeration, for example ``a, b and c``."""
    if len(words) == 1:
        return words[0]
    return f"{', '.join(words[:-1])} and {words[-1]}"


def noun(component: Component) -> str:
    """Return the component as a word, for example ``memory pool``."""
    return component.value.replace("_", " ")


def instance_noun(component: Component) -> str:
    """Return one instance of a component as a word: channel muting is the behaviour of a server."""
    return "server" if component is Component.CHANNEL_MUTING else noun(component)


def describe_events(outcome: Outcome, result: str = "", *, silence: str = "no event") -> str:
    """Return an outcome in words, its observables aside, for example ``popped, t1 expired``.

    Args:
        outcome: The operation's outcome.
        result: The result in words; empty where there is none.
        silence: The words for an outcome without events; empty for no words.
    """
    parts: list[str] = []
    if outcome.rejected is not None:
        detail = f" ({printable(outcome.detail)})" if outcome.detail else ""
        parts.append(f"rejected: {outcome.rejected.value}{detail}")
    if result:
        parts.append(result)
    parts += [_event(event) for event in outcome.events]
    if not outcome.events and outcome.rejected is None and silence:
        parts.append(silence)
    return ", ".join(parts)


def _event(event: Event) -> str:
    task = describe_task(event.task)
    when = "" if event.at_ms is None else f" at {event.at_ms}"
    if event.kind is EventKind.REJECTED:
        reason = event.reason.value if event.reason else "no reason"
        return f"what {task} tried was rejected{when}: {reason}"
    return f"{task} {event.kind.value.replace('_', ' ')}{when}"


def describe_value(value: Value) -> str:
    """Return a result or an observable as it stands in JSON, a list of names as these names."""
    if isinstance(value, tuple):
        return f"[{' '.join(describe_task(name) for name in value)}]"
    return "null" if value is None else str(value).lower()


def describe_observed(outcome: Outcome) -> str:
    """Return the observables after an operation, for example ``size 1, levels 2``."""
    return ", ".join(f"{name} {value}" for name, value in observed_values(outcome))


def observed_values(outcome: Outcome) -> list[tuple[str, str]]:
    """Return the observables after an operation by name, and on a real clock its two readings."""
    values = [(printable(name), describe_value(value)) for name, value in outcome.observed.items()]
    if outcome.called_ms is not None and outcome.returned_ms is not None:
        values += [("called at", str(outcome.called_ms)), ("returned at", str(outcome.returned_ms))]
    return values


def describe_implementation(implementation: Implementation) -> str:
    """Return an implementation in words: name and version, then language and runtime."""
    named = " ".join(word for word in (implementation.name, implementation.version) if word)
    where = ", ".join(word for word in (implementation.language, implementation.runtime) if word)
    return printable(f"{named} ({where})" if where else named)


def describe_choices(profile: Profile, names: tuple[str, ...]) -> str:
    """Return choices of a profile by their fields' names, for example ``rounding down``."""
    return ", ".join(
        f"{name.replace('_', ' ')} {getattr(profile, name).value.replace('_', ' ')}"
        for name in names
    )


def counted(number: int, word: str) -> str:
    """Return a number with its word in the singular or the plural."""
    return f"{number} {word}" if number == 1 else f"{number} {word}s"


def legend_of(*states: str) -> str:
    """Return the legend of the sign ``*``; empty where no description has the sign."""
    return "* completed" if any(map(_MARKED.search, states)) else ""


def replay_command(path: object, *words: object) -> str:
    """Return the command that runs a stored case again, with further words, ready to be pasted."""
    quoted = [shlex.quote(str(word)) for word in words]
    first = str(path) if _PLAIN_PATH.fullmatch(str(path)) else shlex.quote(str(path))
    return printable(" ".join(("purgatory replay", first, *quoted)))


def paragraphs(markdown: str) -> list[str]:
    """Return the paragraphs of a rule's text, each on one line."""
    return [" ".join(block.split()) for block in markdown.split("\n\n") if block.strip()]


def spans(paragraph: str) -> list[Span]:
    """Return a paragraph as pieces of one kind each; of a link only the words remain."""
    pieces: list[Span] = []
    position = 0
    for found in _INLINE.finditer(paragraph):
        if found.start() > position:
            pieces.append(("text", paragraph[position : found.start()]))
        if found["link"] is not None:
            pieces += spans(found["link"])
        else:
            pieces.append((found.lastgroup or "text", found[found.lastgroup or 0]))
        position = found.end()
    if position < len(paragraph):
        pieces.append(("text", paragraph[position:]))
    return pieces
