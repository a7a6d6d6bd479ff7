"""Pages of the site that are made from the sources, so that they cannot fall behind them.

The rules and the protocol come from their normative files, the annotated model from the Python
sources, the command line from click's own help. None of them is checked in. So that a link can be
followed in a checkout, too, the pages link to the sources, and the site to the pages made of them.
The profiles have no source to read but Python: their page is checked in, and written anew by
``python docs/hooks.py``.
"""

import ast
import inspect
import posixpath
import re
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import click
from markdown.extensions.toc import slugify
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

from purgatory_conformance.command_line import purgatory
from purgatory_conformance.components import PROFILES
from purgatory_conformance.describing.words import noun
from purgatory_conformance.knowledge import ProfileField, all_vectors, profile_fields
from purgatory_conformance.specimens.mutants import mutants
from purgatory_conformance.specimens.profile_subjects import profile_subjects
from purgatory_spec.profiles import Component
from purgatory_spec.requirements import (
    all_requirements,
    component_of_rule,
    requirement,
    requirements,
)
from purgatory_tla.manifest.statements import statements

ROOT = Path(__file__).resolve().parent.parent
MODEL = ROOT / "model" / "purgatory_model"
IMPLEMENTATION = ROOT / "impl" / "purgatory_impl"
ANNOTATED = (
    *("timer", "pending_tasks", "timing_wheel", "arithmetic"),
    *("purgatory", "purgatory_calls", "course", "purgatory_state", "watcher_lists"),
    *("memory_pool", "memory_pool_arithmetic"),
    "channel_muting",
    *("claims.purgatory", "claims.memory_pool", "claims.channel_muting"),
)

_RULE_HEADING = re.compile(
    r"^### (?P<id>(?:TIMER|PURGATORY|POOL|MUTING)(?:-[A-Z]+)+): (?P<title>.+)$", re.MULTILINE
)
_RULE = re.compile(r"\b(?:TIMER|PURGATORY|POOL|MUTING)(?:-[A-Z]+)+\b")
_BARE_RULE = re.compile(rf"(?<![\[#]){_RULE.pattern}")
_FENCE = re.compile(r"^(?P<open>\s*```\w+)(?P<words>[^\n]*)$", re.MULTILINE)
_TITLE = re.compile(r'title="[^"]*"')
_LINK = re.compile(r"\]\((?P<path>\.\./[^)#\s]+)(?P<anchor>#[^)\s]+)?\)")

PROFILE_PAGE = ROOT / "docs" / "reference" / "profile.md"
PAGES_OF_SOURCES = {
    "spec/timer.md": "reference/timer.md",
    "spec/purgatory.md": "reference/purgatory.md",
    "spec/memory-pool.md": "reference/memory-pool.md",
    "spec/channel-muting.md": "reference/channel-muting.md",
    "spec/protocol.md": "reference/protocol.md",
    "model/purgatory_model/__init__.py": "reference/model.md",
    "conformance/purgatory_conformance/command_line.py": "reference/command-line.md",
    "tla/manifest.json": "reference/tla/index.md",
    "tla/OperationLock.tla": "reference/tla/OperationLock.md",
    "tla/purgatory_tla/bindings/__init__.py": "reference/state-graphs.md",
}
"""What the pages link to in a checkout, and the page of the site that is made from it."""


def on_files(files: Files, config: MkDocsConfig, **_: object) -> Files:
    """Add the pages that are made from the sources."""
    pages = {
        **{f"reference/{_page(each)}": rules_page(each) for each in Component},
        "reference/protocol.md": protocol_page(),
        "reference/model.md": model_page(),
        "reference/command-line.md": command_line_page(),
    }
    for path, text in pages.items():
        files.append(File.generated(config, path, content=text))
    return files


def on_page_markdown(markdown: str, page: Page, **_: object) -> str:
    """Take the words that speak to the tests alone out of the fences; lead links to the pages."""
    folder = posixpath.dirname(page.file.src_uri)

    def on_the_site(link: re.Match[str]) -> str:
        source = posixpath.normpath(posixpath.join("docs", folder, link["path"]))
        if source not in PAGES_OF_SOURCES:
            return link[0]
        page_of_site = posixpath.relpath(PAGES_OF_SOURCES[source], folder or ".")
        return f"]({page_of_site}{link['anchor'] or ''})"

    text = _FENCE.sub(_plain_fence, markdown)
    return _LINK.sub(on_the_site, _with_links_of_site(text))


