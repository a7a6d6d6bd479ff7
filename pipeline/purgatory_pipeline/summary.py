"""What a check found, summed up while its rows go by: counts, causes, coverage, what was set aside.

Memory is bounded by the number of causes, of rules and of different reasons, not by that of runs.
"""

import re
from collections import Counter
from dataclasses import dataclass, field

from purgatory_conformance.command_line import EXIT_INCONCLUSIVE
from purgatory_pipeline.rows import CoverageRow, QuarantineRow, Row, Verdict, VerdictRow
from purgatory_pipeline.summary_rules import never_tested
from purgatory_spec.profiles import Component
from purgatory_spec.requirements import Requirement, requirements

EXIT_DIVERGES = 1

MOST_REASONS = 200
"""How many different reasons are told apart; any other is counted under one word."""

_OTHER = "other reasons"
_PARTICULAR = re.compile(r"'[^']*'|\"[^\"]*\"|`[^`]*`|[0-9]+")


def general(reason: str) -> str:
    """A reason without the numbers and names in it, so that equal problems are counted together."""
    return _PARTICULAR.sub("…", reason)


@dataclass(frozen=True)
class Cause:
    """Runs that fail in the same way.

    Attributes:
        rule: The rule that they break.
        kind: The sort of mismatch.
        examples: The first of them, by name.
    """

    rule: str
    kind: str
    examples: list[VerdictRow] = field(default_factory=list)


@dataclass(frozen=True)
class Unfinished:
    """Runs that could not be judged to their end for the same reason.

    Attributes:
        verdict: ``incomplete`` or ``inconclusive``.
        reason: Why, without what is particular.
        example: The first of them, by name.
    """

    verdict: str
    reason: str
    example: VerdictRow


@dataclass(frozen=True)
class SetAside:
    """Lines that could not be used for the same reason.

    Attributes:
        reason: Why, without what is particular.
        example: The first of them, by file and line.
    """

    reason: str
    example: QuarantineRow


@dataclass
class Summary:
    """Takes rows in the order of the tables, and knows at the end what is to be said.

    Attributes:
        most_examples: How many runs of a cause are kept as examples.
        verdicts: How many runs have each verdict.
        events: How many lines the runs have.
        judged: How many of them were judged.
        components: How many runs there are of each component.
        subjects: How many runs there are of each subject.
        deviated: In how many runs a declared deviation was seen, by its rule.
        visits: How often each rule was put to the test.
        quarantined: How many lines were set aside.
    """

    most_examples: int = 1
    verdicts: dict[str, int] = field(default_factory=lambda: {each.value: 0 for each in Verdict})
    events: int = 0
    judged: int = 0
    components: Counter[str] = field(default_factory=Counter)
    subjects: Counter[str] = field(default_factory=Counter)
    deviated: Counter[str] = field(default_factory=Counter)
    visits: Counter[str] = field(default_factory=Counter)
    quarantined: int = 0
    _causes: dict[tuple[str, str], Cause] = field(default_factory=dict)
    _runs: Counter[tuple[str, str]] = field(default_factory=Counter)
    _unfinished: dict[tuple[str, str], Unfinished] = field(default_factory=dict)
    _unfinished_runs: Counter[tuple[str, str]] = field(default_factory=Counter)
    _aside: dict[str, SetAside] = field(default_factory=dict)
    _aside_lines: Counter[str] = field(default_factory=Counter)

    def take(self, row: Row) -> None:
        """Take in a row."""
        if isinstance(row, CoverageRow):
            self.visits[row.rule] += row.visits
        elif isinstance(row, VerdictRow):
            self._take_verdict(row)
        else:
            self._take_aside(row)

    def _take_verdict(self, row: VerdictRow) -> None:
        self.verdicts[row.verdict] += 1
        self.events += row.events
        self.judged += row.judged
        self.components[row.component] += 1
        if row.subject in self.subjects or len(self.subjects) < MOST_REASONS:
            self.subjects[row.subject] += 1
        self.deviated.update(row.deviated)
        if row.verdict == Verdict.DIVERGES.value:
            key = row.rule, row.kind
            cause = self._causes.setdefault(key, Cause(*key))
            self._runs[key] += 1
            if len(cause.examples) < self.most_examples:
                cause.examples.append(row)
        elif row.verdict != Verdict.CONFORMS.value:
            key = row.verdict, general(row.reason)
            if len(self._unfinished) >= MOST_REASONS and key not in self._unfinished:
                key = row.verdict, _OTHER
            self._unfinished.setdefault(key, Unfinished(*key, row))
            self._unfinished_runs[key] += 1

    def _take_aside(self, row: QuarantineRow) -> None:
        self.quarantined += 1
        reason = general(row.reason)
        if len(self._aside) >= MOST_REASONS and reason not in self._aside:
            reason = _OTHER
        self._aside.setdefault(reason, SetAside(reason, row))
        self._aside_lines[reason] += 1

    @property
    def runs(self) -> int:
        """How many runs there are."""
        return sum(self.verdicts.values())

    @property
    def causes(self) -> list[tuple[Cause, int]]:
        """The causes with how many runs each has, the commonest first."""
        found = ((cause, self._runs[key]) for key, cause in self._causes.items())
        return sorted(found, key=lambda each: (-each[1], each[0].rule, each[0].kind))

    @property
    def unfinished(self) -> list[tuple[Unfinished, int]]:
        """Why runs are incomplete or inconclusive, with how many, the commonest first."""
        found = ((each, self._unfinished_runs[key]) for key, each in self._unfinished.items())
        return sorted(found, key=lambda each: (-each[1], each[0].verdict, each[0].reason))

    @property
    def aside(self) -> list[tuple[SetAside, int]]:
        """Why lines were set aside, with how many, the commonest first."""
        found = ((each, self._aside_lines[reason]) for reason, each in self._aside.items())
        return sorted(found, key=lambda each: (-each[1], each[0].reason))

    def rules_of(self, component: Component) -> tuple[list[Requirement], list[Requirement]]:
        """The component's rules that were put to the test, and those that never were.

        Of the latter those are left out that runs like these cannot put to the test, as far as the
        rows show (``summary_rules``); ``others_of`` counts them.
        """
        rules = requirements(component)
        visited = {rule.id for rule in rules if self.visits[rule.id]}
        tested = [rule for rule in rules if rule.id in visited]
        return tested, never_tested(component, rules, visited)

    def others_of(self, component: Component) -> int:
        """How many of the component's rules runs like these cannot put to the test."""
        tested, never = self.rules_of(component)
        return len(requirements(component)) - len(tested) - len(never)

    @property
    def seen_components(self) -> list[Component]:
        """The components that runs are about."""
        return [each for each in Component if self.components[each.value]]

    @property
    def exit_code(self) -> int:
        """1 where a run diverges, else 4 where not all is known, else 0."""
        if self.verdicts[Verdict.DIVERGES.value]:
            return EXIT_DIVERGES
        all_conform = self.verdicts[Verdict.CONFORMS.value] == self.runs > 0
        return 0 if all_conform and not self.quarantined else EXIT_INCONCLUSIVE

    @property
    def headline(self) -> str:
        """The verdict on all of it, in a few words."""
        if self.verdicts[Verdict.DIVERGES.value]:
            return "not conformant"
        if not self.runs:
            return "nothing was judged"
        if self.exit_code:
            return "inconclusive"
        return "conformant"
