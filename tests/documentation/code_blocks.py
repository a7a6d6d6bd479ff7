"""Fenced code blocks of the documentation: found, executed, checked."""

# What becomes of a block depends on its language, and on words behind it that the site hides:
#
# - ``python`` is executed, block after block, in one namespace for each page;
# - ``console`` has commands behind ``$``; they are executed and their output is compared: a line
#   ``...`` stands for any lines, and ``...`` inside a line for any letters; ``[exit 1]`` on the
#   last line is an exit code other than 0; with the word ``java`` the commands need Java and Maven;
#   with the word ``large`` they repeat what a test of the command shows, and run with the large
#   tests; with the word ``measured`` any number stands for any other, and gaps may have another
#   width;
# - ``json``, ``jsonl`` and ``toml`` are parsed, and read as what they are examples of; with the
#   word ``viewer`` the lines are a case that the model follows, and the site shows its run, which
#   with ``plays`` begins by itself;
# - ``yaml`` is parsed, and gives the action of this project no input that it does not have;
# - ``diff`` changes the file that its title names;
# - ``tla`` stands word for word in a module of this project, or with a title is a module itself;
# - ``go``, ``java``, ``javascript`` and ``rust`` have a title, and tests of their own that run
#   them;
# - a title makes a block a file in the page's folder, which later blocks may use;
# - ``text`` and the word ``no-run`` are for what cannot be checked; the tests list each of them.

import json
import os
import re
import subprocess
import sys
import textwrap
import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, get_args

import msgspec

from purgatory_conformance.subjects.declaration import read_declaration
from purgatory_conformance.viewing.runs import run_of_case
from purgatory_spec.cases import CaseHeader, Step, decode_case
from purgatory_spec.jsonlines import decode_line
from purgatory_spec.messages import Do, End, Hello, New, Reply, Stop
from purgatory_tla import read_module
from purgatory_traces.errors import Unusable
from purgatory_traces.traces.parsing import parse

ROOT = Path(__file__).resolve().parents[2]
TIME_LIMIT_SECONDS = 900.0
_SOURCES = (
    *("spec", "model", "impl", "tla", "conformance", "course", "lab", "docs"),
    *("README.md", "Makefile", "pyproject.toml", "constraints.txt"),
)

_OF_A_CHECKOUT = ("index.md", "figures.md", "under-many-threads.md")
"""Pages with commands that are there in a checkout alone."""

_NOT_A_READERS = (
    *("COLUMNS", "FORCE_COLOR", "TERM", "PYTHONPATH", "PYTEST_ADDOPTS"),
    *("MAKEFLAGS", "MAKELEVEL", "MFLAGS"),
)
"""The variables that a run of the tests has, of `make test` for example, and a reader has not."""

_FENCE = re.compile(r"^(?P<indent> *)(?P<fence>`{3,})(?P<info>[^`\n]*)$")
_TITLE = re.compile(r'title="(?P<title>[^"]*)"')
_EXIT = re.compile(r"\[exit (?P<code>\d+)\]")


class WrongBlock(AssertionError):
    """A block is not as the documentation claims."""


@dataclass(frozen=True)
class Block:
    """A fenced block: where its first line stands, its language, its words, its text."""

    page: Path
    line: int
    language: str
    words: frozenset[str]
    title: str
    text: str
    reason: str
    """The comment just above the block, if there is one."""

    @property
    def where(self) -> str:
        """The page and the line, for messages."""
        page = self.page.relative_to(ROOT) if self.page.is_relative_to(ROOT) else self.page
        return f"{page.as_posix()}:{self.line}"

    @property
    def first_line(self) -> str:
        return self.text.partition("\n")[0]


def pages() -> list[Path]:
    """Every page whose blocks are checked."""
    found = [ROOT / "README.md", ROOT / "CONTRIBUTING.md"]
    return [*found, *sorted((ROOT / "docs").rglob("*.md")), *sorted((ROOT / "spec").glob("*.md"))]


def blocks_of(page: Path) -> list[Block]:
    """The fenced blocks of a page, in order."""
    lines = page.read_text(encoding="utf-8").splitlines()
    blocks: list[Block] = []
    number = 0
    comment = ""
    while number < len(lines):
        opening = _FENCE.match(lines[number])
        if opening is None:
            if lines[number].strip():
                comment = lines[number].strip() if lines[number].strip().startswith("<!--") else ""
            number += 1
            continue
        closing = opening["indent"] + opening["fence"]
        end = next((n for n in range(number + 1, len(lines)) if lines[n].rstrip() == closing), None)
        if end is None:
            raise WrongBlock(f"{page}:{number + 1}: the fence is never closed")
        title = _TITLE.search(opening["info"])
        language, *words = _TITLE.sub("", opening["info"]).split() or [""]
        text = textwrap.dedent("\n".join(lines[number + 1 : end]) + "\n")
        name = title["title"] if title else ""
        first = number + 2
        blocks.append(Block(page, first, language, frozenset(words), name, text, comment))
        comment = ""
        number = end + 1
    return blocks


