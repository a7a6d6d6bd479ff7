"""The commands that ask an implementation what TLC has found: ``purgatory tla simulate|replay``.

A behaviour of TLC becomes a case (see ``cases``), the case is asked of a subject of the conformance
suite, and what the subject answers is compared with what the TLA+ states predict. Like ``commands``
this module imports the command line's package; what it brings beside it does without.
"""

import difflib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click
from rich.console import Console

from purgatory_conformance.commands.options import COMMAND, RELEASE, WORK, opened
from purgatory_conformance.describing.steps import (
    describe_configuration,
    describe_operation,
    describe_outcome,
)
from purgatory_conformance.problems import (
    EXIT_INCONCLUSIVE,
    EXIT_MISSING_TOOL,
    EXIT_SUBJECT_FAILED,
    EXIT_USAGE,
    Problem,
)
from purgatory_conformance.reporting.terminal_page import standard_output
from purgatory_conformance.subjects.open_subject import OpenSubject
from purgatory_conformance.subjects.subject import (
    SubjectFailure,
    UnsupportedConfigurationError,
    profile_of,
)
from purgatory_judge.registry import judged
from purgatory_spec.cases import encode_case
from purgatory_spec.profiles import Profile, component_of
from purgatory_tla.cases.comparison import Followed, follow, misfit
from purgatory_tla.cases.instances import INSTANCES, Instance
from purgatory_tla.cases.predictions import Driven, Prediction
from purgatory_tla.cases.sources import Found, counterexample, instance_of, simulated
from purgatory_tla.commands.recorded_models import recorded_model, recorded_models
from purgatory_tla.commands.replay_tally import FollowedBehaviour, Tally, steps_of
from purgatory_tla.errors import CheckerError, InvalidSpecification, MissingTool, VacuousRun
from purgatory_tla.manifest.manifest import Model
from purgatory_tla.manifest.models import Settings
from purgatory_tla.resources import modules_folder

_JAR = click.option(
    "--jar", type=click.Path(exists=True, dir_okay=False, path_type=Path), help="TLC's jar."
)
_TIMEOUT = click.option("--timeout", type=click.FloatRange(min=1), help="Seconds for TLC.")
_SUBJECT = click.option(
    "--subject", default="", help="Whom to ask; default: the bundled one of the module."
)
_STORE = click.option(
    "--store",
    type=click.Path(file_okay=False, path_type=Path),
    help="Write each case to this folder.",
)


@click.command()
@click.argument("names", metavar="[NAME]...", nargs=-1)
@click.option("--traces", type=click.IntRange(1), default=20, show_default=True, help="Behaviours.")
@click.option(
    "--depth", type=click.IntRange(1), default=60, show_default=True, help="Steps of one."
)
@click.option("--seed", type=click.IntRange(0), default=1, show_default=True)
@_SUBJECT
@_STORE
@COMMAND
@RELEASE
@WORK
@_TIMEOUT
@_JAR
@click.pass_context
def simulate(
    context: click.Context,
    names: tuple[str, ...],
    traces: int,
    depth: int,
    seed: int,
    subject: str,
    store: Path | None,
    command: str,
    release: str,
    work: Path,
    timeout: float | None,
    jar: Path | None,
) -> None:
    """Ask a subject random behaviours that TLC makes of NAMEs: instances, or models.

    Without a NAME it is all instances. Exits with 0 where the subject does what TLA+ predicts,
    declared deviations apart, 1 where it does not, 4 where no step could be driven.
    """
    console = standard_output()
    settings = Settings(modules_folder(), timeout=timeout, jar=jar)
    codes: set[int] = set()
    for instance in [_instance(name) for name in names] or INSTANCES:
        with _checker_problems(instance.name):
            found = list(simulated(instance, settings, traces=traces, depth=depth, seed=seed))
        _write(store, found)
        tally = Tally(len(found))
        asked = _opened(subject, instance.module, command, work, release)
        try:
            for each in found:
                tally.add(each, _asked(asked, each.driven))
        finally:
            asked.subject.close()
        tally.print_to(console, instance, asked.name)
        if tally.differs is not None:
            _tell(console, *tally.differs)
        codes.add(1 if tally.differs else 0 if tally.followed else EXIT_INCONCLUSIVE)
    context.exit(1 if 1 in codes else max(codes))


