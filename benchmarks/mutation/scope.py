"""What is mutated, and what of it is left out, with the reason.

A module is named because one thread and a virtual clock decide everything that it does. What is
left out of such a module is listed here, name by name; nothing else is, but for positions that
hold no behaviour: type annotations, signatures but for default values, and imports that only a type
checker sees.
"""

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from purgatory_conformance.judging.case_judge import Deviation
from purgatory_spec.profiles import Component


@dataclass(frozen=True)
class Trial:
    """What a mutant goes through: the campaigns on one component of a subject that we bring.

    ``maker`` is the function of ``purgatory_conformance.subjects.bundled`` that makes the subject.
    """

    maker: str
    component: Component
    deviations: tuple[Deviation, ...] = ()

    @property
    def name(self) -> str:
        """Subject and component."""
        return f"{self.maker}, {self.component.value}"


TIMER = Trial("bundled_subject", Component.TIMER)
PURGATORY = Trial("bundled_subject", Component.PURGATORY)
POOL = Trial("bundled_subject", Component.MEMORY_POOL)
AS_PUBLISHED = Trial(
    "bundled_proposal_subject",
    Component.PURGATORY,
    (
        Deviation(
            rule="PURGATORY-STALE-OPERATIONS",
            variant="stale_uncounted",
            replay="",
            reason="the estimate of the published design forgets what has expired and not run",
        ),
    ),
)

_TIMER = (TIMER, PURGATORY)
_PURGATORY = (PURGATORY, AS_PUBLISHED)
_POOL = (POOL,)

MODULES: dict[str, tuple[Trial, ...]] = {
    "wheel": _TIMER,
    "bucket": _TIMER,
    "task": _TIMER,
    "timer": _TIMER,
    "watchers": _PURGATORY,
    "watcher_lists": _PURGATORY,
    "delayed_operation": _PURGATORY,
    "accounting": _PURGATORY,
    "purgatory": _PURGATORY,
    "memory_pool": _POOL,
    "leak_detecting_memory_pool": _POOL,
    "unbounded_memory_pool": _POOL,
    "depletion": _POOL,
}
"""The modules that are mutated, each with the trials that its mutants go through."""

MODULES_LEFT_OUT: dict[str, str] = {
    "__init__": "names alone",
    "clocks": "real time and sleeping; of the virtual clock only its reading is deterministic",
    "errors": "texts, and one reason code for each class",
    "executors": "threads; the suite's subject replaces what is not one",
}
"""The modules that are not mutated, each with the reason."""


@dataclass(frozen=True)
class LeftOut:
    """A function of a mutated module that is left out, or one line of it."""

    module: str
    definition: str
    reason: str
    line: str = ""


_STARTS_REAPER = "whether a reaper's thread is started; a second thread is no matter of steps"
_WHETHER_REAPER = "if not isinstance(self._clock, VirtualClock) if reaper is None else reaper:"

LEFT_OUT: tuple[LeftOut, ...] = (
    LeftOut("timer", "Timer._reap", "the reaper's thread"),
    LeftOut("timer", "Timer._sleep_until_due", "the reaper's thread"),
    LeftOut("timer", "Timer._wake_reaper_if_earlier", "called only while a reaper sleeps"),
    LeftOut("timer", "Timer.__init__", _STARTS_REAPER, _WHETHER_REAPER),
    LeftOut("purgatory", "Purgatory.__init__", _STARTS_REAPER, _WHETHER_REAPER),
    LeftOut("purgatory", "Purgatory._reap", "the reaper's thread"),
    LeftOut("accounting", "ExactAccounting.wait_for_purge", "the reaper's thread"),
    LeftOut("accounting", "ProposalAccounting.wait_for_purge", "the reaper's thread"),
)
"""Everything that is left out."""


@dataclass(frozen=True)
class Span:
    """Positions from ``start`` up to ``end``, each a line from 1 and a column from 0."""

    start: tuple[int, int]
    end: tuple[int, int]

    def holds(self, position: tuple[int, int]) -> bool:
        """Whether a position lies inside."""
        return self.start <= position < self.end


def type_spans(tree: ast.Module) -> tuple[Span, ...]:
    """Where there are only types: annotations, signatures, what is under ``if TYPE_CHECKING``.

    The default values in a signature are no types; see ``default_spans``.
    """
    return tuple(_type_spans(tree))


def _type_spans(tree: ast.Module) -> Iterator[Span]:
    for node in ast.walk(tree):
        match node:
            case ast.FunctionDef():
                yield Span(_span(node).start, _span(node.body[0]).start)
            case ast.AnnAssign(annotation=annotation):
                yield _span(annotation)
            case ast.If(test=ast.Name(id="TYPE_CHECKING")):
                yield _span(node)


def default_spans(tree: ast.Module) -> tuple[Span, ...]:
    """Where the default values of arguments are."""
    return tuple(
        _span(default)
        for node in ast.walk(tree)
        if isinstance(node, ast.arguments)
        for default in (*node.defaults, *node.kw_defaults)
        if default is not None
    )


def definitions(tree: ast.Module) -> tuple[tuple[Span, str], ...]:
    """The functions and classes with their dotted names, outer ones first."""
    return tuple(_definitions(tree.body, ""))


def _definitions(body: list[ast.stmt], prefix: str) -> Iterator[tuple[Span, str]]:
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            first_line = min([node.lineno, *(each.lineno for each in node.decorator_list)])
            yield Span((first_line, 0), _span(node).end), f"{prefix}{node.name}"
            yield from _definitions(node.body, f"{prefix}{node.name}.")


def _span(node: ast.expr | ast.stmt) -> Span:
    end_line, end_column = node.end_lineno, node.end_col_offset
    assert end_line is not None
    assert end_column is not None
    return Span((node.lineno, node.col_offset), (end_line, end_column))
