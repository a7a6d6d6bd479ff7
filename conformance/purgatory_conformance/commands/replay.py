"""The command that runs stored cases again: one step by step, or all those of a folder."""

from collections import Counter
from collections.abc import Callable
from functools import cache
from pathlib import Path

import click
from rich.console import Console

from purgatory_conformance.commands.options import (
    COMMAND,
    RELEASE,
    WORK,
    opened,
    tell_on_standard_error,
)
from purgatory_conformance.completion import complete_subject
from purgatory_conformance.describing.states import describe_state
from purgatory_conformance.describing.steps import (
    describe_configuration,
    describe_operation,
    describe_outcome,
)
from purgatory_conformance.describing.words import counted, legend_of, noun, printable
from purgatory_conformance.opening import open_named_in
from purgatory_conformance.problems import (
    EXIT_INCONCLUSIVE,
    EXIT_MISSING_TOOL,
    EXIT_SUBJECT_FAILED,
    EXIT_USAGE,
    exit_code_of,
)
from purgatory_conformance.reporting.terminal_page import (
    TerminalPage,
    print_columns,
    standard_output,
)
from purgatory_conformance.running.case_run import CaseRun, CaseVerdict, run_case
from purgatory_conformance.running.replay_file import compared_as_stored
from purgatory_conformance.running.unanswered import is_unanswered, told
from purgatory_conformance.subjects.open_subject import OpenSubject
from purgatory_conformance.subjects.subject import profile_of
from purgatory_judge.judgement import TooManyStates
from purgatory_judge.registry import judged
from purgatory_spec.cases import Case, Step, read_case
from purgatory_spec.jsonlines import InvalidDocument
from purgatory_spec.profiles import Profile
from purgatory_spec.requirements import requirement

_WORST_FIRST = (1, EXIT_SUBJECT_FAILED, EXIT_INCONCLUSIVE, EXIT_MISSING_TOOL, EXIT_USAGE, 0)
"""The exit codes, the worst first: a known fault weighs more than an open question."""


@click.command()
@click.argument("file", metavar="FILE", type=click.Path(path_type=Path))
@click.option(
    "--subject",
    default="",
    shell_complete=complete_subject,
    help="Ask this subject instead of the one in the file.",
)
@click.option("--recorded", is_flag=True, help="Ask nobody: judge the outcomes in the file.")
@COMMAND
@RELEASE
@WORK
@click.pass_context
def replay(
    context: click.Context,
    file: Path,
    subject: str,
    recorded: bool,
    command: str,
    release: str,
    work: Path,
) -> None:
    """Run the case in FILE once more, step by step, and judge every step.

    FILE may name a subject that comes with the suite and runs in this process. Any other is asked
    where you name it, with --subject or --command: no file starts or imports anything.

    FILE may be a folder of kept cases: each of its .jsonl files is run, a table says what each
    breaks, and the exit code is that of the worst. 0 says that all are as the rules say.
    """
    console = standard_output()
    if file.is_dir():
        tell_once = cache(tell_on_standard_error)

        def ask(case: Case, source: Path) -> OpenSubject:
            if subject or command:
                return opened(subject, command, work, release, case.header.profile, tell_once)
            return open_named_in(source, case.header.subject, file)

        whom = "as recorded" if recorded else subject or command
        context.exit(_replay_folder(console, file, whom, None if recorded else ask))
    case = read_case(file)
    silent: CaseRun | None = None
    if recorded:
        steps = list(case.steps)
        profile = case.header.profile
        if any(step.outcome is None for step in steps):
            raise click.UsageError(f"{file} has steps without a recorded outcome")
    else:
        if subject or command:
            asked = opened(subject, command, work, release, case.header.profile).subject
        else:
            asked = open_named_in(file, case.header.subject, file).subject
        asked = compared_as_stored(case, asked)
        try:
            run = run_case(asked, case.header.case, case.header.configuration, case.operations)
            if is_unanswered(run):
                run = told(run, profile_of(asked, case.component))
                silent = run
            elif run.failure is not None:
                console.print(printable(str(run.failure)), markup=False)
                context.exit(EXIT_SUBJECT_FAILED)
            if run.verdict is CaseVerdict.UNSUPPORTED:
                refused = printable(run.refused)
                console.print(f"not judged: the subject refuses it: {refused}", markup=False)
                context.exit(EXIT_INCONCLUSIVE)
            steps, profile = run.steps, profile_of(asked, case.component)
        finally:
            asked.close()
    page = TerminalPage(console)
    title = f": {case.header.title}" if case.header.title else ""
    page.say(printable(f"{case.header.case}{title}"), hang=2)
    made_with = describe_configuration(case.header.configuration)
    page.say(f"{noun(case.component)}: {made_with}", hang=2)
    context.exit(0 if _print_steps(page, case, steps, profile, silent) else 1)


