"""From the word on the command line to an open subject."""

import hashlib
import importlib
import re
import shlex
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from purgatory_conformance.describing.words import printable, replay_command
from purgatory_conformance.kits import Clock, Language, project, write
from purgatory_conformance.problems import EXIT_USAGE, Foreseen
from purgatory_conformance.registered import FAMILIES, PROJECTS, REGISTERED, Family
from purgatory_conformance.resources import adapter_folder, adapters_folder
from purgatory_conformance.subjects.building import installed, run_build, sole_builder
from purgatory_conformance.subjects.child_process import ChildProcessSubject
from purgatory_conformance.subjects.declaration import (
    Declaration,
    declaration_of,
    read_declaration,
)
from purgatory_conformance.subjects.guarded import GuardedSubject, guarded
from purgatory_conformance.subjects.in_process import subject_of
from purgatory_conformance.subjects.kafka import KafkaMode, kafka_command
from purgatory_conformance.subjects.open_subject import OpenSubject
from purgatory_conformance.subjects.plain_timer import is_plain_timer, plain_subject
from purgatory_conformance.subjects.subject import Subject, SubjectFailure
from purgatory_conformance.work_folder import plain
from purgatory_spec.nearest import did_you_mean
from purgatory_spec.profiles import Component, Profile, TimerProfile

KAFKA_RELEASE = "4.4.0"
"""The release that is judged unless another is asked for."""

KAFKA_MOCK_RELEASE = "4.3.0"
KAFKA_SHARED_LOCK_RELEASE = "2.6.3"
"""The newest release whose test classes are published."""


_BEGIN = "purgatory init --lang python my-timer"

_IN_A_MODULE = re.compile(r"[\w.]+:[\w.]+")


class UnknownSubject(Foreseen, ValueError):
    """A word that is no subject's name; the message lists the known words."""

    exit_code = EXIT_USAGE


Tell = Callable[[str], object]
"""Takes a sentence that says which commands are about to run, or which module is imported."""


def quietly(_: str) -> None:
    """Ignore the progress: tell it to no reader."""


def open_subject(
    word: str,
    *,
    work_folder: Path,
    release: str = "",
    profile: Profile | None = None,
    tell: Tell = quietly,
) -> OpenSubject:
    """Open the subject that a word stands for.

    Args:
        word: A registered name, ``mutant:NAME``, ``profile:NAME``, a ``purgatory.toml`` or its
            folder, or ``module:factory`` for an in-process subject. Empty: the declaration in
            the present folder.
        work_folder: Where adapters are built.
        release: The release of Apache Kafka to judge, where the subject is Kafka.
        profile: The choices of a class of instances, where ``module:CLASS`` is given.
        tell: Takes what a declaration has run, before it runs.

    Raises:
        UnknownSubject: nothing goes by this word.
        InvalidDeclaration: the declaration cannot be used.
        MissingTool: a tool that the subject needs is not installed.
        BuildFailed: the adapter could not be built.
        SubjectFailure: the subject's own code raised something.
    """
    if not word:
        word = _declared_here()
    word, release = _with_release(word, release)
    _only_one(word)
    subject = _built_in(word)
    if subject is not None:
        return OpenSubject(word, GuardedSubject(subject))
    opened = _registered(word, work_folder, release) or _users(
        word, work_folder, profile, release, tell
    )
    return replace(opened, again=("--subject", opened.reopen))


def open_named_in(file: Path, word: str, asked: Path) -> OpenSubject:
    """Open the subject that a file names: one of the suite that runs in this process.

    A file that somebody sends starts nothing and imports nothing. The word in it is not even looked
    for in the file system, which a path of another machine would reach.

    Args:
        file: The file that names the subject.
        word: What the file says; empty for the bundled subject, where no other is at hand.
        asked: The file or folder that is being replayed.

    Raises:
        UnknownSubject: it is another subject, or none; the message has the line to type.
    """
    here = declaration_of("")
    if not word and here is not None:
        raise UnknownSubject(
            f"{file} names no subject, and {here} declares one; to ask that: "
            f"{replay_command(asked, '--subject', here)}; to ask our own: "
            f"{replay_command(asked, '--subject', 'bundled')}"
        )
    subject = _built_in(word or "bundled")
    if subject is not None:
        return OpenSubject(word or "bundled", GuardedSubject(subject))
    option = _option_for(word)
    if not option:
        raise UnknownSubject(f"{file}: {word!r} is no subject{_or_rather(word)}")
    raise UnknownSubject(
        f"{file} names the subject {word!r}. Nothing that a file names is started or "
        f"imported; to ask it, name it yourself: {replay_command(asked, option, word)}"
    )


