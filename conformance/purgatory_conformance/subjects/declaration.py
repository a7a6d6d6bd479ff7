"""``purgatory.toml``: how to start a subject, the pinned suite, and the rules known as broken."""

import os
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path

import msgspec

from purgatory_conformance.problems import EXIT_USAGE, Foreseen
from purgatory_conformance.version import PACKAGE_VERSION, SUITE_VERSION, changes_after
from purgatory_judge.case_judge import Deviation
from purgatory_judge.registry import judged
from purgatory_spec.cases import Case, read_case
from purgatory_spec.jsonlines import InvalidDocument
from purgatory_spec.misspelt import suggestion
from purgatory_spec.named_files import named_file
from purgatory_spec.nearest import did_you_mean
from purgatory_spec.requirements import all_requirements, component_of_rule


class InvalidDeclaration(Foreseen, ValueError):
    """A declaration that cannot be used: names the file, and what to change in it."""

    exit_code = EXIT_USAGE


class _Subject(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    name: str
    command: list[str] = []
    python: str = ""
    build: list[str] = []
    time_limit_seconds: float = 10.0


class _Deviation(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    rule: str
    variant: str
    replay: str
    reason: str = ""
    issue: str = ""
    releases: list[str] = []


class _Suite(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    version: int


class _Document(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    subject: _Subject
    suite: _Suite | None = None
    deviation: list[_Deviation] = []


@dataclass(frozen=True)
class Declaration:
    """A subject as declared by the author in ``purgatory.toml``.

    Either ``command`` (an adapter, started in ``folder``) or ``python`` (``module:factory``, an
    in-process subject) is given. ``build`` is run in ``folder`` before an adapter is started;
    ``{build}`` stands in both commands for the folder of what it makes. ``replays`` has for each
    deviation's rule the case that shows it.
    """

    name: str
    folder: Path
    command: tuple[str, ...] = ()
    python: str = ""
    build: tuple[str, ...] = ()
    time_limit_seconds: float = 10.0
    deviations: tuple[Deviation, ...] = ()
    replays: tuple[tuple[str, Case], ...] = ()


def read_declaration(path: Path, release: str = "") -> Declaration:
    """Return the declaration in ``purgatory.toml``, or in another file's ``tool.purgatory``.

    Deviations that name releases are taken only for a ``release`` that they name.

    Raises:
        InvalidDeclaration: says what is wrong with the file.
    """
    try:
        with named_file(path).open("rb") as file:
            document: object = tomllib.load(file)
        if path.name == "pyproject.toml":
            document = _tool_table(document, path)
        declared = msgspec.convert(document, _Document)
    except OSError as error:
        raise InvalidDeclaration(f"{path}: {error.strerror}") from error
    except msgspec.ValidationError as error:
        raise InvalidDeclaration(f"{path}: {error}{suggestion(error, _Document)}") from error
    except tomllib.TOMLDecodeError as error:
        raise InvalidDeclaration(f"{path}: {error}") from error
    if declared.suite is not None:
        _hold_to_pin(path, declared.suite.version)
    subject = declared.subject
    if bool(subject.command) == bool(subject.python):
        raise InvalidDeclaration(f"{path}: [subject] needs either command or python, and not both")
    if subject.build and not subject.command:
        raise InvalidDeclaration(f"{path}: [subject] has a build, but no command that needs it")
    deviations: list[Deviation] = []
    replays = []
    for item in declared.deviation:
        if item.releases and release and release not in item.releases:
            continue
        if any(deviation.rule == item.rule for deviation in deviations):
            raise InvalidDeclaration(f"{path}: two deviations from {item.rule}; declare one")
        replay = str(path.parent / item.replay)
        deviation = Deviation(item.rule, item.variant, replay, item.reason, item.issue)
        deviations.append(deviation)
        replays.append((item.rule, _replay(path, deviation)))
    return Declaration(
        name=subject.name,
        folder=path.resolve().parent,
        command=_words(subject.command),
        python=subject.python,
        build=_words(subject.build),
        time_limit_seconds=subject.time_limit_seconds,
        deviations=tuple(deviations),
        replays=tuple(replays),
    )


def declaration_of(word: str) -> Path | None:
    """Return the file that declares the subject of a word or of this folder; None without one."""
    path = Path(word)
    if (
        not word
        and not os.path.lexists("purgatory.toml")
        and has_declaration(Path("pyproject.toml"))
    ):
        return Path("pyproject.toml")
    if path.is_dir():
        path = path / "purgatory.toml"
    return path if os.path.lexists(path) else None


def _words(command: list[str]) -> tuple[str, ...]:
    return tuple(sys.executable if part == "{python}" else part for part in command)


def has_declaration(path: Path) -> bool:
    """Decide whether a ``pyproject.toml`` has the table ``tool.purgatory``."""
    try:
        with named_file(path).open("rb") as file:
            return "purgatory" in tomllib.load(file).get("tool", {})
    except (OSError, tomllib.TOMLDecodeError):
        return False


def _hold_to_pin(path: Path, pinned: int) -> None:
    """Refuse to judge by another suite than the pinned one: a warning is lost in a build's log."""
    if str(pinned) == SUITE_VERSION:
        return
    has = (
        f"{path}: suite version {pinned} is pinned, and purgatory-spec {PACKAGE_VERSION} has "
        f"version {SUITE_VERSION}"
    )
    changes = changes_after(pinned)
    if not changes:
        raise InvalidDeclaration(f"{has}: install a later purgatory-spec, or pin {SUITE_VERSION}")
    raise InvalidDeclaration(
        f"{has}, so that a verdict may be another one: {'; '.join(changes)}. Pin {SUITE_VERSION} "
        "when you have seen the new verdict, or install an earlier purgatory-spec"
    )


def _tool_table(document: object, path: Path) -> object:
    tool = document.get("tool", {}) if isinstance(document, dict) else {}
    if "purgatory" not in tool:
        raise InvalidDeclaration(f"{path}: there is no table [tool.purgatory]")
    return tool["purgatory"]


def _replay(path: Path, deviation: Deviation) -> Case:
    try:
        variants = judged(component_of_rule(deviation.rule)).variants
    except KeyError:
        known = did_you_mean(deviation.rule, (rule.id for rule in all_requirements()), "")
        raise InvalidDeclaration(
            f"{path}: deviation from {deviation.rule}: there is no such rule"
            f"{f'; {known}' if known else ''}"
        ) from None
    if deviation.variant not in variants:
        listed = f"there are: {', '.join(sorted(variants)) or 'none'}"
        raise InvalidDeclaration(
            f"{path}: deviation from {deviation.rule}: there is no variant "
            f"{deviation.variant!r}; {did_you_mean(deviation.variant, variants, listed)}"
        )
    try:
        return read_case(Path(deviation.replay))
    except InvalidDocument as error:
        raise InvalidDeclaration(f"{path}: deviation from {deviation.rule}: {error}") from error
