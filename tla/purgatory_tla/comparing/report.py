"""Output of ``purgatory tla compare``: a row for each binding, and the differences below."""

from collections.abc import Mapping, Sequence

from rich.console import Console
from rich.text import Text

from purgatory_tla.comparing.comparing import Comparison, GraphVerdict
from purgatory_tla.comparing.graph_differences import Changes, Difference, Differences, Side

_SYMBOLS = {GraphVerdict.EQUAL: "✓", GraphVerdict.DIFFERENT: "✗", GraphVerdict.UNFIT: "✗"}
_IN_ASCII = {"✓": "+", "✗": "x", "…": "?"}
_OTHER = {Side.MODEL: Side.CHECKER, Side.CHECKER: Side.MODEL}


class CompareTable:
    """The table of comparisons, printed row by row."""

    def __init__(self, console: Console, names: Sequence[str]) -> None:
        """Prepare a column that is wide enough for the names."""
        self._console = console
        self._width = max(len("binding"), *map(len, names))

    def print_header(self) -> None:
        """Print the names of the table's columns."""
        self._print_line(" ", "binding", "states", "edges", "seconds", "verdict", style="bold")

    def print_row(self, name: str, found: Comparison) -> None:
        """Print the row of one comparison."""
        counts = (f"{found.states:,}", f"{found.edges:,}") if found.states else ("", "")
        seconds = f"{found.seconds:.1f}"
        style = "" if found.verdict is GraphVerdict.EQUAL else "bold #d9720b"
        self._print_line(
            _SYMBOLS[found.verdict], name, *counts, seconds, found.verdict.value, style=style
        )
        for line in told(found):
            self._console.print(Text(f"    {line}".rstrip()), soft_wrap=True)

    def print_failure(self, name: str, why: str, *, verdict: str) -> None:
        """Print a binding that could not be compared."""
        symbol = "✗" if verdict == GraphVerdict.DIFFERENT.value else "…"
        self._print_line(symbol, name, "", "", "", verdict, style="")
        self._console.print(Text(f"    {why}"), soft_wrap=True)

    def _print_line(
        self,
        symbol: str,
        name: str,
        states: str,
        edges: str,
        seconds: str,
        verdict: str,
        *,
        style: str,
    ) -> None:
        if self._console.options.ascii_only:
            symbol = _IN_ASCII.get(symbol, symbol)
        line = f"{symbol} {name:<{self._width}}  {states:>9}  {edges:>9}  {seconds:>7}  {verdict}"
        self._console.print(
            Text(line.rstrip(), "" if self._console.no_color else style),
            no_wrap=True,
            overflow="ignore",
            crop=False,
        )


def told(found: Comparison) -> list[str]:
    """Return the problems line by line; none where the sides are equal."""
    lines = list(found.problems)
    if found.differences is not None:
        lines += _counts(found.differences)
        for difference in found.differences.first:
            lines += ["", *told_difference(difference)]
    return lines


def _counts(found: Differences) -> list[str]:
    return [
        f"only in {side.value}: {_number(found.states[side], 'state')}, "
        f"{_number(found.edges[side], 'edge')}"
        for side in Side
        if found.states[side] or found.edges[side]
    ]


def told_difference(difference: Difference) -> list[str]:
    """Return the path to a difference, and each side's state there."""
    only, other = difference.only.value, _OTHER[difference.only].value
    if difference.label is None:
        return [f"an initial state that only {only} has:", *_state(difference.at)]
    lines = [_heading(only, len(difference.path))]
    for number, step in enumerate(difference.path, start=1):
        lines += [f"  {number}. {step.label}", *_changes(step.changes)]
    lines.append(f"  then {difference.label}")
    if not difference.others:
        return [
            *lines,
            *_changes(difference.changes),
            f"     {other} has no such step there",
        ]
    return [*lines, *(line for each in difference.others for line in _apart(difference, each))]


def _heading(only: str, steps: int) -> str:
    if steps == 0:
        return f"an edge that only {only} has, from the initial state:"
    return f"the shortest path to an edge that only {only} has, {_number(steps, 'step')} long:"


def _apart(difference: Difference, others: Changes) -> list[str]:
    """Return the variables in which the same label leads to different values."""
    lines: list[str] = []
    for name in sorted({*difference.changes, *others}):
        before = difference.at[name]
        _, own = difference.changes.get(name, (before, before))
        _, opposite = others.get(name, (before, before))
        if own != opposite:
            says = {difference.only: own, _OTHER[difference.only]: opposite}
            both = ", ".join(f"{side.value} says {says[side]}" for side in Side)
            lines.append(f"     {name}: {both}")
    return lines


def _changes(changes: Changes) -> list[str]:
    if not changes:
        return ["     nothing changes"]
    return [f"     {name}: {before} -> {after}" for name, (before, after) in changes.items()]


def _state(values: Mapping[str, str]) -> list[str]:
    return [f"     {name} = {value}" for name, value in values.items()]


def _number(count: int, word: str) -> str:
    return f"{count:,} {word}{'' if count == 1 else 's'}"
