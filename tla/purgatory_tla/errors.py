"""Errors of runs that cannot be made or believed: never a pass, in the tool's own words."""


class CheckerError(Exception):
    """A run without a verdict; ``raw_log`` is all that the tool printed."""

    def __init__(self, message: str, *, raw_log: str = "") -> None:
        super().__init__(message)
        self.raw_log = raw_log


class MissingTool(CheckerError):
    """A checker, or the Java it needs, is not installed; the message says what to install."""


class UntrustedJar(MissingTool):
    """The TLC found is not the published file: the checksum differs."""


class MissingJava(MissingTool):
    """There is no usable Java."""


class InvalidSpecification(CheckerError):
    """The module or its configuration is wrong; ``module``, ``line``, ``column`` where known."""

    def __init__(
        self,
        message: str,
        *,
        module: str | None = None,
        line: int | None = None,
        column: int | None = None,
        raw_log: str = "",
    ) -> None:
        super().__init__(message, raw_log=raw_log)
        self.module = module
        self.line = line
        self.column = column


class ParseFailure(InvalidSpecification):
    """The text is not TLA+."""


class UnknownOperator(InvalidSpecification):
    """A name is used, in the module or the configuration, that nothing defines."""


class EvaluationFailure(InvalidSpecification):
    """The checker could not evaluate an expression while it explored."""


class IllTyped(InvalidSpecification):
    """A value, or an expression, is not of the type that the module's annotations declare."""


class OutOfMemory(CheckerError):
    """The checker ran out of memory."""


class TimedOut(CheckerError):
    """The run took longer than it was given, and was ended."""


class VacuousRun(CheckerError):
    """The run has shown nothing: no state was reached, or nothing was to be checked."""


class UnexpectedOutput(CheckerError):
    """The tool's output has a form that this package does not know."""
