"""The page of the state graphs: which model is bound to which module, by which map."""

from collections.abc import Iterator
from itertools import groupby

from purgatory_tla.bindings.figures import FIGURES
from purgatory_tla.bindings.registry import reported_bindings, small_bindings
from purgatory_tla.comparing.binding import Binding

_HEAD = """# State graphs

Each of these executable models has the same state graph as a TLA+ module: the same states, and the
same steps between them, with the same arguments.
[Two statements, one graph](../explanation/two-statements-one-graph.md) says what is compared and
why. To compare them all again:

    purgatory tla compare

The figures are those of the instances that are reported. The small ones, for which `--small` asks,
show in a few seconds what the others show at length. The seconds are for both sides together, on
two processors of a small virtual machine.
"""


def state_graphs_page() -> str:
    """Return every module's instances with their figures, and the map, name by name."""
    every = [*reported_bindings().values(), *small_bindings().values()]
    every.sort(key=lambda binding: binding.module)
    parts = [_HEAD]
    for module, bindings in groupby(every, key=lambda binding: binding.module):
        parts += _module(module.removesuffix("History"), list(bindings))
    return "\n".join(parts)


def _module(module: str, bindings: list[Binding[object]]) -> Iterator[str]:
    history = bindings[0].module
    yield f"## {module} {{ #{module} }}\n"
    yield (
        f"[{module}.tla](tla/{module}.md), with its labels in sight by "
        f"[{history}.tla](tla/{history}.md).\n"
    )
    yield _table(("instance", "", "states", "edges", "seconds"), map(_instance, bindings), "lrrr")
    variables = {name: each.words for one in bindings for name, each in one.variables.items()}
    yield "\n### Variables " + f"{{ #{module}-variables }}\n"
    yield _table(("in TLA+", "in the model"), _rows(variables))
    actions = {name: words for one in bindings for name, words in one.actions.items()}
    yield "\n### Actions " + f"{{ #{module}-actions }}\n"
    yield _table(("in TLA+", "in the model"), _rows(actions, f"tla/{module}.md#{module}."))


def _instance(binding: Binding[object]) -> tuple[str, ...]:
    figures = FIGURES.get(binding.name)
    name = f"`{binding.name}`"
    if figures is None:
        return name, binding.title, "small", "", ""
    return name, binding.title, f"{figures.states:,}", f"{figures.edges:,}", str(figures.seconds)


def _rows(words: dict[str, str], page: str | None = None) -> Iterator[tuple[str, ...]]:
    """Yield names with explanations, linked to the definitions on a page of the module."""
    for name, sentence in words.items():
        shown = f"`{name}`" if page is None else f"[`{name}`]({page}{name})"
        yield shown, sentence.replace("``", "`").replace("|", "\\|")


def _table(headers: tuple[str, ...], rows: Iterator[tuple[str, ...]], alignment: str = "") -> str:
    rules = ["---", *("---:" if each == "r" else "---" for each in alignment)]
    rules += ["---"] * (len(headers) - len(rules))
    lines = [headers, tuple(rules), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"
