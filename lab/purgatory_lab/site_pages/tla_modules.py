"""The pages of the TLA+ modules, and of the state graphs that executable models have with them."""

from collections.abc import Iterator
from functools import cache
from itertools import groupby
from typing import Final

from purgatory_lab.documents import table
from purgatory_lab.site_pages.checkout import ROOT, link_to_rule, piece_name
from purgatory_spec.requirements import requirement
from purgatory_tla.bindings.figures import FIGURES
from purgatory_tla.bindings.registry import reported_bindings, small_bindings
from purgatory_tla.comparing.binding import Binding
from purgatory_tla.manifest.manifest import Kind, Model, checked, read_manifest
from purgatory_tla.manifest.models import expected_words
from purgatory_tla.modules.literate import Definition, LiterateModule, read_literate

_GRAPHS_HEAD = """# State graphs

Each of these executable models has the same state graph as a TLA+ module: the same states, and the
same steps between them, with the same arguments.
[Two statements, one graph](../explanation/two-statements-one-graph.md) says what is compared and
why. To compare them all again:

    purgatory tla compare

The figures are those of the instances that are reported. The small ones, for which `--small` asks,
show in a few seconds what the others show at length. The seconds are for both sides together, on
two processors of a small virtual machine.
"""


_MAPPED = ("in TLA+", "in the model")


def state_graphs_page() -> str:
    """Return every module's instances with their figures, and the map, name by name."""
    every = [*reported_bindings().values(), *small_bindings().values()]
    every.sort(key=lambda binding: binding.module)
    parts = [_GRAPHS_HEAD]
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
    head = ("instance", "", "states", "edges", "seconds")
    yield table(head, map(_instance, bindings), left=2) + "\n"
    variables = {name: each.words for one in bindings for name, each in one.variables.items()}
    yield "\n### Variables " + f"{{ #{module}-variables }}\n"
    yield table(_MAPPED, _rows(variables), _MAPPED) + "\n"
    actions = {name: words for one in bindings for name, words in one.actions.items()}
    yield "\n### Actions " + f"{{ #{module}-actions }}\n"
    yield table(_MAPPED, _rows(actions, (module, history)), _MAPPED) + "\n"


def _instance(binding: Binding[object]) -> tuple[str, ...]:
    figures = FIGURES.get(binding.name)
    name = f"`{binding.name}`"
    if figures is None:
        return name, binding.title, "small", "", ""
    return name, binding.title, f"{figures.states:,}", f"{figures.edges:,}", str(figures.seconds)