def _plain_fence(fence: re.Match[str]) -> str:
    title = _TITLE.search(fence["words"])
    return f"{fence['open']} {title[0]}" if title else fence["open"]


# The rules and the protocol.


def _page(component: Component) -> str:
    """The file name of the component's rules."""
    return f"{component.value.replace('_', '-')}.md"


def rules_page(component: Component) -> str:
    """A page of rules, each with its id as the anchor and with the places that state it."""
    text = _with_links_of_site((ROOT / "spec" / _page(component)).read_text(encoding="utf-8"))
    text = re.sub(r"^(Level: .+)$", r"\1\n{ .level }", text, flags=re.MULTILINE)
    head, *sections = re.split(r"^(?=#{2,3} )", text, flags=re.MULTILINE)
    return head + "".join(_with_places(section) for section in sections)


def _with_links_of_site(text: str) -> str:
    """The text of a normative page with links to rules and to other pages as the site has them."""
    text = text.replace("(../docs/", "(../")
    for rule in all_requirements():
        slug = slugify(f"{rule.id}: {rule.title}", "-")
        text = text.replace(f"#{slug})", f"#{rule.id})")
    return text


def _with_places(section: str) -> str:
    heading = _RULE_HEADING.match(section)
    if heading is None:
        return section
    identifier = heading["id"]
    label = f'{{ #{identifier} data-toc-label="{identifier}" }}'
    body = section[heading.end() :].rstrip()
    return f"{heading[0]} {label}{body}\n\n{_places(identifier)}\n\n"


def _places(identifier: str) -> str:
    """Where a rule is stated in code, which vectors show it, which mutants break it."""
    stated = {
        "Model": [_link_to_model(piece) for piece in pieces(MODEL) if identifier in piece.rules],
        "Implementation": [
            f"`{piece.module}.{piece.name}`"
            for piece in pieces(IMPLEMENTATION)
            if identifier in piece.rules
        ],
        "TLA+": [
            f"[`{each.module}.{each.name}`](tla/{each.module}.md#{each.module}.{each.name})"
            for each in statements(identifier)
        ],
        "Vectors": [f"`{v.header.case}`" for v in all_vectors() if identifier in v.header.rules],
        "Mutants": [f"`{each.name}`" for each in mutants() if each.rule == identifier],
    }
    lines = [f"{label}: {', '.join(places)}" for label, places in stated.items() if places]
    return "<br>\n".join(lines) + "\n{ .places }" if lines else ""


def _link_to_model(piece: "Piece") -> str:
    name = f"`{piece.module}.{piece.name}`"
    return f"[{name}](model.md#{piece.anchor})" if piece.module in ANNOTATED else name


def protocol_page() -> str:
    """``spec/protocol.md`` with its rules as links."""
    text = _with_links_of_site((ROOT / "spec" / "protocol.md").read_text(encoding="utf-8"))
    return _linked(text)


def _linked(text: str) -> str:
    """The text with every rule that is not a link yet as one."""
    return _BARE_RULE.sub(lambda rule: _link_to_rule(rule[0]), text)


def _link_to_rule(identifier: str) -> str:
    """A rule as a link to its page; the words alone where there is no such rule."""
    try:
        page = _page(component_of_rule(identifier))
    except KeyError:
        return identifier
    return f"[{identifier}]({page}#{identifier})"


# The annotated model.


@dataclass(frozen=True)
class Piece:
    """A function, a class without its methods, or a constant, with the rules that it names."""

    module: str
    name: str
    source: str
    rules: tuple[str, ...]

    @property
    def anchor(self) -> str:
        """The anchor on the page of the annotated model."""
        return f"{self.module}.{self.name}"


@cache
def pieces(package: Path) -> tuple[Piece, ...]:
    """The pieces of all modules of a package, in the order of the sources."""
    return tuple(
        piece
        for path in sorted(package.rglob("*.py"))
        for piece in _module_pieces(".".join(path.relative_to(package).with_suffix("").parts), path)
    )


