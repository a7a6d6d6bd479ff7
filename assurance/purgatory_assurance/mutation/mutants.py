"""The mutants of a module: Cosmic Ray makes them, one change of one operator each."""

import ast
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import cosmic_ray.plugins
from cosmic_ray.ast import ast_nodes, get_ast
from cosmic_ray.mutating import mutate_code

from purgatory_assurance.mutation.scope import LeftOut, Span, default_spans, definitions, type_spans


@dataclass(frozen=True)
class Mutant:
    """A module with one change.

    ``definition`` is the dotted name of the function or class that the change is in, empty at the
    module's level. ``line`` and ``mutated`` are the line before and after the change, without
    indentation.
    """

    module: str
    definition: str
    operator: str
    line_number: int
    line: str
    mutated: str
    source: str = field(repr=False, compare=False)

    @property
    def key(self) -> tuple[str, str, str, str]:
        """What a reviewed entry names it by; line numbers would not last."""
        return self.module, self.definition, self.line, self.mutated


@dataclass
class Mutants:
    """The mutants that are to be judged, and how many others there are of each kind."""

    judged: list[Mutant] = field(default_factory=list)
    in_types: int = 0
    in_defaults: int = 0
    no_program: int = 0
    repeated: int = 0
    left_out: Counter[LeftOut] = field(default_factory=Counter)


def mutants_of(module: str, source: str, left_out: Iterable[LeftOut] = ()) -> Mutants:
    """Every mutant of a module's source.

    Args:
        module: Its name, as reports have it.
        source: Its text.
        left_out: Functions and lines whose mutants are counted and not judged.
    """
    tree = ast.parse(source)
    types, defaults, places = type_spans(tree), default_spans(tree), definitions(tree)
    lines = source.splitlines()
    found = Mutants()
    seen = {ast.dump(tree)}
    for change in _changes(source):
        definition = _definition_at(places, change.start)
        if _within(defaults, change.start):
            found.in_defaults += 1
            continue
        if _within(types, change.start):
            found.in_types += 1
            continue
        line = _plain(lines[change.start[0] - 1])
        if (reason := _why_left_out(left_out, definition, line)) is not None:
            found.left_out[reason] += 1
            continue
        mutated = change.made()
        if (shape := _shape(mutated)) is None:
            found.no_program += 1
        elif shape in seen:
            found.repeated += 1
        else:
            seen.add(shape)
            number, operator = change.start[0], change.operator.partition("/")[2]
            after = _after(number, source, mutated)
            found.judged.append(Mutant(module, definition, operator, number, line, after, mutated))
    found.judged.sort(key=lambda mutant: mutant.line_number)
    return found


@dataclass(frozen=True)
class _Change:
    """A change that an operator can make, at the place with the number ``occurrence``."""

    source: str
    operator: str
    occurrence: int
    start: tuple[int, int]

    def made(self) -> str:
        """The source with the change."""
        kind = cosmic_ray.plugins.get_operator(self.operator)
        mutated = mutate_code(self.source, kind(), self.occurrence)
        assert isinstance(mutated, str)
        return mutated


def _changes(source: str) -> Iterator[_Change]:
    """Every single change that can be made to a source."""
    nodes = list(ast_nodes(get_ast(source)))
    for name in sorted(cosmic_ray.plugins.operator_names()):
        kind = cosmic_ray.plugins.get_operator(name)
        if kind.arguments():
            # Replacements by random numbers, which would be others in every run.
            continue
        operator = kind()
        starts = (start for node in nodes for start, _ in operator.mutation_positions(node))
        for occurrence, start in enumerate(starts):
            yield _Change(source, name, occurrence, start)


def _shape(source: str) -> str | None:
    """The syntax tree as text, equal for equal programs; None where it is no program."""
    try:
        tree = ast.parse(source)
        compile(tree, "<mutant>", "exec")
    except (SyntaxError, ValueError):
        return None
    return ast.dump(tree)


def _within(spans: Iterable[Span], position: tuple[int, int]) -> bool:
    return any(span.holds(position) for span in spans)


def _definition_at(places: Iterable[tuple[Span, str]], position: tuple[int, int]) -> str:
    innermost = ""
    for span, name in places:
        if span.holds(position):
            innermost = name
    return innermost


def _why_left_out(left_out: Iterable[LeftOut], definition: str, line: str) -> LeftOut | None:
    for each in left_out:
        inside = f"{definition}.".startswith(f"{each.definition}.") and not each.line
        if inside or (each.definition, each.line) == (definition, line):
            return each
    return None


def _after(line_number: int, source: str, mutated: str) -> str:
    """The text in a line's place; empty where the line was taken out."""
    before, after = source.splitlines(), mutated.splitlines()
    return _plain(after[line_number - 1]) if len(after) == len(before) else ""


def _plain(line: str) -> str:
    """A line without indentation, and without the superfluous spaces that Cosmic Ray leaves."""
    return re.sub(r"([(\[{]) ", r"\1", re.sub(r" +", " ", line)).strip()
