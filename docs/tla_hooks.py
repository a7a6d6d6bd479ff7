"""The pages of the TLA+ modules: each definition beside what it says and the rules it states."""

from collections.abc import Iterator
from functools import cache
from itertools import groupby
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from pygments.lexer import RegexLexer, words
from pygments.lexers import LEXERS, _lexer_cache
from pygments.token import Comment, Keyword, Name, Number, Operator, Punctuation, String, Text

from purgatory_spec.requirements import component_of_rule, requirement
from purgatory_tla.manifest.manifest import Kind, Model, checked, read_manifest
from purgatory_tla.manifest.models import expected_words
from purgatory_tla.modules.literate import Definition, LiterateModule, read_literate

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "tla"

_KEYWORDS = (
    "ASSUME",
    "CASE",
    "CHOOSE",
    "CONSTANT",
    "CONSTANTS",
    "DOMAIN",
    "ELSE",
    "ENABLED",
    "EXCEPT",
    "EXTENDS",
    "IF",
    "IN",
    "INSTANCE",
    "LAMBDA",
    "LET",
    "LOCAL",
    "MODULE",
    "OTHER",
    "SUBSET",
    "THEN",
    "UNCHANGED",
    "UNION",
    "VARIABLE",
    "VARIABLES",
    "WITH",
)


class TlaLexer(RegexLexer):  # type: ignore[misc]
    """Colours for TLA+; Pygments has none of its own."""

    name = "TLA+"
    aliases = ("tla",)
    filenames = ("*.tla",)
    tokens = {
        "root": [
            (r"\\\*.*$", Comment.Single),
            (r"\(\*", Comment.Multiline, "comment"),
            (r"-{4,}|={4,}", Comment.Special),
            (r'"(?:\\.|[^"\\])*"', String),
            (words(_KEYWORDS, prefix=r"\b", suffix=r"\b"), Keyword),
            (r"\b(?:TRUE|FALSE|BOOLEAN|Nat|Int)\b", Keyword.Constant),
            (r"\b[WS]F_", Keyword),
            (r"\\[A-Za-z]+|/\\|\\/|\[\]|<>|~>|==|=>|<=>|\|->|[#~'=<>+\-*%@]", Operator),
            (r"^[A-Za-z]\w*(?=(?:\([^)]*\))?\s*==(?!=))", Name.Function),
            (r"\d+", Number),
            (r"\w+", Name),
            (r"[{}\[\](),.:!;|&/\\^]", Punctuation),
            (r"\s+", Text),
        ],
        "comment": [
            (r"\(\*", Comment.Multiline, "#push"),
            (r"\*\)", Comment.Multiline, "#pop"),
            (r"[^*(]+|[*(]", Comment.Multiline),
        ],
    }


_lexer_cache[TlaLexer.name] = TlaLexer
LEXERS[TlaLexer.__name__] = (__name__, TlaLexer.name, TlaLexer.aliases, TlaLexer.filenames, ())


def on_files(files: Files, config: MkDocsConfig, **_: object) -> Files:
    """Add a page for every module, and one for all models."""
    pages = {f"reference/tla/{module.name}.md": module_page(module) for module in modules()}
    pages["reference/tla/index.md"] = models_page()
    for path, text in pages.items():
        files.append(File.generated(config, path, content=text))
    return files


@cache
def modules() -> tuple[LiterateModule, ...]:
    """All modules, in the order of their names."""
    return tuple(read_literate(path) for path in sorted(FOLDER.glob("*.tla")))


# A module, definition by definition.


def module_page(module: LiterateModule) -> str:
    """The module, whole: its header, its declarations, each definition beside its words."""
    parts = [
        f"---\nhide: [toc]\n---\n\n# {module.name}.tla\n",
        f"```text\n{module.header}\n```\n",
        f"```tla\n{_declarations(module)}\n```\n",
    ]
    parts += [_piece(module, group) for group in _groups(module)]
    return "\n".join(parts)


def _declarations(module: LiterateModule) -> str:
    """What stands between the header and the first definition."""
    lines = module.path.read_text(encoding="utf-8").splitlines()
    start = next(number for number, line in enumerate(lines) if line.startswith("EXTENDS"))
    end = min(each.first_line for each in module.definitions) - 1
    return "\n".join(lines[start:end]).rstrip(" -\n")


def _groups(module: LiterateModule) -> Iterator[tuple[Definition, ...]]:
    """The definitions, those together of which nothing is said."""
    plain = [not _words(module, each) for each in module.definitions]
    pairs = zip(plain, module.definitions, strict=True)
    for _, group in groupby(enumerate(pairs), lambda each: -1 if each[1][0] else each[0]):
        yield tuple(definition for _, (_, definition) in group)


def _piece(module: LiterateModule, group: tuple[Definition, ...]) -> str:
    """Definitions on the right, on the left their names and what is said of them."""
    words: list[str] = []
    for each in group:
        name = f"**{each.name}**{{ #{module.name}.{each.name} .piece-name }}"
        words += [name, "", *_words(module, each), ""]
    source = "\n".join(each.source for each in group)
    left = f'<div class="piece-rules" markdown>\n\n{chr(10).join(words)}\n\n</div>'
    right = f'<div class="piece-source" markdown>\n\n```tla\n{source}\n```\n\n</div>'
    return f'<div class="piece" markdown>\n{left}\n{right}\n</div>\n'


def _words(module: LiterateModule, definition: Definition) -> list[str]:
    """What is said of a definition; empty where nothing is."""
    said = definition.annotation("says")
    words = [definition.words, ""] if definition.words else []
    words += [f"In a trace: *{_plain(said)}*", ""] if said else []
    words += [_rule(rule) for rule in definition.rules]
    return [*words, *_shown_by(module, definition.name)]


def _plain(said: str) -> str:
    return said.replace("[", "\\[").replace("*", "\\*")


def _rule(identifier: str) -> str:
    page = component_of_rule(identifier).value.replace("_", "-")
    return f"- [{identifier}](../{page}.md#{identifier}): {requirement(identifier).title}"


def _shown_by(module: LiterateModule, name: str) -> Iterator[str]:
    """The models that check a claim, that show it can fail, that reach what it speaks of."""
    own = [model for model in read_manifest().models if model.module == module.name]
    found = {
        "Checked in": [m for m in own if m.kind is Kind.CLAIM and name in checked(m, FOLDER)],
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
    """Every model of the manifest with what its run must find."""
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