def _replay_folder(
    console: Console, folder: Path, whom: str, ask: Callable[[Case, Path], OpenSubject] | None
) -> int:
    """Run each case of a folder, and print a table; the exit code is that of the worst.

    Where ``ask`` is None nobody is asked, and the recorded outcomes are judged.
    """
    files = sorted(folder.rglob("*.jsonl"))
    if not files:
        raise click.UsageError(f"{folder} has no .jsonl file: there is nothing to replay")
    rows: list[tuple[str, ...]] = []
    codes: Counter[int] = Counter()
    for file in files:
        subject = whom
        try:
            case = read_case(file)
            subject = whom or case.header.subject
            code, words = _recorded(case) if ask is None else _again(case, ask(case, file))
        except TooManyStates:
            code, words = EXIT_INCONCLUSIVE, CaseVerdict.INCONCLUSIVE.value
        except Exception as error:
            known = exit_code_of(error)
            if known is None:
                raise
            code, words = known, str(error)
        codes[code] += 1
        symbol = {0: "✓", 1: "✗"}.get(code, "!")
        cells = (symbol, str(file.relative_to(folder)), subject, words)
        rows.append(tuple(map(printable, cells)))
    print_columns(console, ("", "file", "subject", "result"), rows)
    told = [f"{codes[0]} as the rules say", f"{codes[1]} not"]
    told += [f"{codes.total() - codes[0] - codes[1]} without a result"]
    console.print(f"{counted(len(files), 'file')}: {', '.join(told)}")
    return next(code for code in _WORST_FIRST if codes[code])


def _again(case: Case, asked: OpenSubject) -> tuple[int, str]:
    """Ask a subject the operations of a case: the exit code, and the result in words."""
    subject = compared_as_stored(case, asked.subject)
    try:
        run = run_case(subject, case.header.case, case.header.configuration, case.operations)
        if is_unanswered(run):
            run = told(run, profile_of(subject, case.component))
    finally:
        subject.close()
    if run.failure is not None and run.divergence is None:
        return EXIT_SUBJECT_FAILED, str(run.failure)
    if run.divergence is not None:
        return 1, f"breaks {run.divergence.rule} in step {len(run.steps)}"
    if run.verdict is not CaseVerdict.PASS:
        return EXIT_INCONCLUSIVE, run.refused or run.verdict.value
    return 0, f"{counted(len(run.steps), 'step')}, all as the rules say"


def _recorded(case: Case) -> tuple[int, str]:
    """Judge the outcomes that a case has recorded."""
    judge = judged(case.component).judge(case.header.configuration, case.header.profile, ())
    for number, step in enumerate(case.steps, start=1):
        if step.outcome is None:
            raise InvalidDocument(case.header.case, number + 1, "the step has no outcome")
        divergence = judge.step(step.operation, step.outcome).divergence
        if divergence is not None:
            return 1, f"breaks {divergence.rule} in step {number}"
    return 0, f"{counted(len(case.steps), 'step')}, all as the rules say"


def _print_steps(
    page: TerminalPage, case: Case, steps: list[Step], profile: Profile, silent: CaseRun | None
) -> bool:
    """Print and judge steps until one diverges; whether all were right.

    The last step of a ``silent`` run has no answer.
    """
    judge = judged(case.component).judge(case.header.configuration, profile, ())
    shown: list[str] = []
    for number, step in enumerate(steps, start=1):
        asked = f"{number:3}  {describe_operation(step.operation)}"
        if step.outcome is None:
            assert silent is not None
            answered, divergence = "no answer", silent.divergence
        else:
            answered = describe_outcome(step.operation, step.outcome)
            divergence = judge.step(step.operation, step.outcome).divergence
        page.say(f"{asked}  ->  {answered}", hang=7)
        if divergence is not None:
            rule = requirement(divergence.rule)
            page.say(
                f"diverges from {rule.id} ({rule.level.value}): {rule.title}", indent=5, hang=7
            )
            for label, text in (
                ("expected", divergence.expected),
                ("seen", divergence.seen),
                ("before", describe_state(divergence.before)),
                ("expected after", describe_state(divergence.after)),
            ):
                page.say(f"{label}: {printable(text)}", indent=5, hang=7)
                shown.append(text)
            _print_legend(page, shown)
            if step.outcome is None and silent is not None and silent.failure is not None:
                for line in silent.failure.standard_error.splitlines():
                    page.say(printable(line), indent=5, hang=7)
            return False
        state = describe_state(judge.state)
        if state:
            page.say((printable(state), "dim"), indent=5, hang=7)
            shown.append(state)
    _print_legend(page, shown)
    page.say(f"{len(steps)} steps, all as the rules say")
    return True


def _print_legend(page: TerminalPage, states: list[str]) -> None:
    legend = legend_of(*states)
    if legend:
        page.say((legend, "dim"), indent=5)
