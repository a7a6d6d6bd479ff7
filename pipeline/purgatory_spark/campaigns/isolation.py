"""The subject of a campaign, in a process of its own wherever the work is done."""

import sys
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from purgatory_conformance.commands.options import opened
from purgatory_conformance.opening import Tell, quietly
from purgatory_conformance.subjects.child_process import ChildProcessSubject
from purgatory_conformance.subjects.open_subject import OpenSubject
from purgatory_conformance.subjects.subject import FailureKind, Subject, SubjectFailure
from purgatory_spec.messages import Implementation
from purgatory_spec.operations import Operation
from purgatory_spec.outcomes import Outcome
from purgatory_spec.profiles import Component, Configuration, Profile

_START_SECONDS = 60.0


@dataclass(frozen=True)
class SubjectChoice:
    """A subject as it was asked for: small, and the same on every machine.

    Attributes:
        word: Its name on the command line; empty where there is a command.
        command: The command line of an adapter.
        release: The release of Apache Kafka.
        work: The folder where adapters are built.
        folder: Where modules and declarations are looked for.
        seconds: How long one answer of a subject that is no adapter may take.
        mebibytes: How much memory such a subject may take.
    """

    word: str
    command: str = ""
    release: str = ""
    work: str = "purgatory-work"
    folder: str = ""
    seconds: float = 10.0
    mebibytes: int = 1024

    def opened(self, tell: Tell = quietly) -> OpenSubject:
        """Open the subject with the declaration of its author; the subject itself is not asked.

        Args:
            tell: Takes what a declaration has run, before it runs.

        Raises:
            UnknownSubject: nothing goes by this word.
        """
        return opened(self.word, self.command, Path(self.work), self.release, tell=tell)

    def isolated(self, *, served: bool) -> Subject:
        """Return the subject in a child process, which starts when it is first asked.

        Args:
            served: it is no adapter, and needs ``serving``.
        """
        if not served:
            return self.opened().subject
        words = (sys.executable, "-P", "-m", "purgatory_spark.campaigns.serving", self.word)
        options = ("--release", self.release, "--work", self.work, "--memory", str(self.mebibytes))
        return ChildProcessSubject(
            (*words, *options),
            name=self.word,
            time_limit_seconds=self.seconds,
            start_limit_seconds=_START_SECONDS,
            working_folder=Path(self.folder)
            if self.folder and Path(self.folder).is_dir()
            else None,
        )


def is_adapter(subject: OpenSubject) -> bool:
    """Decide whether the subject lives in a child process by itself."""
    return isinstance(subject.subject, ChildProcessSubject)


class Forbearing:
    """A subject that is asked no more once its failures have taken too long.

    Shrinking asks hundreds of times; a subject that hangs each time would keep it for hours.
    """

    def __init__(self, subject: Subject, seconds: float) -> None:
        """Ask this subject, until the cases in which it failed have taken so many seconds."""
        self._subject = subject
        self._left = seconds
        self._began = 0.0

    @property
    def implementation(self) -> Implementation:
        """Return the implementation that a report is about."""
        return self._subject.implementation

    @property
    def profiles(self) -> Mapping[Component, Profile]:
        """Return the profiles that the subject declares."""
        return self._subject.profiles

    def new(self, case: str, configuration: Configuration) -> None:
        """Make a fresh instance of the subject.

        Raises:
            UnsupportedConfigurationError: it offers no such instance.
            SubjectFailure: it failed, or is asked no more.
        """
        if self._left <= 0:
            raise SubjectFailure(FailureKind.ERRORED, "it failed too often and is asked no more")
        self._began = time.monotonic()
        with self._counted():
            self._subject.new(case, configuration)

    def do_all(self, operations: Iterable[Operation]) -> Iterator[Outcome]:
        """Carry out operations one after another.

        Raises:
            SubjectFailure: it failed.
        """
        with self._counted():
            yield from self._subject.do_all(operations)

    def end(self) -> None:
        """Drop the present instance of the subject.

        Raises:
            SubjectFailure: it failed.
        """
        with self._counted():
            self._subject.end()

    def close(self) -> None:
        """End the child process of the subject."""
        self._subject.close()

    @contextmanager
    def _counted(self) -> Iterator[None]:
        try:
            yield
        except SubjectFailure:
            self._left -= time.monotonic() - self._began
            raise
