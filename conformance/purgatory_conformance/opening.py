"""From the word on the command line to an open subject."""

import importlib
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from purgatory_conformance.kits import Clock, Language, project, write
from purgatory_conformance.nearest import did_you_mean
from purgatory_conformance.registered import PROJECTS, REGISTERED
from purgatory_conformance.resources import adapter_folder, adapters_folder
from purgatory_conformance.running.replay_file import plain
from purgatory_conformance.specimens.mutants import mutant, mutants
from purgatory_conformance.specimens.profile_subjects import profile_subjects
from purgatory_conformance.subjects.building import installed, run_build, sole_builder
from purgatory_conformance.subjects.bundled import (
    bundled_fixed_subject,
    bundled_inline_subject,
    bundled_proposal_subject,
    bundled_subject,
)
from purgatory_conformance.subjects.bundled.real_clock import bundled_real_clock_subject
from purgatory_conformance.subjects.child_process import ChildProcessSubject
from purgatory_conformance.subjects.declaration import (
    Declaration,
    declaration_of,
    read_declaration,
)
from purgatory_conformance.subjects.in_process import subject_of
from purgatory_conformance.subjects.kafka import KafkaMode, kafka_command
from purgatory_conformance.subjects.open_subject import OpenSubject
from purgatory_conformance.subjects.subject import Subject
from purgatory_spec.profiles import Component, Profile

KAFKA_RELEASE = "4.4.0"
"""The release that is judged unless another is asked for."""

KAFKA_MOCK_RELEASE = "4.3.0"
KAFKA_SHARED_LOCK_RELEASE = "2.6.3"
"""The newest release whose test classes are published."""


class UnknownSubject(ValueError):
    """No subject goes by the word given; the message lists the known words."""


def open_subject(
    word: str, *, work_folder: Path, release: str = "", profile: Profile | None = None
) -> OpenSubject:
    """Open the subject that a word stands for.

    Args:
        word: A registered name, ``mutant:NAME``, ``profile:NAME``, a ``purgatory.toml`` or its
            folder, or ``module:factory`` for an in-process subject. Empty: the declaration in
            the present folder, or the bundled timer where there is none.
        work_folder: Where adapters are built.
        release: The release of Apache Kafka to judge, where the subject is Kafka.
        profile: The choices of a class of instances, where ``module:CLASS`` is given.

    Raises:
        UnknownSubject: nothing goes by this word.
        InvalidDeclaration: the declaration cannot be used.
        MissingTool: a tool that the subject needs is not installed.
        BuildFailed: the adapter could not be built.
    """
    if not word:
        word = _default_word()
    word, release = _with_release(word, release)
    opened = _registered(word, work_folder, release)
    if opened is not None:
        return opened
    path = declaration_of(word)
    if path is not None:
        declaration = read_declaration(path, release)
        return replace(_declared(declaration, work_folder), reopen=str(path))
    if ":" in word:
        return OpenSubject(word, _imported(word, Path.cwd(), profile))
    raise UnknownSubject(
        f"{word!r} is no subject: it is neither a registered name (see purgatory list subjects), "
        f"nor a folder with a purgatory.toml, nor module:factory{_or_rather(word)}"
    )


def _or_rather(word: str) -> str:
    """The subjects whose names are like a word, as a question behind a sentence; or nothing."""
    name, at, release = word.partition("@")
    hint = did_you_mean(name, (each.name for each in REGISTERED), "")
    return f"; {hint.removesuffix('?')}{at}{release}?" if hint else ""


def adapter_command(
    word: str, *, work_folder: Path, release: str = ""
) -> tuple[tuple[str, ...], Path | None]:
    """The command of an adapter and the folder it starts in, without starting it.

    Raises:
        UnknownSubject: the word stands for no adapter.
        InvalidDeclaration: the declaration cannot be used.
        MissingTool: a tool that the adapter needs is not installed.
        BuildFailed: the adapter could not be built.
    """
    word, release = _with_release(word or _default_word(), release)
    if word in _KAFKA_MODES:
        return _kafka_adapter(word, work_folder, release), None
    path = _bundled_declaration(word, work_folder) or declaration_of(word)
    if path is None:
        raise UnknownSubject(
            f"{word!r} is no adapter, a program that speaks the protocol; "
            f"to judge a subject: purgatory check {word}"
        )
    declaration = read_declaration(path, release)
    if not declaration.command:
        raise UnknownSubject(
            f"{path} declares no command; doctor examines programs that a command starts"
        )
    return _built(declaration, work_folder), declaration.folder


def _with_release(word: str, release: str) -> tuple[str, str]:
    """Split ``kafka@4.0.0`` into the word and the release."""
    name, separator, suffix = word.partition("@")
    if separator and name in _KAFKA_MODES:
        return name, release or suffix
    return word, release


def _default_word() -> str:
    return str(declaration_of("") or "bundled")


def _registered(word: str, work_folder: Path, release: str) -> OpenSubject | None:
    match word:
        case "bundled":
            return OpenSubject(word, bundled_subject())
        case "bundled-proposal":
            return OpenSubject(word, bundled_proposal_subject())
        case "bundled-fixed-interval":
            return OpenSubject(word, bundled_fixed_subject())
        case "bundled-inline":
            return OpenSubject(word, bundled_inline_subject())
        case "bundled-real-clock":
            return OpenSubject(word, bundled_real_clock_subject())
        case _ if declaration := _bundled_declaration(word, work_folder):
            return _declared(read_declaration(declaration), work_folder)
        case _ if word in _KAFKA_MODES:
            return _kafka(word, work_folder, release)
        case _ if word.startswith("mutant:"):
            return OpenSubject(word, _mutant(word.removeprefix("mutant:")))
        case _ if word.startswith("profile:"):
            return OpenSubject(word, _profile_subject(word.removeprefix("profile:")))
    return None


