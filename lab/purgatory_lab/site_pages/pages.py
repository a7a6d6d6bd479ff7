"""All pages of the site: those of ``docs`` as readers of the site need them, and those made here.

None of the pages that are made is checked in but that of the profiles. So that a link can be
followed in a checkout, too, the pages of ``docs`` link to the sources, and the site to the pages
made of them.
"""

import inspect
import posixpath
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import click

from purgatory_conformance.command_line import purgatory
from purgatory_conformance.viewing.markup import viewer, viewer_script, viewer_style
from purgatory_conformance.viewing.runs import run_of_case
from purgatory_course.playing.page import (
    hunt_for_a_defect,
    play_script,
    play_style,
    wheel_to_change,
)
from purgatory_lab.site_pages.annotated import IMPLEMENTATION, MODEL
from purgatory_lab.site_pages.checkout import ROOT, page_of, shown_table, with_anchors_of_site
from purgatory_lab.site_pages.rules import mutants_page, protocol_page, rules_page, vector_pages
from purgatory_lab.site_pages.tla_modules import state_graphs_page, tla_pages
from purgatory_spec.cases import decode_case
from purgatory_spec.profiles import Component

_CASE = re.compile(
    r'^```jsonl viewer(?P<plays> plays)? title="(?P<title>[^"]+)"\n(?P<case>.*?)^```$',
    re.MULTILINE | re.DOTALL,
)
_PLACE = re.compile(r'<div class="play-slot" data-part="(?P<part>wheel|hunt)"></div>')
_PARTS = {"wheel": wheel_to_change, "hunt": hunt_for_a_defect}


def with_parts_to_play(markdown: str) -> str:
    """Return the page with its parts, and with their style and script once."""
    first = _PLACE.search(markdown)
    if first is None:
        return markdown
    filled = _PLACE.sub(lambda place: str(_PARTS[place["part"]]()), markdown[first.start() :])
    return f"{markdown[: first.start()]}{play_style()}\n{filled}\n\n{play_script()}"


def with_figures(markdown: str, page: str) -> str:
    """Return the page with a figure for each case, and with the style and the script once."""
    first = _CASE.search(markdown)
    if first is None:
        return markdown

    def figure(fence: re.Match[str]) -> str:
        run = run_of_case(decode_case(fence["case"], f"{page}: {fence['title']}"))
        if fence["plays"]:
            return str(viewer(run, plays=True))
        lines = ["```jsonl", *fence["case"].rstrip().splitlines(), "```"]
        shown = "\n".join(f"    {line}" for line in lines)
        return f'{viewer(run)}\n\n??? note "The steps as a file, {fence["title"]}"\n\n{shown}'

    start = first.start()
    filled = _CASE.sub(figure, markdown[start:])
    return f"{markdown[:start]}{viewer_style()}\n{filled}\n\n{viewer_script()}"


def command_line_page() -> str:
    """Return help, usage and options of every command."""
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
        rows = [(f"<code>{names}</code>", meaning) for names, meaning in records]
        lines.append(shown_table(("option", "meaning"), rows))
    return "\n".join([*lines, ""])


_FENCE: Final = re.compile(r"^(?P<open>\s*```\w+)(?P<words>[^\n]*)$", re.MULTILINE)
_HEADING: Final = re.compile(r"^# (?P<words>.+)$", re.MULTILINE)
_TITLE: Final = re.compile(r'title="[^"]*"')
_PLOT: Final = re.compile(r"^!\[(?P<words>[^\]]+)\]\([^)\s]+\.svg\)$", re.MULTILINE)
_LINK: Final = re.compile(r"\]\((?P<path>\.\./[^)#\s]+)(?P<anchor>#[^)\s]+)?\)")

