"""The summary of a check: counts, causes, coverage, and rows set aside, as rows go by.

Memory is bounded by the number of causes, of rules and of different reasons, not by that of runs.
"""

import re
from collections import Counter
from collections.abc import Sequence, Set
from dataclasses import dataclass, field

from purgatory_conformance.problems import EXIT_INCONCLUSIVE
from purgatory_spec.profiles import Component
from purgatory_spec.requirements import Requirement, requirements
from purgatory_traces.replay.overlapping.rules import RULES_ON_A_WALL_CLOCK
from purgatory_traces.results.rows import CoverageRow, QuarantineRow, Row, RunVerdict, VerdictRow
from purgatory_traces.summary.reasons import Alike, Correction, Reasons

EXIT_DIVERGES = 1

_MOST_SUBJECTS = 200


_EXPIRIES = (
    ("TIMER-NOT-EARLY", "TIMER-NOT-LATE"),
    ("PURGATORY-CALLBACK-ORDER", "PURGATORY-TIME-OUT"),
)
"""Rules that an expiry puts to the test when it comes, and those that a missing one breaks."""


@dataclass(frozen=True)
class Cause:
    """Runs that fail in the same way.

    Attributes:
        rule: The rule that the runs break.
        kind: The sort of mismatch.
        examples: The first of them, by name.
    """

    rule: str
    kind: str
    examples: list[VerdictRow] = field(default_factory=list)


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
        visits: How often each rule was put to the test, and held.
        broken: In how many runs each rule is broken.
        pending_expiries: How many expiries were awaited, and not overdue, when runs ended.
        open_calls: How many calls had not returned when runs ended.
        uncompared: In how many runs each observable was declared, and not compared.
        lines_aside: How many lines were set aside.
        files_aside: How many files could not be used as a whole; an empty one is among them.
    """

    most_examples: int = 1
    verdicts: dict[str, int] = field(default_factory=lambda: {each.value: 0 for each in RunVerdict})
    events: int = 0
    judged: int = 0
    components: Counter[str] = field(default_factory=Counter)
    subjects: Counter[str] = field(default_factory=Counter)
    deviated: Counter[str] = field(default_factory=Counter)
    visits: Counter[str] = field(default_factory=Counter)
    broken: Counter[str] = field(default_factory=Counter)
    pending_expiries: int = 0
    open_calls: int = 0
    uncompared: Counter[str] = field(default_factory=Counter)
    lines_aside: int = 0
    files_aside: int = 0
    _causes: dict[tuple[str, str], Cause] = field(default_factory=dict)
    _runs: Counter[tuple[str, str]] = field(default_factory=Counter)
    _unfinished: Reasons[VerdictRow] = field(default_factory=Reasons)
    _aside: Reasons[QuarantineRow] = field(default_factory=Reasons)

    def take(self, row: Row) -> None:
        """Take in a row of the tables."""
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
        if row.subject in self.subjects or len(self.subjects) < _MOST_SUBJECTS:
            self.subjects[row.subject] += 1
        self.deviated.update(row.deviated)
        self.pending_expiries += row.pending_expiries
        self.open_calls += row.open_calls
        self.uncompared.update(row.uncompared)
        if row.verdict == RunVerdict.DIVERGES.value:
            key = row.rule, row.kind
            cause = self._causes.setdefault(key, Cause(*key))
            self._runs[key] += 1
            self.broken[row.rule] += 1
            if len(cause.examples) < self.most_examples:
                cause.examples.append(row)
        elif row.verdict != RunVerdict.CONFORMS.value:
            self._unfinished.take(row, row.verdict)

    def _take_aside(self, row: QuarantineRow) -> None:
        if row.is_of_a_line:
            self.lines_aside += 1
            self._aside.take(row, "line")
        else:
            self.files_aside += 1
            self._aside.take(row, "file")

    def merge(self, other: "Summary") -> None:
        """Take in what another summary, of other runs, has taken in."""
        for verdict, runs in other.verdicts.items():
            self.verdicts[verdict] += runs
        self.events += other.events
        self.judged += other.judged
        self.pending_expiries += other.pending_expiries
        self.open_calls += other.open_calls
        self.lines_aside += other.lines_aside
        self.files_aside += other.files_aside
        for mine, more in (
            (self.components, other.components),
            (self.deviated, other.deviated),
            (self.visits, other.visits),
            (self.broken, other.broken),
            (self.uncompared, other.uncompared),
        ):
            mine.update(more)
        for subject, runs in sorted(other.subjects.items()):
            if subject in self.subjects or len(self.subjects) < _MOST_SUBJECTS:
                self.subjects[subject] += runs
        self._runs.update(other._runs)
        for key, cause in other._causes.items():
            examples = self._causes.setdefault(key, Cause(*key)).examples
            examples += cause.examples
            examples.sort(key=lambda row: row.run)
            del examples[self.most_examples :]
        self._unfinished.merge(other._unfinished)
        self._aside.merge(other._aside)

    def correct(self, row_of: Correction) -> None:
        """Put others in the place of the rows that are kept as examples."""
        for cause in self._causes.values():
            cause.examples[:] = [row_of(row) for row in cause.examples]
        self._unfinished.correct(row_of)
        self._aside.correct(row_of)

    @property
    def runs(self) -> int:
        """Return the number of runs."""
        return sum(self.verdicts.values())

    @property
    def causes(self) -> list[tuple[Cause, int]]:
        """Return the causes with their numbers of runs, the commonest first."""
        found = ((cause, self._runs[key]) for key, cause in self._causes.items())
        return sorted(found, key=lambda each: (-each[1], each[0].rule, each[0].kind))

    @property
    def unfinished(self) -> list[Alike[VerdictRow]]:
        """Return the reasons of incomplete and inconclusive runs, the commonest first."""
        return self._unfinished.commonest()

    @property
    def aside(self) -> list[Alike[QuarantineRow]]:
        """Return the reasons for lines and files set aside, the commonest first."""
        return self._aside.commonest()

    def rules_of(self, component: Component) -> tuple[list[Requirement], list[Requirement]]:
        """Return the component's rules that were tested, and those that never were.

        A rule that a run breaks was put to the test. Of those that never were the ones are left
        out that runs like these cannot put to the test, as far as the rows show
        (``rules``); ``others_of`` counts them.
        """
        rules = requirements(component)
        held = {rule.id for rule in rules if self.visits[rule.id]}
        broken = {rule.id for rule in rules if self.broken[rule.id] or self.deviated[rule.id]}
        tested = [rule for rule in rules if rule.id in held | broken]
        return tested, never_tested(component, rules, held, broken)

    def others_of(self, component: Component) -> int:
        """Return the number of the component's rules that runs like these cannot test."""
        tested, never = self.rules_of(component)
        return len(requirements(component)) - len(tested) - len(never)

    @property
    def seen_components(self) -> list[Component]:
        """Return the components that runs are about."""
        return [each for each in Component if self.components[each.value]]

    @property
    def untested(self) -> list[Component]:
        """Return the components that runs are about, and of which no rule was put to the test."""
        return [each for each in self.seen_components if not self.rules_of(each)[0]]

    @property
    def too_short(self) -> list[str]:
        """Return the rules that a missing expiry breaks, where no run was long enough to show one.

        Expiries came. A missing expiry is one only once it is later than the declared lateness.
        """
        return [
            missing for seen, missing in _EXPIRIES if self.visits[seen] and not self.visits[missing]
        ]

    @property
    def exit_code(self) -> int:
        """Return 1 where a run diverges, else 4 where facts are missing, else 0.

        Nothing is known of a component of which no rule was put to the test, and little of runs
        that were too short to show that an expiry is missing.
        """
        if self.verdicts[RunVerdict.DIVERGES.value]:
            return EXIT_DIVERGES
        all_conform = self.verdicts[RunVerdict.CONFORMS.value] == self.runs > 0
        is_left = self.lines_aside or self.files_aside or self.untested or self.too_short
        return 0 if all_conform and not is_left else EXIT_INCONCLUSIVE

    @property
    def headline(self) -> str:
        """Return the verdict on all runs, in a few words."""
        if self.verdicts[RunVerdict.DIVERGES.value]:
            return "not conformant"
        if not self.runs:
            return "nothing was judged"
        if self.exit_code:
            return "inconclusive"
        return "conformant"


