"""The results as answers of tests: one for each rule, for reports that speak of passed and failed.

There are failures or errors exactly where the exit code of ``purgatory check`` is not zero.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum

from purgatory_conformance.describing.words import counted, printable, shortened
from purgatory_conformance.reporting.results import DeviationLine, Results, RuleLine
from purgatory_conformance.reporting.story import Story, all_rules, stories

_MOST_LETTERS = 1000


class Kind(Enum):
    """The end of a test, in the words of JUnit, in which a passed test has none."""

    PASSED = ""
    FAILURE = "failure"
    ERROR = "error"
    SKIPPED = "skipped"


@dataclass(frozen=True)
class Answer:
    """The end of a rule's test, or of a test of no single rule: then ``rule`` is empty.

    ``message`` is one line, empty for a passed test; ``text`` has the rest of what is known.
    ``deviates`` says that the rule is broken as declared, which is a passed test.
    """

    name: str
    rule: str = ""
    kind: Kind = Kind.PASSED
    message: str = ""
    text: str = ""
    deviates: bool = False

    @property
    def is_bad(self) -> bool:
        """Decide whether the exit code may not be zero because of this answer."""
        return self.kind in (Kind.FAILURE, Kind.ERROR)


def answers_of(results: Results) -> tuple[Answer, ...]:
    """Return an answer for each rule, each failure of the subject, and each other decision.

    A rule that is broken is a failure, and so is a declared deviation that was not seen. Too few
    visits are an error where the verdict rests on them, otherwise the rule is skipped.
    """
    found = (*_of_rules(results), *_of_failures(results))
    exit_code = results.footer.exit_code
    if not exit_code or any(answer.is_bad for answer in found):
        return found
    kind = Kind.FAILURE if exit_code == 1 else Kind.ERROR
    words = f"{results.footer.verdict}: {results.footer.why}"
    return (*found, Answer("the verdict", kind=kind, message=printable(words)))


def _of_rules(results: Results) -> Iterator[Answer]:
    told = stories(results)
    # A run that ended early has not seen every deviation; that is nothing against the subject.
    judged = results.footer.exit_code == 1
    unseen = {line.rule: line for line in results.deviations if judged and not line.cases}
    for rule in all_rules(results):
        about = [story for story in told if rule.id in (story.rule, *story.cause.also)]
        yield _of_rule(rule, about, unseen.get(rule.id), results)


def _of_rule(
    rule: RuleLine, about: Sequence[Story], unseen: DeviationLine | None, results: Results
) -> Answer:
    name = printable(f"{rule.id} ({rule.level}): {rule.title}")
    if rule.state in ("broken", "doubtful"):
        first = f"expected {about[0].expected}, seen {about[0].seen}" if about else ""
        return Answer(
            name,
            rule.id,
            Kind.FAILURE if results.footer.exit_code == 1 else Kind.ERROR,
            printable(first or "a failing case was blamed on it"),
            "\n\n".join(story_in_lines(story) for story in about),
        )
    if unseen is not None:
        words = f"declared to break it as {unseen.variant}, but did not: withdraw the declaration"
        return Answer(name, rule.id, Kind.FAILURE, printable(words))
    if rule.state == "too few":
        # Where nothing else was found, the verdict is inconclusive because of this.
        decides = results.footer.exit_code == 4 and rule.level == "MUST"
        words = f"{counted(rule.visits, 'visit')}, at least {rule.minimum} are needed"
        return Answer(name, rule.id, Kind.ERROR if decides else Kind.SKIPPED, words)
    deviating = [line for line in results.deviations if line.rule == rule.id]
    lines = [counted(rule.visits, "visit"), *map(_deviation_in_words, deviating)]
    return Answer(name, rule.id, text="\n".join(lines), deviates=bool(deviating))


def _of_failures(results: Results) -> Iterator[Answer]:
    for failure in results.failures:
        words = f"the subject {printable(failure.kind)}: {printable(failure.explanation)}"
        parts = (failure.asked, failure.received, *failure.standard_error.split("\n"))
        lines = [shortened(printable(part), _MOST_LETTERS) for part in parts if part]
        yield Answer("the subject answers", kind=Kind.ERROR, message=words, text="\n".join(lines))


def _deviation_in_words(line: DeviationLine) -> str:
    why = " ".join(printable(words) for words in (line.reason, line.issue) if words)
    return (
        f"deviates as declared ({printable(line.variant)}) in {counted(line.cases, 'case')}"
        f"{f': {why}' if why else ''}\nreplay file: {printable(line.replay)}"
    )


def story_in_lines(story: Story) -> str:
    """Return a cause as plain text: its steps, expected and seen, the command to replay."""
    lines = [f"{counted(story.cases, 'failing case')}; the simplest, from {story.source}:"]
    lines += [story.answers] if story.answers else []
    lines.append(f"a {story.configuration}")
    lines += [step.line for step in story.steps]
    lines += [f"expected: {story.expected}", f"seen: {story.seen}"]
    lines += [f"state before: {story.before}"] if story.before else []
    lines += [f"expected after: {story.after}"] if story.after else []
    lines += [story.also] if story.also else []
    for hint in story.hints:
        lines += [f"hint: {printable(hint.words)}", *map(printable, hint.paste.split("\n"))]
        lines += [f"see {hint.finding}"] if hint.finding else []
    lines += [story.command] if story.command else []
    return "\n".join(lines)