def _module_pieces(module: str, path: Path) -> Iterator[Piece]:
    source = path.read_text(encoding="utf-8")
    lines = source.splitlines()
    body = ast.parse(source).body
    for node, after in zip(body, [*body[1:], None], strict=True):
        match node:
            case ast.FunctionDef():
                yield _piece(module, node.name, node, lines, node.end_lineno)
            case ast.ClassDef():
                methods = [each for each in node.body if isinstance(each, ast.FunctionDef)]
                head_end = _first_line(methods[0]) - 1 if methods else node.end_lineno
                yield _piece(module, node.name, node, lines, head_end)
                for method in methods:
                    name = f"{node.name}.{method.name}"
                    yield _piece(module, name, method, lines, method.end_lineno)
            case ast.Assign(targets=[ast.Name(name)]) | ast.AnnAssign(target=ast.Name(name)):
                explained = isinstance(after, ast.Expr)
                end = after.end_lineno if explained and after else node.end_lineno
                yield _piece(module, name, node, lines, end)


_Documented = ast.FunctionDef | ast.ClassDef


def _first_line(node: ast.FunctionDef | ast.ClassDef) -> int:
    return min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])


def _piece(module: str, name: str, node: ast.stmt, lines: list[str], end: int | None) -> Piece:
    first = _first_line(node) if isinstance(node, _Documented) else node.lineno
    source = textwrap.dedent("\n".join(lines[first - 1 : end])).rstrip()
    docstring = ast.get_docstring(node) if isinstance(node, _Documented) else None
    return Piece(module, name, source, tuple(dict.fromkeys(_RULE.findall(docstring or ""))))


def model_page() -> str:
    """The model, function by function, beside the rules that it states."""
    shown = [piece for piece in pieces(MODEL) if piece.module in ANNOTATED]
    stated = {rule for piece in shown for rule in piece.rules}
    elsewhere = [rule.id for rule in all_requirements() if rule.id not in stated]
    parts = [_MODEL_HEAD]
    for module in ANNOTATED:
        docstring = ast.get_docstring(ast.parse(_source(module))) or ""
        parts.append(f"## {module} {{ #{module} }}\n\n{docstring.replace('``', '`')}\n")
        parts += [_beside(piece) for piece in shown if piece.module == module]
    if elsewhere:
        names = ", ".join(_linked(rule) for rule in elsewhere)
        parts.append(f"## Rules without a function of their own\n\n{_ELSEWHERE}\n\n{names}\n")
    return "\n".join(parts)


def _source(module: str) -> str:
    return (MODEL / f"{module.replace('.', '/')}.py").read_text("utf-8")


_MODEL_HEAD = """---
hide: [toc]
---

# The annotated model

The executable model, whole but for its imports: on the right the source, on the left the rules
that a function states. `timer` says what every timer does, `pending_tasks` and `timing_wheel` are
the two ways of keeping the tasks, `arithmetic` is their rounding. What begins with `purgatory`, and
`watcher_lists`, is the purgatory's; what begins with `memory_pool` is the memory pool's,
`channel_muting` the channels' that wait for its memory.
"""

_ELSEWHERE = """These hold of the model as a whole (its tests say so one by one), or speak of a real
clock, which the model does not have and the runner judges by intervals:"""


def _beside(piece: Piece) -> str:
    rules = [f"- {_link_to_rule(rule)}: {requirement(rule).title}" for rule in piece.rules]
    words = "\n".join(
        [f"**{piece.name.rpartition('.')[2]}**{{ #{piece.anchor} .piece-name }}", "", *rules]
    )
    left = f'<div class="piece-rules" markdown>\n\n{words}\n\n</div>'
    right = f'<div class="piece-source" markdown>\n\n```python\n{piece.source}\n```\n\n</div>'
    return f'<div class="piece" markdown>\n{left}\n{right}\n</div>\n'


# Profiles.


def profile_page() -> str:
    """Every field of each profile: its values, what they mean, the rules that depend on it."""
    parts = [_PROFILE_HEAD]
    for component in Component:
        parts.append(f"## The {noun(component)}\n")
        for field in profile_fields(component):
            owner = "" if component is Component.TIMER else f"{noun(component)}: "
            parts.append(f"### {owner}{field.name}\n")
            parts.append(_field(component, field))
    rows = [
        (f"`profile:{each.name}`", noun(each.component), _code(each.value))
        for each in profile_subjects()
    ]
    parts += [_SUBJECTS_HEAD, _table(("subject", "component", "declares"), rows)]
    return "\n".join(parts)