_KITS = {
    "heap-timer": (Component.TIMER,),
    "naive-purgatory": (Component.PURGATORY, Component.MEMORY_POOL),
}
"""The subjects that are written by ``purgatory init --lang python``, and their components."""

_DECLARED = {
    "naive-server": "python-server/purgatory.toml",
    "javascript-wheel": "javascript/purgatory.toml",
    **{word: path for word, (path, _) in PROJECTS.items()},
}
"""The words for adapters that come with the suite, and their declarations."""


def _bundled_declaration(word: str, work_folder: Path) -> Path | None:
    """The declaration of an adapter that comes with the suite; None where the word is none's.

    A project of ``purgatory init`` is written into the work folder first.
    """
    if word in _KITS:
        folder = work_folder / "kits" / word
        write(project(Language.PYTHON, _KITS[word], Clock.VIRTUAL, word), folder)
        return folder / "purgatory.toml"
    return adapters_folder() / _DECLARED[word] if word in _DECLARED else None


_KAFKA_MODES = {
    "kafka": KafkaMode.VIRTUAL,
    "kafka-leak-tracking": KafkaMode.LEAK_TRACKING,
    "kafka-real-clock": KafkaMode.REAL_CLOCK,
    "kafka-mock-timer": KafkaMode.MOCK_TIMER,
    "kafka-shared-lock": KafkaMode.SHARED_LOCK,
}


def _kafka_release(word: str, release: str) -> str:
    standard = {
        "kafka-mock-timer": KAFKA_MOCK_RELEASE,
        "kafka-shared-lock": KAFKA_SHARED_LOCK_RELEASE,
    }
    return release or standard.get(word, KAFKA_RELEASE)


def _kafka_adapter(word: str, work_folder: Path, release: str) -> tuple[str, ...]:
    version = _kafka_release(word, release)
    try:
        return kafka_command(version=version, mode=_KAFKA_MODES[word], work_folder=work_folder)
    except ValueError as error:
        raise UnknownSubject(f"there is no subject {word}@{version}: {error}") from None


def _kafka(word: str, work_folder: Path, release: str) -> OpenSubject:
    version = _kafka_release(word, release)
    reopen = f"{word}@{version}"
    command = _kafka_adapter(word, work_folder, release)
    subject = ChildProcessSubject(command, name=word, time_limit_seconds=20.0)
    if word not in {"kafka", "kafka-shared-lock"}:
        return OpenSubject(word, subject, reopen=reopen)
    declaration = read_declaration(adapter_folder("kafka") / "purgatory.toml", version)
    return OpenSubject(word, subject, declaration.deviations, declaration.replays, reopen)


def _mutant(name: str) -> Subject:
    try:
        return mutant(name).make()
    except KeyError:
        known = [each.name for each in mutants()]
        hint = did_you_mean(name, known, "see: purgatory list mutants")
        raise UnknownSubject(f"there is no mutant {name!r}; {hint}") from None


def _profile_subject(name: str) -> Subject:
    for each in profile_subjects():
        if each.name == name:
            return each.make()
    known = [each.name for each in profile_subjects()]
    hint = did_you_mean(name, known, "see: purgatory list subjects")
    raise UnknownSubject(f"there is no profile subject {name!r}; {hint}")


def _built(declaration: Declaration, work_folder: Path) -> tuple[str, ...]:
    """Build an adapter, if there is something to build; the command that starts it."""
    output = work_folder.resolve() / "adapters" / plain(declaration.name)
    build, command = (
        tuple(part.replace("{build}", str(output)) for part in words)
        for words in (declaration.build, declaration.command)
    )
    if build:
        advice = f"the adapter of {declaration.name} is built with it"
        tool = installed(build[0], advice)
        with sole_builder(output.with_name(f"{output.name}.lock")):
            run_build((tool, *build[1:]), declaration.folder, f"the build of {declaration.name}")
    return command


def _declared(declaration: Declaration, work_folder: Path) -> OpenSubject:
    subject: Subject
    if declaration.python:
        subject = _imported(declaration.python, declaration.folder)
    else:
        subject = ChildProcessSubject(
            _built(declaration, work_folder),
            name=declaration.name,
            time_limit_seconds=declaration.time_limit_seconds,
            working_folder=declaration.folder,
        )
    return OpenSubject(declaration.name, subject, declaration.deviations, declaration.replays)


def _imported(word: str, folder: Path, profile: Profile | None = None) -> Subject:
    """An in-process subject; its module may lie in the folder that it is declared in."""
    module_name, _, factory_name = word.partition(":")
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))
    try:
        module = importlib.import_module(module_name)
        factory: Callable[[], Subject] = getattr(module, factory_name)
    except (ImportError, AttributeError) as error:
        raise UnknownSubject(f"{word!r} cannot be imported: {error}") from error
    is_subject = hasattr(factory, "do_all")
    if is_subject or not isinstance(factory, type) or not hasattr(factory, "do"):
        return factory()
    if profile is None:
        raise UnknownSubject(f"{word!r} is a class of instances, and has no profile of its own")
    return subject_of(factory, profile)
