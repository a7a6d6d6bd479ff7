"""The mutants of a module, one change each: an operator of Cosmic Ray, or a statement taken out."""

import ast
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial

import cosmic_ray.plugins
from cosmic_ray.ast import ast_nodes, get_ast
from cosmic_ray.mutating import mutate_code

from purgatory_lab.mutation.scope import (
    Span,
    default_spans,
    definitions,
    statement_spans,
    type_spans,
)


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
        """Return the name of the mutant in reviewed entries; line numbers would not last."""
        return self.module, self.definition, self.line, self.mutated


@dataclass
class Mutants:
    """The mutants that are to be judged, and how many others there are of each kind."""

    judged: list[Mutant] = field(default_factory=list)
    in_types: int = 0
    in_defaults: int = 0
    no_program: int = 0
    repeated: int = 0


def mutants_of(module: str, source: str) -> Mutants:
    """Return every mutant of a module's source.

    Args:
        module: Its name, as reports have it.
        source: Its text.
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
        mutated = change.made()
        if (shape := _shape(mutated)) is None:
            found.no_program += 1
        elif shape in seen:
            found.repeated += 1
        else:
            seen.add(shape)
            number = change.start[0]
            line, after = _plain(lines[number - 1]), _after(number, source, mutated)
            found.judged.append(
                Mutant(module, definition, change.operator, number, line, after, mutated)
            )
    found.judged.sort(key=lambda mutant: mutant.line_number)
    return found


@dataclass(frozen=True)
class _Change:
    """A change that can be made: its operator, its position, and the source with the change."""

    operator: str
    start: tuple[int, int]
    made: Callable[[], str]


def _changes(source: str) -> Iterator[_Change]:
    """Yield every single change that can be made to a source."""
    for span in statement_spans(ast.parse(source)):
        yield _Change("DeleteStatement", span.start, partial(_without, source, span))
    nodes = list(ast_nodes(get_ast(source)))
    for name in sorted(cosmic_ray.plugins.operator_names()):
        kind = cosmic_ray.plugins.get_operator(name)
        if kind.arguments():
            # Replacements by random numbers, which would be others in every run.
            continue
        operator = kind()
        starts = (start for node in nodes for start, _ in operator.mutation_positions(node))
        for occurrence, start in enumerate(starts):
            made = partial(_mutated, source, name, occurrence)
            yield _Change(name.partition("/")[2], start, made)


def _without(source: str, span: Span) -> str:
    """Return the source with ``pass`` in place of a statement, and as many lines."""
    lines = source.splitlines(keepends=True)
    (first, column), (last, end) = span.start, span.end
    # Columns of a syntax tree are bytes.
    before = lines[first - 1].encode()[:column].decode()
    after = lines[last - 1].encode()[end:].decode()
    return "".join(
        [*lines[: first - 1], before, "pass", after, "\n" * (last - first), *lines[last:]]
    )


def _mutated(source: str, operator: str, occurrence: int) -> str:
    """Return the source with an operator's change at the place of this number."""
    mutated = mutate_code(source, cosmic_ray.plugins.get_operator(operator)(), occurrence)
    assert isinstance(mutated, str)
    return mutated


def _shape(source: str) -> str | None:
    """Return the syntax tree as text, equal for equal programs; None where it is no program."""
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


def _after(line_number: int, source: str, mutated: str) -> str:
    """Return the text in a line's place; empty where the line was taken out."""
    before, after = source.splitlines(), mutated.splitlines()
    return _plain(after[line_number - 1]) if len(after) == len(before) else ""


def _plain(line: str) -> str:
    """Return a line without indentation, and without Cosmic Ray's superfluous spaces."""
    return re.sub(r"([(\[{]) ", r"\1", re.sub(r" +", " ", line)).strip()