@dataclass
class PageRun:
    """The blocks of one page under way: their folder and their namespace."""

    folder: Path
    namespace: dict[str, Any] = field(default_factory=lambda: {"__name__": "page"})

    def prepare(self, page: Path) -> None:
        """Lay out the folder: Kafka's builds, and for a page of the checkout what is in one."""
        adapters = ROOT / "purgatory-work" / "adapters"
        adapters.mkdir(parents=True, exist_ok=True)
        (self.folder / "purgatory-work").mkdir()
        (self.folder / "purgatory-work" / "adapters").symlink_to(adapters)
        if page.parent != ROOT and page.parent.name != "spec" and page.name not in _OF_A_CHECKOUT:
            return
        for name in _SOURCES:
            (self.folder / name).symlink_to(ROOT / name)
        environment = self.folder / ".venv"
        environment.mkdir()
        for part in Path(sys.prefix).iterdir():
            (environment / part.name).symlink_to(part)
        # The environment is set up already; `make` would do it again for a newer pyproject.toml.
        for stamp in (".core", ".ready"):
            (environment / stamp).unlink(missing_ok=True)
            (environment / stamp).touch()

    def run(self, block: Block) -> None:
        """Execute or check one block."""
        if block.words & {"no-run"} or block.language == "text":
            return
        check = {
            "python": self._python,
            "console": self._console,
            "json": self._json_lines,
            "jsonl": self._json_lines,
            "toml": self._toml,
            "yaml": self._yaml,
            "diff": self._diff,
            "go": self._program,
            "java": self._program,
            "javascript": self._program,
            "rust": self._program,
            "tla": self._tla,
        }.get(block.language)
        if check is None:
            raise WrongBlock(f"{block.where}: nobody knows how to check {block.language!r}")
        if block.title and block.language != "diff":
            path = self.folder / block.title
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(block.text, encoding="utf-8")
        check(block)

    def _python(self, block: Block) -> None:
        # Empty lines in front make line numbers in tracebacks those of the page.
        source = "\n" * (block.line - 1) + block.text
        try:
            code = compile(source, str(block.page), "exec")
            if not block.title:
                exec(code, self.namespace)
        except Exception as error:
            raise WrongBlock(f"{block.where}: {type(error).__name__}: {error}") from error

    def _console(self, block: Block) -> None:
        for command, shown in _commands(block):
            expected_code, expected = 0, shown
            if shown and (exits := _EXIT.fullmatch(shown[-1])):
                expected_code, expected = int(exits["code"]), shown[:-1]
            code, output = self._execute(command)
            measured = "measured" in block.words
            if code != expected_code or not matches(expected, output, measured):
                raise WrongBlock(
                    f"{block.where}: $ {command}\n"
                    f"expected, exit code {expected_code}:\n{_indented(expected)}\n"
                    f"seen, exit code {code}:\n{_indented(output)}"
                )

    def _execute(self, command: str) -> tuple[int, list[str]]:
        scripts = Path(sys.executable).parent
        environment = {
            name: value for name, value in os.environ.items() if name not in _NOT_A_READERS
        }
        environment |= {
            "PATH": os.pathsep.join([str(scripts), os.environ["PATH"]]),
            "COLUMNS": "80",
            "NO_COLOR": "1",
            "PYTHONUTF8": "1",
        }
        done = subprocess.run(
            command,
            shell=True,
            cwd=self.folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            timeout=TIME_LIMIT_SECONDS,
            check=False,
        )
        return done.returncode, [line.rstrip() for line in done.stdout.splitlines()]

    def _json_lines(self, block: Block) -> None:
        for number, line in enumerate(block.text.splitlines(), start=block.line):
            try:
                _read_as_what_it_is(line)
            except ValueError as error:
                raise WrongBlock(f"{block.page}:{number}: {error}") from error
        if '"case"' in block.first_line and '"request"' not in block.first_line:
            case = decode_case(block.text, block.where)
            if "viewer" in block.words:
                run_of_case(case)

    def _toml(self, block: Block) -> None:
        try:
            document = tomllib.loads(block.text)
        except tomllib.TOMLDecodeError as error:
            raise WrongBlock(f"{block.where}: {error}") from error
        if "subject" in document and block.title:
            read_declaration(self.folder / block.title)

    def _yaml(self, block: Block) -> None:
        try:
            msgspec.yaml.decode(block.text)
        except msgspec.DecodeError as error:
            raise WrongBlock(f"{block.where}: {error}") from error
        action: Any = msgspec.yaml.decode((ROOT / "action.yml").read_bytes())
        of_ours = block.text.partition("purgatory-spec@")[2].partition("- ")[0]
        given = re.findall(r"^ +([a-z-]+): \S", of_ours, re.MULTILINE)
        if unknown := set(given) - action["inputs"].keys():
            raise WrongBlock(f"{block.where}: the action has no input {min(unknown)!r}")

    def _tla(self, block: Block) -> None:
        if block.title:
            read_module(self.folder / block.title)
            return
        modules = sorted((ROOT / "tla").glob("*.tla"))
        if not any(block.text in path.read_text(encoding="utf-8") for path in modules):
            raise WrongBlock(f"{block.where}: no module holds these lines")

    def _program(self, block: Block) -> None:
        if not block.title:
            raise WrongBlock(f"{block.where}: no test can find a program without a title")

    def _diff(self, block: Block) -> None:
        path = self.folder / block.title
        lines = [line for line in block.text.splitlines() if line]
        before = "\n".join(line[1:] for line in lines if line[0] in " -")
        after = "\n".join(line[1:] for line in lines if line[0] in " +")
        text = path.read_text(encoding="utf-8")
        if text.count(before) != 1:
            raise WrongBlock(f"{block.where}: {block.title} does not hold these lines once")
        path.write_text(text.replace(before, after), encoding="utf-8")


