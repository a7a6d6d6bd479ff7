"""Concurrent models with one change by program, and whether a compared graph shows the change.

The graphs of the small bindings are those of the TLA+ modules: ``tla compare`` says so. A mutant
whose graphs are all as they were is one that no comparison would notice.
"""

import importlib
import re
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.machinery import ModuleSpec, SourceFileLoader
from importlib.util import find_spec
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

from purgatory_lab.mutation.mutants import Mutant, mutants_of
from purgatory_tla.comparing.binding import Binding
from purgatory_tla.comparing.numbering import Numbering
from purgatory_tla.comparing.state_graph import NumberedGraph, model_graph

MUTATED: dict[str, tuple[str, ...]] = {
    "purgatory.exact": ("exact.calls", "exact.turn", "exact.instance"),
    "purgatory.proposal": ("proposal.calls",),
}
"""By module of bindings, the modules of ``purgatory_model.concurrent`` with the steps."""

OPERATORS = frozenset(
    {
        *("DeleteStatement", "AddNot", "ReplaceUnaryOperator_Delete_Not", "NumberReplacer"),
        *("ReplaceAndWithOr", "ReplaceOrWithAnd", "ReplaceTrueWithFalse", "ReplaceFalseWithTrue"),
        *("ReplaceBinaryOperator_Add_Sub", "ReplaceBinaryOperator_Sub_Add"),
        *("ReplaceComparisonOperator_Eq_NotEq", "ReplaceComparisonOperator_NotEq_Eq"),
        *("ReplaceComparisonOperator_Is_IsNot", "ReplaceComparisonOperator_IsNot_Is"),
        *("ReplaceComparisonOperator_Lt_LtE", "ReplaceComparisonOperator_LtE_Lt"),
        *("ReplaceComparisonOperator_Gt_GtE", "ReplaceComparisonOperator_GtE_Gt"),
        *("ZeroIterationForLoop", "ReplaceContinueWithBreak"),
    }
)
"""The changes that are made: those that a hand could slip into."""

_UNBOUND = re.compile(r"\bassert\b|\bordered\b|\bis_variant\b|\bprograms\b")
"""Lines that concern what no module has: orders of lists, faults to follow, results of calls."""

_MODELS = "purgatory_model.concurrent."
_BINDINGS = "purgatory_tla.bindings."
_SECONDS = 30
"""The time in which a mutant's graphs are made, or it counts as noticed: it hangs."""


class _TakesTooLong(BaseException):
    pass


def mutants_in(module: str) -> Sequence[Mutant]:
    """The mutants of a module below ``purgatory_model.concurrent``, in the order of its lines."""
    spec = find_spec(_MODELS + module)
    assert spec is not None
    assert spec.origin is not None
    every = mutants_of(module, Path(spec.origin).read_text(encoding="utf-8")).judged
    return [mutant for mutant in every if _is_bound(mutant)]


def _is_bound(mutant: Mutant) -> bool:
    """Decide whether a mutant's change is in a step, of an instance that a module can have."""
    if mutant.operator not in OPERATORS or mutant.definition.endswith("__post_init__"):
        return False
    return not (mutant.line.startswith("@dataclass") or _UNBOUND.search(mutant.line))


class Noticing:
    """Tells whether the graphs of small bindings show a change.

    Attributes:
        bindings: The module of bindings.
        graphs: The graphs as they are, by the binding's function.
    """

    def __init__(self, bindings: str, functions: Sequence[str]) -> None:
        self.bindings = bindings
        self.numberings = {name: _numbering(self._made(name)) for name in functions}
        graphs = {name: self._graph(name, self._made(name)) for name in functions}
        self.graphs = dict(sorted(graphs.items(), key=lambda each: len(each[1].states)))

    def _made(self, function: str) -> Binding[Any]:
        module = importlib.import_module(_BINDINGS + self.bindings)
        binding: Binding[Any] = getattr(module, function)()
        return binding

    def _graph(self, function: str, binding: Binding[Any]) -> NumberedGraph:
        most = 2 * len(self.graphs[function].states) if hasattr(self, "graphs") else 200_000
        return model_graph(binding, self.numberings[function], limit=most)

    def notices(self, mutant: Mutant) -> bool:
        """Decide whether a graph of the mutant is another one, or cannot be made."""
        with _imported_anew(mutant), _in_time():
            try:
                for name, graph in self.graphs.items():
                    if self._graph(name, self._made(name)) != graph:
                        return True
            except (Exception, _TakesTooLong):
                return True
        return False


def _numbering(binding: Binding[Any]) -> Numbering:
    return Numbering(tuple(sorted(binding.variables)), True)


class _Mutated(SourceFileLoader):
    """Loads a module from the source of a mutant."""

    source: str

    def get_code(self, fullname: str) -> CodeType:
        return compile(self.source, f"mutant of {fullname}", "exec")


class _Finder:
    """Finds one module as its mutant."""

    def __init__(self, mutant: Mutant) -> None:
        self.name, self.source = _MODELS + mutant.module, mutant.source

    def find_spec(self, name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        if name != self.name:
            return None
        loader = _Mutated(name, f"{name}.py")
        loader.source = self.source
        return ModuleSpec(name, loader)


@contextmanager
def _imported_anew(mutant: Mutant) -> Iterator[None]:
    """Import the models and bindings of a mutant's package anew, with the mutant among them."""
    package = _MODELS + mutant.module.partition(".")[0]
    fresh = (package, _BINDINGS)
    kept = {name: each for name, each in sys.modules.items() if name.startswith(fresh)}
    finder = _Finder(mutant)
    for name in kept:
        del sys.modules[name]
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)
        for name in [each for each in sys.modules if each.startswith(fresh)]:
            del sys.modules[name]
        sys.modules.update(kept)


@contextmanager
def _in_time() -> Iterator[None]:
    def interrupt(_: int, __: FrameType | None) -> None:
        raise _TakesTooLong

    before = signal.signal(signal.SIGALRM, interrupt)
    signal.setitimer(signal.ITIMER_REAL, _SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