@contextmanager
def _checker_problems(name: str) -> Iterator[None]:
    """Turn problems of TLC into a sentence and an exit code."""
    try:
        yield
    except InvalidSpecification as error:
        raise Problem(str(error), EXIT_USAGE) from error
    except MissingTool as error:
        raise Problem(str(error), EXIT_MISSING_TOOL) from error
    except CheckerError as error:
        raise Problem(f"{name}: {error}", EXIT_INCONCLUSIVE) from error


@click.command()
@click.argument("name", metavar="MODEL")
@_SUBJECT
@_STORE
@COMMAND
@RELEASE
@WORK
@_TIMEOUT
@_JAR
@click.pass_context
def replay(
    context: click.Context,
    name: str,
    subject: str,
    store: Path | None,
    command: str,
    release: str,
    work: Path,
    timeout: float | None,
    jar: Path | None,
) -> None:
    """Ask a subject the counterexample, or the witness, of MODEL, and tell it step by step.

    Exits with 0 where the subject behaves as TLA+ predicts, 1 where it differs, 4 where the
    behaviour cannot be driven to its end.
    """
    console = standard_output()
    model = recorded_model(name)
    with _checker_problems(name):
        found = _drivable(console, model, Settings(modules_folder(), timeout=timeout, jar=jar))
    _write(store, [found])
    asked = _opened(subject, model.module or "", command, work, release)
    try:
        answer = _asked(asked, found.driven)
    finally:
        asked.subject.close()
    _tell(console, found, answer)
    if answer.followed.difference is not None:
        context.exit(1)
    stopped = found.driven.stopped is not None or answer.stopped or answer.followed.left
    context.exit(EXIT_INCONCLUSIVE if stopped else 0)


def _drivable(console: Console, model: Model, settings: Settings) -> Found:
    """Return the counterexample, or one with a call at a time where it interleaves too much."""
    found = counterexample(model, settings)
    stopped = found.driven.stopped
    if stopped is None or not (model.module or "").startswith("Purgatory"):
        return found
    console.print(
        f"Not drivable at step {stopped.step}: {stopped.reason}.", markup=False, soft_wrap=True
    )
    try:
        other = counterexample(model, settings, sequential=True)
    except VacuousRun:
        console.print("With one call at a time there is no counterexample.\n")
        return found
    console.print("With one call at a time there is a counterexample as well.\n")
    return other


def _asked(asked: OpenSubject, driven: Driven) -> FollowedBehaviour:
    """Ask a subject as much of a behaviour as it offers.

    Raises:
        Problem: the subject does not answer as the protocol asks.
    """
    component = component_of(driven.configuration)
    try:
        declared = profile_of(asked.subject, component)
        offered = driven.for_subject(declared)
        stopped = (
            f"step {offered.stopped.step}: {offered.stopped.reason}" if offered.stopped else ""
        )
        unfit = misfit(offered, declared)
        if unfit:
            return FollowedBehaviour(Followed(), offered, unfit)
        asked.subject.new("behaviour", driven.configuration)
        operations = [prediction.operation for prediction in offered.predictions]
        outcomes = asked.subject.do_all(operations)
        followed = follow(offered, declared, outcomes)
        for _ in outcomes:
            pass
        asked.subject.end()
    except UnsupportedConfigurationError as error:
        return FollowedBehaviour(Followed(), driven, f"the subject makes no such instance: {error}")
    except SubjectFailure as failure:
        raise Problem(str(failure), EXIT_SUBJECT_FAILED) from failure
    rule, known = _broken(asked, offered, declared, followed)
    return FollowedBehaviour(followed, offered, stopped, rule, known)