def matches(expected: list[str], seen: list[str], measured: bool = False) -> bool:
    """Return whether an output is the one that is shown, ``...`` standing for anything."""
    if not expected:
        return not seen
    head, rest = expected[0], expected[1:]
    if head.strip() == "...":
        return any(matches(rest, seen[start:], measured) for start in range(len(seen) + 1))
    if not seen:
        return False
    pattern = ".*".join(re.escape(part) for part in head.rstrip().split("..."))
    if measured:
        pattern = re.sub(r"(\\ )+", r" +", re.sub(r"[0-9]+(\\\.[0-9]+)*", r"[0-9.]+", pattern))
    return re.fullmatch(pattern, seen[0]) is not None and matches(rest, seen[1:], measured)


def _commands(block: Block) -> list[tuple[str, list[str]]]:
    """The commands of a console block, each with the output that is shown below it."""
    found: list[tuple[str, list[str]]] = []
    continued = False
    for line in block.text.splitlines():
        if continued:
            command, shown = found[-1]
            found[-1] = (f"{command}\n{line}", shown)
        elif line.startswith("$ "):
            found.append((line.removeprefix("$ "), []))
        elif found:
            found[-1][1].append(line.rstrip())
        else:
            raise WrongBlock(f"{block.where}: output stands before the first command")
        continued = (continued or line.startswith("$ ")) and line.endswith("\\")
    return found


def _read_as_what_it_is(line: str) -> None:
    """Read a line of JSON as a message, a line of a case or a line of a trace."""
    document = json.loads(line)
    if not isinstance(document, dict):
        raise ValueError("a line must be an object")
    if "request" in document:
        decode_line(line, _requests(document))
        return
    if "run" in document and "seq" in document:
        try:
            parse(line.encode())
        except Unusable as problem:
            raise ValueError(str(problem)) from None
        return
    kinds: dict[str, Any] = {"case": CaseHeader, "operation": Step, "id": Reply}
    kind = next((kind for key, kind in kinds.items() if key in document), None)
    if kind is None:
        raise ValueError(f"nobody knows what {line} is an example of")
    unknown = document.keys() - _fields(kind)
    if unknown:
        raise ValueError(f"there is no field {min(unknown)!r}")
    decode_line(line, kind)


def _requests(document: dict[str, object]) -> Any:
    """The requests that the document may be; ``new`` goes by its component."""
    of_components = {
        each.default: kind
        for kind in get_args(New)
        for each in msgspec.structs.fields(kind)
        if each.name == "component"
    }
    component = document.get("component", "timer")
    if component not in of_components:
        raise ValueError(f"there is no component {component!r}")
    return Hello | of_components[component] | Do | End | Stop


def _fields(kind: Any) -> set[str]:
    names: set[str] = set()
    for one in get_args(kind) or (kind,):
        names |= {each.encode_name for each in msgspec.structs.fields(one)}
        names |= {one.__struct_config__.tag_field or ""}
    return names


def _indented(lines: list[str]) -> str:
    return "\n".join(f"    {line}" for line in lines) or "    (nothing)"