_PROFILE_HEAD = """# Profiles

A profile declares the legal choices of an implementation. The rules are judged under it, and
nothing that is not declared is asked for or compared. Every default is the weakest choice.
"""

_SUBJECTS_HEAD = """
## A subject for every value

Each value has a small specimen that conforms under it and fails under its sibling. `purgatory
check` takes these names.
"""


def _field(component: Component, field: ProfileField) -> str:
    if field.choice is None:
        explained = _sentences(PROFILES[component]).get(field.name, "")
        return f"An integer, {field.default} when absent. {_code(explained)}\n"
    sentences = _sentences(field.choice)
    rows: list[tuple[str, ...]] = []
    for value in field.choice:
        mark = " (default)" if value is field.default else ""
        word = "has" if field.several else "is"
        meaning = _code(sentences.get(value.name, ""))
        condition = f"`{field.name} {word} {value.value}`"
        rows.append((f"`{value.value}`{mark}", meaning, _rules_of(component, condition)))
    explanation = _code(inspect.cleandoc(field.choice.__doc__ or ""))
    if not any(row[1] or row[2] for row in rows):
        return f"{explanation} Values: {', '.join(row[0] for row in rows)}.\n"
    return f"{explanation}\n\n{_table(('value', 'meaning', 'rules that apply only then'), rows)}\n"


def _table(headers: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    """A table without the columns that would be empty."""
    used = [column for column in range(len(headers)) if any(row[column] for row in rows)]
    lines = [[headers[column] for column in used], ["---"] * len(used)]
    lines += [[row[column] for column in used] for row in rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _rules_of(component: Component, condition: str) -> str:
    bound = [rule for rule in requirements(component) if condition in rule.condition]
    return ", ".join(_link_to_source(rule.id) for rule in bound)


def _sentences(owner: type) -> dict[str, str]:
    """The strings below the members of a class, by the members' names."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(owner))).body[0]
    assert isinstance(tree, ast.ClassDef)
    found: dict[str, str] = {}
    for node, after in zip(tree.body, tree.body[1:], strict=False):
        match node, after:
            case (
                ast.Assign(targets=[ast.Name(name)]) | ast.AnnAssign(target=ast.Name(name)),
                ast.Expr(value=ast.Constant(value=str(text))),
            ):
                found[name] = " ".join(text.split())
    return found


def _code(text: str) -> str:
    """A docstring as Markdown."""
    return _BARE_RULE.sub(lambda rule: _link_to_source(rule[0]), text.replace("``", "`"))


def _link_to_source(identifier: str) -> str:
    """A rule as a link to its normative file; the words alone where there is no such rule."""
    try:
        page = _page(component_of_rule(identifier))
    except KeyError:
        return identifier
    slug = slugify(f"{identifier}: {requirement(identifier).title}", "-")
    return f"[{identifier}](../../spec/{page}#{slug})"


# The command line.


def command_line_page() -> str:
    """Every command with its help, its usage and its options."""
    parts = ["# Command line\n", f"{purgatory.help}\n", f"{purgatory.epilog}\n"]
    with click.Context(purgatory, info_name="purgatory") as context:
        parts += _commands(purgatory, context)
    return "\n".join(parts)


def _commands(group: click.Group, parent: click.Context) -> Iterator[str]:
    for name in group.list_commands(parent):
        command = group.get_command(parent, name)
        assert command is not None, name
        with click.Context(command, info_name=name, parent=parent) as context:
            yield _command(command, context)
            if isinstance(command, click.Group):
                yield from _commands(command, context)


def _command(command: click.Command, context: click.Context) -> str:
    usage = " ".join([context.command_path, *command.collect_usage_pieces(context)])
    lines = [f"## {context.command_path}", "", inspect.cleandoc(command.help or ""), ""]
    lines += ["```text", usage, "```", ""]
    records = [
        record
        for each in command.params
        if isinstance(each, click.Option) and (record := each.get_help_record(context))
    ]
    if records:
        rows = [(f"<code>{_cell(names)}</code>", _cell(meaning)) for names, meaning in records]
        lines.append(_table(("option", "meaning"), rows))
    return "\n".join([*lines, ""])


def _cell(text: str) -> str:
    return text.replace("|", "&#124;")


if __name__ == "__main__":
    PROFILE_PAGE.write_text(profile_page(), encoding="utf-8")