def _option_for(word: str) -> str:
    """Return the option that takes a word found in a file; empty for a word that is no subject."""
    if word.partition("@")[0] in {each.name for each in REGISTERED}:
        return "--subject"
    if word.endswith(".toml") or _IN_A_MODULE.fullmatch(word):
        return "--subject"
    return "--command" if re.search(r"[\s/\\]", word) else ""


def _users(
    word: str, work_folder: Path, profile: Profile | None, release: str, tell: Tell
) -> OpenSubject:
    """Return a subject that does not come with the suite."""
    path = declaration_of(word)
    if path is not None:
        declaration = read_declaration(path, release)
        tell(_what_runs(path, declaration, work_folder))
        return replace(
            _declared(declaration, work_folder), reopen=str(path), home=declaration.folder
        )
    if ":" in word:
        subject = GuardedSubject(_imported(word, Path.cwd(), profile))
        return OpenSubject(word, subject, reopen=word, home=Path.cwd())
    raise _no_subject(word)


def _no_subject(word: str) -> UnknownSubject:
    """Return the error for a word that nothing goes by: the file that is missing, or the names."""
    if Path(word).is_dir():
        return UnknownSubject(
            f"{word}: this folder has no purgatory.toml; a project to begin with: {_BEGIN}"
        )
    if word.endswith(".toml") or "/" in word or "\\" in word:
        return UnknownSubject(f"{word}: no such file or folder")
    return UnknownSubject(
        f"{word!r} is no subject: it is neither a registered name (see purgatory list subjects), "
        f"nor a folder with a purgatory.toml, nor module:factory{_or_rather(word)}"
    )


def _or_rather(word: str) -> str:
    """Return the subjects with a similar name, as a question behind a sentence; or nothing."""
    name, at, release = word.partition("@")
    hint = did_you_mean(name, (each.name for each in REGISTERED), "")
    return f"; {hint.removesuffix('?')}{at}{release}?" if hint else ""


def adapter_command(
    word: str, *, work_folder: Path, release: str = "", tell: Tell = quietly
) -> tuple[tuple[str, ...], Path | None]:
    """Return the command of an adapter and the folder it starts in, without starting it.

    Raises:
        UnknownSubject: the word stands for no adapter.
        InvalidDeclaration: the declaration cannot be used.
        MissingTool: a tool that the adapter needs is not installed.
        BuildFailed: the adapter could not be built.
    """
    word, release = _with_release(word or _declared_here(), release)
    _only_one(word)
    if word in _KAFKA_MODES:
        return _kafka_adapter(word, work_folder, release), None
    bundled = _bundled_declaration(word, work_folder)
    path = bundled or declaration_of(word)
    if path is None and _built_in(word) is None and ":" not in word:
        raise _no_subject(word)
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
    if bundled is None:
        tell(_what_runs(path, declaration, work_folder))
    return _built(declaration, work_folder), declaration.folder


def _what_runs(path: Path, declaration: Declaration, work_folder: Path) -> str:
    """Say which commands of a declaration run, or which module is imported, on one line."""
    if declaration.python:
        return printable(f"{path} imports {declaration.python} from {declaration.folder}")
    build, command = _commands(declaration, work_folder)
    first = f"{shlex.join(build)}, then " if build else ""
    return printable(f"{path} runs {first}{shlex.join(command)}")


def _with_release(word: str, release: str) -> tuple[str, str]:
    """Split ``kafka@4.0.0`` into the word and the release."""
    name, separator, suffix = word.partition("@")
    if separator and name in _KAFKA_MODES:
        return name, release or suffix
    return word, release


def _declared_here() -> str:
    """Return the file of the present folder that declares a subject.

    Raises:
        UnknownSubject: there is none; a verdict on our own code would be taken for one on theirs.
    """
    here = declaration_of("")
    if here is None:
        raise UnknownSubject(
            "no subject is named, and this folder has no purgatory.toml; a project to begin with: "
            f"{_BEGIN}; every name: purgatory list subjects"
        )
    return str(here)