def summary_as_json(
    summary: Summary, *, engine: str, files: int, results: str
) -> dict[str, object]:
    """Return the findings of a check as an object of JSON.

    Args:
        summary: What was found.
        engine: The engine that was used.
        files: How many files were read.
        results: Where the tables are.
    """
    return {
        "headline": summary.headline,
        "exit_code": summary.exit_code,
        "engine": engine,
        "files": files,
        "runs": summary.runs,
        "events": summary.events,
        "judged": summary.judged,
        "verdicts": summary.verdicts,
        "causes": [
            {
                "rule": cause.rule,
                "kind": cause.kind,
                "runs": runs,
                "examples": [_place(row) for row in cause.examples],
            }
            for cause, runs in summary.causes
        ],
        "unfinished": [{"reason": each.words, "runs": each.rows} for each in summary.unfinished],
        "aside": [{"reason": each.words, "lines": each.rows} for each in summary.aside],
        "rules_tested": {
            component.value: len(summary.rules_of(component)[0])
            for component in summary.seen_components
        },
        "results": results,
    }


def _place(row: VerdictRow) -> dict[str, object]:
    told = ("run", "seq", "file", "line", "expected", "seen")
    return {name: getattr(row, name) for name in told}


# The tables do not tell clocks and profiles. But the rules that were put to the test show them:
# runs on a clock that moves by itself visit certain rules and no other; and a rule that needs a
# structure, an accounting or an observable is hardly the only one of its kind that is never
# visited. What callers can do (``features has cancel``) shows nothing where nobody did it: there
# the rule is taken to apply.
_TERM = re.compile(r"`([a-z_]+) (?:is|has|is not) ([a-z0-9_]+)`")
_EXECUTOR = "executor"
_FEATURES = "features"
_SORTS_OF_POOLS = frozenset({"strict", "non_strict", "unbounded"})


def never_tested(
    component: Component, rules: Sequence[Requirement], held: Set[str], broken: Set[str]
) -> list[Requirement]:
    """Return the rules of a component that the runs could have tested, and did not.

    Args:
        component: Whose rules.
        rules: All of them.
        held: The ids of those that were put to the test, and held.
        broken: The ids of those that a run breaks; they were put to the test as well.
    """
    # A finding on a clock that moves by itself may name a rule that is not visited there.
    on_a_wall_clock = RULES_ON_A_WALL_CLOCK[component]
    only_those = bool(held) and held <= on_a_wall_clock
    tested = held | broken
    shown = {term for rule in rules if rule.id in tested for term in _terms(rule)}
    return [
        rule
        for rule in rules
        if rule.id not in tested
        and (not only_those or rule.id in on_a_wall_clock)
        and (not tested or _terms(rule) <= shown)
    ]


def _terms(rule: Requirement) -> frozenset[str]:
    """Return the terms of a rule's condition that show wherever it holds."""
    return frozenset(
        match.group()
        for match in _TERM.finditer(rule.condition)
        if match[1] != _EXECUTOR and (match[1] != _FEATURES or match[2] in _SORTS_OF_POOLS)
    )
