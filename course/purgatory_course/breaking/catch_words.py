"""The catch of a planted defect in words: a table, and a sentence for each of the four."""

import textwrap
from collections.abc import Iterable, Iterator

from rich.console import Console
from rich.table import Table
from rich.text import Text

from purgatory_conformance.describing.steps import (
    describe_configuration,
    describe_operation,
    describe_outcome,
)
from purgatory_conformance.describing.words import counted, instance_noun, printable
from purgatory_conformance.running.case_run import CaseRun
from purgatory_conformance.specimens.mutant import Mutant
from purgatory_course.breaking.who_catches import Caught
from purgatory_spec.requirements import requirement
from purgatory_spec.seeded_defects import SeededDefect

NOBODY = "nobody"


def print_mutant(console: Console, mutant: Mutant) -> None:
    """Print the fault of a mutant, and the rule that the fault breaks."""
    rule = requirement(mutant.rule)
    console.print(
        f"{mutant.name}, a wrong {instance_noun(mutant.component)}", style="bold", markup=False
    )
    _say(console, mutant.summary, 0)
    _say(console, f"It breaks {rule.id} ({rule.level.value}): {rule.title}.", 0)
    console.print()


def print_shrunk(console: Console, caught: Caught) -> None:
    """Print the rule that is blamed, and the shortest failing case."""
    cause = caught.blamed
    if cause is None:
        console.print(_generated_by_nobody(caught), markup=False)
        return
    console.print(_rule_sentence(caught), markup=False)
    console.print()
    divergence = cause.shrunk.divergence
    assert divergence is not None
    made_with = describe_configuration(cause.shrunk.configuration)
    console.print(f"a {instance_noun(caught.mutant.component)} with {made_with}", markup=False)
    for number, step in enumerate(cause.shrunk.steps, start=1):
        assert step.outcome is not None
        asked = describe_operation(step.operation)
        answered = describe_outcome(step.operation, step.outcome)
        _say(console, f"  {number}  {asked}  ->  {answered}", 7)
    _say(console, f"     expected: {divergence.expected}", 7)
    _say(console, f"     seen: {divergence.seen}", 7)


def print_who_catches(console: Console, caught: Caught) -> None:
    """Print the table of the four, and a sentence about each."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("who", no_wrap=True)
    table.add_column("catches it")
    for who, answer in answers(caught).items():
        table.add_row(who, answer)
    console.print(table)
    console.print()
    for sentence in sentences(caught):
        _say(console, sentence, 2)


def _say(console: Console, words: str, margin: int) -> None:
    """Print a sentence, wrapped to the console's width; all lines but the first are indented."""
    lines = textwrap.wrap(
        printable(words),
        max(console.width, 40),
        subsequent_indent=" " * margin,
        break_on_hyphens=False,
    )
    for line in lines:
        console.print(Text(line), no_wrap=True, overflow="ignore", crop=False)


def answers(caught: Caught) -> dict[str, str]:
    """Return the answer of each of the four, in a few words."""
    first = caught.counterparts[0] if caught.counterparts else None
    failing, asked = caught.vectors.failing, caught.vectors.asked
    generated = caught.campaign.first_failure
    return {
        "rule": _blamed_rule(caught) or NOBODY,
        "TLA+": f"{first.fails} of {first.module}" if first is not None else NOBODY,
        "vectors": f"{failing[0].name}, {len(failing)} of {asked}"
        if failing
        else f"{NOBODY} of {asked}",
        "generation": f"case {generated.name}, step {len(generated.steps)}"
        if generated is not None
        else NOBODY,
    }


def sentences(caught: Caught) -> Iterator[str]:
    """Yield the sentence of each of the four, in the order of the table."""
    yield f"rule: {_rule_sentence(caught)}"
    yield from (f"TLA+: {sentence}" for sentence in _tla_sentences(caught.counterparts))
    yield f"vectors: {_vector_sentence(caught)}"
    yield f"generation: {_generation_sentence(caught)}"


def _rule_sentence(caught: Caught) -> str:
    cause = caught.blamed
    if cause is None and caught.vectors.failing:
        vector = caught.vectors.failing[0].name
        return f"no generated case failed; the vector {vector} blames {_blamed_rule(caught)}."
    if cause is None:
        return f"{NOBODY}: no rule is blamed, since nothing failed."
    others = [each.rule for each in caught.campaign.causes[1:]]
    also = f"; further cases blame {', '.join(others)}" if others else ""
    meant = caught.mutant.rule, *caught.mutant.also
    own = "" if cause.rule in meant else f", though what it breaks is {caught.mutant.rule}"
    count = counted(len(cause.shrunk.steps), "step")
    return f"shrunk to {count}, the failure is blamed on {cause.rule}{own}{also}."


def _blamed_rule(caught: Caught) -> str:
    """Return the rule of the shrunk case, else of the first failing vector; empty without one."""
    if caught.blamed is not None:
        return caught.blamed.rule
    divergences = (run.divergence for run in caught.vectors.failing)
    return next((each.rule for each in divergences if each is not None), "")


def _tla_sentences(counterparts: Iterable[SeededDefect]) -> Iterator[str]:
    nothing = True
    for each in counterparts:
        nothing = False
        how = f"with {' and '.join(each.planted)} planted" if each.planted else "by its design"
        yield f"{each.module} {how} breaks {each.fails}; see: purgatory tla explain {each.name}"
    if nothing:
        yield f"{NOBODY}: this defect is not planted in any module."


def _vector_sentence(caught: Caught) -> str:
    failing, asked = caught.vectors.failing, caught.vectors.asked
    if not failing:
        return f"{NOBODY}: all {asked} that it can be asked pass."
    return f"{len(failing)} of {asked} fail; the first is {failing[0].name}, {_where(failing[0])}."


def _generation_sentence(caught: Caught) -> str:
    first = caught.campaign.first_failure
    if first is None:
        return _generated_by_nobody(caught)
    campaign = caught.campaign
    failed = f"{_failed(caught)} of {counted(campaign.cases, 'case')} failed"
    found = f"seed {campaign.seed}, case {first.name}, {_where(first)}"
    return f"{found}; {failed}. {_shrunk(caught)}"


def _generated_by_nobody(caught: Caught) -> str:
    campaign = caught.campaign
    done = f"{counted(campaign.cases, 'case')} with {counted(campaign.steps, 'step')}"
    return f"{NOBODY}: {done} of seed {campaign.seed} found nothing."


def _failed(caught: Caught) -> int:
    return sum(
        count
        for verdict, count in caught.campaign.verdicts.items()
        if verdict.value in ("fail", "subject failed")
    )


def _where(run: CaseRun) -> str:
    """Return the number of the diverging step, and the operation asked."""
    if run.divergence is None:
        return "which the subject did not answer"
    asked = describe_operation(run.divergence.operation)
    return f"step {len(run.steps)} ({asked})"


def _shrunk(caught: Caught) -> str:
    cause = caught.blamed
    if cause is None:
        return "Nothing was shrunk."
    describe = describe_operation
    steps = "; ".join(describe(step.operation) for step in cause.shrunk.steps)
    return f"Shrunk: {steps}."