def _only_one(word: str) -> None:
    """Refuse the name of a subject of the suite beside a folder of that name that declares one.

    Raises:
        UnknownSubject: a verdict on the one would be taken for a verdict on the other.
    """
    if word in {each.name for each in REGISTERED} and declaration_of(word) is not None:
        raise UnknownSubject(
            f"{word!r} is a subject of the suite, and a folder here that declares one: "
            f"./{word} is the folder; for the other, go to another folder"
        )


def _built_in(word: str) -> Subject | None:
    """Return the suite's subject that runs in this process; None for another word."""
    prefix, colon, name = word.partition(":")
    if colon and prefix in FAMILIES:
        return _specimen(FAMILIES[prefix], name)
    for each in REGISTERED:
        if each.name == word and each.maker:
            return each.make()
    return None


def _registered(word: str, work_folder: Path, release: str) -> OpenSubject | None:
    """Return a program that comes with the suite as a subject; None for another word."""
    path = _bundled_declaration(word, work_folder)
    if path is not None:
        return replace(_declared(read_declaration(path), work_folder), reopen=word)
    return _kafka(word, work_folder, release) if word in _KAFKA_MODES else None


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
    """Return the declaration of an adapter of the suite; None for another word.

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


def _specimen(family: Family, name: str) -> Subject:
    members = family.all()
    for each in members:
        if each.name == name:
            return each.make()
    hint = did_you_mean(name, (each.name for each in members), f"see: {family.listed_by}")
    raise UnknownSubject(f"there is no {family.noun} {name!r}; {hint}")


def _commands(
    declaration: Declaration, work_folder: Path
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the words that build an adapter, none without a build, and those that start it."""
    output = str(_output(declaration, work_folder))
    build, command = (
        tuple(part.replace("{build}", output) for part in words)
        for words in (declaration.build, declaration.command)
    )
    return build, command


def _output(declaration: Declaration, work_folder: Path) -> Path:
    """Return the folder that an adapter is built in, apart from other projects of its name."""
    whose = hashlib.sha256(str(declaration.folder).encode(errors="surrogateescape")).hexdigest()
    return work_folder.resolve() / "adapters" / f"{plain(declaration.name)}-{whose[:8]}"


def _built(declaration: Declaration, work_folder: Path) -> tuple[str, ...]:
    """Build an adapter, if there is something to build; the command that starts it."""
    build, command = _commands(declaration, work_folder)
    if build:
        output = _output(declaration, work_folder)
        advice = f"the adapter of {declaration.name} is built with it"
        tool = installed(build[0], advice)
        with sole_builder(output.with_name(f"{output.name}.lock")):
            if any("{build}" in word for word in (*declaration.build, *declaration.command)):
                output.mkdir(parents=True, exist_ok=True)  # a compiler makes no folder
            run_build((tool, *build[1:]), declaration.folder, f"the build of {declaration.name}")
    return command


def _declared(declaration: Declaration, work_folder: Path) -> OpenSubject:
    subject: Subject
    if declaration.python:
        subject = GuardedSubject(
            _imported(declaration.python, declaration.folder), declaration.time_limit_seconds
        )
    else:
        subject = ChildProcessSubject(
            _built(declaration, work_folder),
            name=declaration.name,
            time_limit_seconds=declaration.time_limit_seconds,
            working_folder=declaration.folder,
        )
    return OpenSubject(declaration.name, subject, declaration.deviations, declaration.replays)


def _imported(word: str, folder: Path, profile: Profile | None = None) -> Subject:
    """Return an in-process subject; its module may lie in the folder that it is declared in."""
    module_name, _, factory_name = word.partition(":")
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))

    def found() -> Callable[[], Subject]:
        factory: Callable[[], Subject] = getattr(importlib.import_module(module_name), factory_name)
        return factory

    try:
        factory = guarded(f"the import of {module_name}", found)
    except SubjectFailure as failure:
        if isinstance(failure.__cause__, ImportError | AttributeError):
            raise UnknownSubject(
                f"{word!r} cannot be imported: {failure.__cause__}"
            ) from failure.__cause__
        raise
    is_subject = hasattr(factory, "do_all")
    if is_plain_timer(factory):
        return plain_subject(factory, profile if isinstance(profile, TimerProfile) else None)
    if is_subject or not isinstance(factory, type) or not hasattr(factory, "do"):
        return guarded(word, factory)
    if profile is None:
        raise UnknownSubject(
            f"{word!r} is a class of instances, and has no profile of its own; name a function "
            f"that returns subject_of({factory_name}, PROFILE)"
        )
    return subject_of(factory, profile)