PAGES_OF_SOURCES: Final = {
    "spec/timer.md": "reference/timer.md",
    "spec/purgatory.md": "reference/purgatory.md",
    "spec/memory-pool.md": "reference/memory-pool.md",
    "spec/channel-muting.md": "reference/channel-muting.md",
    "spec/protocol.md": "reference/protocol.md",
    "model/purgatory_model/__init__.py": "reference/model/index.md",
    "conformance/purgatory_conformance/command_line.py": "reference/command-line.md",
    "impl/purgatory_impl/__init__.py": "reference/implementation/index.md",
    "spec/vectors": "reference/vectors/index.md",
    "conformance/purgatory_conformance/specimens/mutants.py": "reference/mutants.md",
    "tla/manifest.json": "reference/tla/index.md",
    "tla/OperationLock.tla": "reference/tla/OperationLock.md",
    "tla/purgatory_tla/bindings/__init__.py": "reference/state-graphs.md",
}
"""The page of the site made from each file or folder that pages link to in a checkout."""


_WIDE: Final = "---\nhide: [navigation, toc]\n---\n\n"
"""The front matter of the home page, whose doors lead further: it has the whole width."""


def write_pages(folder: Path) -> None:
    """Put all pages and what they show into a folder, which has nothing else afterwards."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(ROOT / "docs", folder)
    pages = {**_pages_of_docs(), **made_pages()}
    for path, text in pages.items():
        page = folder / path
        page.parent.mkdir(parents=True, exist_ok=True)
        head = _WIDE if path == "index.md" else ""
        page.write_text(head + _with_way_up(text, path, pages), encoding="utf-8")


def _with_way_up(text: str, path: str, pages: dict[str, str]) -> str:
    """Return the page with a link to the index of its folder, or of the one above."""
    folder, name = posixpath.split(path)
    above = posixpath.dirname(folder) if name == "index.md" else folder
    index = posixpath.join(above, "index.md")
    title = _HEADING.search(pages.get(index, ""))
    if above in ("", "course") or title is None:
        return text
    way_up = f"[{title['words']}]({posixpath.relpath(index, folder)}){{ .way-up }}"
    return _HEADING.sub(lambda own: f"{own[0]}\n\n{way_up}", text, count=1)


def made_pages() -> dict[str, str]:
    """Return the pages that are made from the sources, by their paths."""
    reference = {
        **{page_of(each): rules_page(each) for each in Component},
        "protocol.md": protocol_page(),
        **MODEL.pages(),
        **IMPLEMENTATION.pages(),
        **vector_pages(),
        "mutants.md": mutants_page(),
        "command-line.md": command_line_page(),
        **tla_pages(),
        "state-graphs.md": state_graphs_page(),
    }
    return {f"reference/{path}": text for path, text in reference.items()}


def _pages_of_docs() -> dict[str, str]:
    docs = ROOT / "docs"
    return {
        (path := page.relative_to(docs).as_posix()): of_site(page.read_text("utf-8"), path)
        for page in sorted(docs.rglob("*.md"))
    }


def of_site(markdown: str, path: str) -> str:
    """Return a page of ``docs`` for the site: with figures and links, without tests' words."""
    folder = posixpath.dirname(path)

    def on_the_site(link: re.Match[str]) -> str:
        source = posixpath.normpath(posixpath.join("docs", folder, link["path"]))
        if source not in PAGES_OF_SOURCES:
            return link[0]
        page_of_site = posixpath.relpath(PAGES_OF_SOURCES[source], folder or ".")
        return f"]({page_of_site}{link['anchor'] or ''})"

    text = _FENCE.sub(_plain_fence, with_parts_to_play(with_figures(markdown, path)))
    return _LINK.sub(on_the_site, with_anchors_of_site(_PLOT.sub(_with_caption, text)))


def _with_caption(plot: re.Match[str]) -> str:
    caption = f"<figcaption>{plot['words']}</figcaption>"
    return f'<figure class="plot" markdown>\n{plot[0]}\n{caption}\n</figure>'


def _plain_fence(fence: re.Match[str]) -> str:
    title = _TITLE.search(fence["words"])
    return f"{fence['open']} {title[0]}" if title else fence["open"]