def _broken(
    asked: OpenSubject, driven: Driven, declared: Profile, followed: Followed
) -> tuple[str, bool]:
    """Return the rule that the outcomes break, empty for none, and whether it is declared."""
    component = judged(component_of(driven.configuration))
    deviations = tuple(each for each in asked.deviations if each.variant in component.variants)
    judge = component.judge(driven.configuration, declared, deviations)
    for prediction, outcome in zip(driven.predictions, followed.outcomes, strict=False):
        divergence = judge.step(prediction.operation, outcome).divergence
        if divergence is not None:
            return divergence.rule, False
    return (judge.deviated.rule, True) if judge.deviated is not None else ("", False)


def _tell(console: Console, found: Found, answer: FollowedBehaviour) -> None:
    """Print the case step by step, up to its end or difference."""
    driven = answer.driven
    console.print(f"{found.name}: {found.title}", markup=False, soft_wrap=True)
    console.print(found.origin, markup=False, soft_wrap=True, style="dim")
    console.print(
        f"made with {describe_configuration(driven.configuration)}",
        markup=False,
        soft_wrap=True,
    )
    pairs = list(zip(driven.predictions, answer.followed.outcomes, strict=False))
    for number, (prediction, outcome) in enumerate(pairs, start=1):
        asked = describe_operation(prediction.operation)
        answered = describe_outcome(prediction.operation, outcome)
        console.print(f"{number:3}  {asked}  ->  {answered}", markup=False, soft_wrap=True)
        console.print(f"     {_steps(prediction)}", markup=False, soft_wrap=True, style="dim")
    difference = answer.followed.difference
    if difference is not None:
        console.print(
            f"     differs from TLA+: {difference.about.replace('_', ' ')}",
            markup=False,
            soft_wrap=True,
        )
        console.print(f"     predicted: {difference.predicted}", markup=False, soft_wrap=True)
        console.print(f"     seen: {difference.seen}", markup=False, soft_wrap=True)
        console.print(f"     {_judged(answer)}", markup=False, soft_wrap=True)
    elif answer.followed.left:
        console.print(f"     takes another outcome that the rules allow: {answer.followed.left}")
    elif answer.stopped:
        console.print(f"Not driven further; {answer.stopped}", markup=False, soft_wrap=True)
    followed = answer.followed.steps(driven)
    console.print(f"{steps_of(driven.length)} of TLA+, {followed} as predicted")
    if difference is None and answer.rule:
        console.print(_judged(answer), markup=False, soft_wrap=True)


def _judged(answer: FollowedBehaviour) -> str:
    if not answer.rule:
        return "The rules allow what was seen."
    known = ", as its declaration says" if answer.declared else ""
    return f"What was seen diverges from {answer.rule}{known}."


def _steps(prediction: Prediction) -> str:
    numbers = prediction.steps
    if not numbers:
        return "TLA+: what an event makes true"
    if len(numbers) == 1:
        return f"TLA+ step {numbers[0]}"
    if numbers == tuple(range(numbers[0], numbers[-1] + 1)):
        return f"TLA+ steps {numbers[0]} to {numbers[-1]}"
    return f"TLA+ steps {' '.join(map(str, numbers))}"


def _write(folder: Path | None, found: list[Found]) -> None:
    if folder is None:
        return
    folder.mkdir(parents=True, exist_ok=True)
    for each in found:
        case = each.driven.case(each.name, each.title, each.origin)
        (folder / f"{each.name}.jsonl").write_text(
            encode_case(case), encoding="utf-8", newline="\n"
        )


def _opened(subject: str, module: str, command: str, work: Path, release: str) -> OpenSubject:
    usual = "bundled-proposal" if module == "PurgatoryProposal" else "bundled"
    return opened(subject or ("" if command else usual), command, work, release)


def _instance(name: str) -> Instance:
    known = {each.name: each for each in INSTANCES}
    if name in known:
        return known[name]
    models = {model.name: model for model in recorded_models()}
    if name not in models:
        near = difflib.get_close_matches(name, [*known, *models], n=3, cutoff=0.5)
        hint = f"did you mean {' or '.join(near)}?" if near else f"there are: {', '.join(known)}"
        raise Problem(f"there is no instance or model {name!r}; {hint}", EXIT_USAGE)
    try:
        return instance_of(models[name], modules_folder())
    except InvalidSpecification as error:
        raise Problem(str(error), EXIT_USAGE) from error
