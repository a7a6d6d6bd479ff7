"""Foreseen problems: the sentence that is printed, and the exit code of the command."""

from typing import ClassVar

EXIT_USAGE = 2
EXIT_SUBJECT_FAILED = 3
EXIT_INCONCLUSIVE = 4
EXIT_MISSING_TOOL = 5
EXIT_CONTRADICTED = 6
EXIT_INTERRUPTED = 130
EXIT_CLOSED_PIPE = 141
"""128 and the number of SIGPIPE: a shell's exit code for a program whose reader has gone."""


class Problem(Exception):
    """A foreseen problem of any package's command: the sentence to print, and its exit code."""

    def __init__(self, sentence: str, exit_code: int) -> None:
        """Keep the sentence and the exit code."""
        super().__init__(sentence)
        self.exit_code = exit_code


class Foreseen(Exception):
    """A foreseen problem of a subject or a file; its class has the exit code."""

    exit_code: ClassVar[int]


def exit_code_of(error: BaseException) -> int | None:
    """Return the exit code of a foreseen problem of a subject or a file; None for other errors."""
    from purgatory_spec.jsonlines import InvalidDocument  # not for a version or a mistake

    if isinstance(error, InvalidDocument):
        return EXIT_USAGE
    return error.exit_code if isinstance(error, Foreseen) else None