def _rows(words: dict[str, str], owners: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Yield names with explanations, linked to the definition in the first module that has one."""
    known = {each.name: {one.name for one in each.definitions} for each in modules()}
    for name, sentence in words.items():
        owner = next((each for each in owners if name in known[each]), None)
        shown = f"`{name}`" if owner is None else f"[`{name}`](tla/{owner}.md#{owner}.{name})"
        yield shown, sentence.replace("``", "`")


_FOLDER: Final = ROOT / "tla"


def tla_pages() -> dict[str, str]:
    """Return a page for every module, and one for all models, by their paths."""
    pages = {f"tla/{module.name}.md": module_page(module) for module in modules()}
    return {"tla/index.md": models_page(), **pages}


@cache
def modules() -> tuple[LiterateModule, ...]:
    """Return all modules, in the order of their names."""
    return tuple(read_literate(path) for path in sorted(_FOLDER.glob("*.tla")))


# A module, definition by definition.


def module_page(module: LiterateModule) -> str:
    """Return the module, whole: its header, its declarations, each definition beside its words."""
    parts = [
        f"---\nhide: [toc]\n---\n\n# {module.name}.tla\n",
        f"```text\n{module.header}\n```\n",
        f"```tla\n{_declarations(module)}\n```\n",
    ]
    parts += [_piece(module, group) for group in _groups(module)]
    return "\n".join(parts)


def _declarations(module: LiterateModule) -> str:
    """Return the text between the header and the first definition."""
    lines = module.path.read_text(encoding="utf-8").splitlines()
    start = next(number for number, line in enumerate(lines) if line.startswith("EXTENDS"))
    end = min(each.first_line for each in module.definitions) - 1
    return "\n".join(lines[start:end]).rstrip(" -\n")


def _groups(module: LiterateModule) -> Iterator[tuple[Definition, ...]]:
    """Yield groups of definitions; those without comments stay together."""
    plain = [not _words(module, each) for each in module.definitions]
    pairs = zip(plain, module.definitions, strict=True)
    for _, group in groupby(enumerate(pairs), lambda each: -1 if each[1][0] else each[0]):
        yield tuple(definition for _, (_, definition) in group)


def _piece(module: LiterateModule, group: tuple[Definition, ...]) -> str:
    """Return definitions on the right, and on the left their names and comments."""
    words: list[str] = []
    for each in group:
        name = piece_name(f"{module.name}.{each.name}", each.name)
        words += [name, "", *_words(module, each), ""]
    source = "\n".join(each.source for each in group)
    left = f'<div class="piece-rules" markdown>\n\n{chr(10).join(words)}\n\n</div>'
    right = f'<div class="piece-source" markdown>\n\n```tla\n{source}\n```\n\n</div>'
    return f'<div class="piece" markdown>\n{left}\n{right}\n</div>\n'


def _words(module: LiterateModule, definition: Definition) -> list[str]:
    """Return the comments of a definition; empty without any."""
    said = definition.annotation("says")
    words = [definition.words, ""] if definition.words else []
    words += [f"In a trace: *{_plain(said)}*", ""] if said else []
    words += [_rule(rule) for rule in definition.rules]
    return [*words, *_shown_by(module, definition.name)]


def _plain(said: str) -> str:
    return said.replace("[", "\\[").replace("*", "\\*")


def _rule(identifier: str) -> str:
    return f"- {link_to_rule(identifier, '../')}: {requirement(identifier).title}"


def _shown_by(module: LiterateModule, name: str) -> Iterator[str]:
    """Yield the models that check or break a claim, or reach its situation."""
    own = [model for model in read_manifest().models if model.module == module.name]
    found = {
        "Checked in": [m for m in own if m.kind is Kind.CLAIM and name in checked(m, _FOLDER)],
        "Broken in": [m for m in own if m.kind is Kind.MUST_FAIL and m.violated == name],
        "Not vacuous": [m for m in own if m.kind is Kind.WITNESS and name in m.about],
        "Reached in": [m for m in own if m.kind is Kind.WITNESS and m.violated == name],
    }
    for label, models in found.items():
        if models:
            yield ""
            yield f"{label}: {', '.join(f'[`{m.name}`](index.md#{m.name})' for m in models)}"


# All models.


def models_page() -> str:
    """Return every model of the manifest with the required finding of its run."""
    parts = [_MODELS_HEAD, "Modules: " + ", ".join(f"[{m.name}]({m.name}.md)" for m in modules())]
    for title, kind in (
        ("Claims", Kind.CLAIM),
        ("Configurations that must fail", Kind.MUST_FAIL),
        ("Situations that are reached", Kind.WITNESS),
    ):
        parts.append(f"\n## {title}\n")
        parts += [_entry(model) for model in read_manifest().models if model.kind is kind]
    return "\n".join(parts)


_MODELS_HEAD = """# TLA+ modules and models

A *module* says how something works, a *model* is an instance of it that a checker runs, with what
the run must find. `purgatory tla check` runs the small ones, `purgatory tla explain MODEL` tells
the counterexample of one that must fail. The record is `tla/manifest.json`.
"""


def _entry(model: Model) -> str:
    lines = [f"**{model.name}**{{ #{model.name} }}: {model.title}"]
    if model.explanation:
        lines.append(model.explanation)
    facts = [f"`{model.module}.tla`" if model.module else f"proof `{model.proof}`"]
    facts.append(f"expected: {expected_words(model)}")
    if model.distinct is not None:
        facts.append(f"{model.distinct:,} distinct states, {model.generated:,} generated")
    facts.append(model.run_time.value)
    lines.append(" · ".join(facts))
    return "\n: ".join(lines) + "\n"
