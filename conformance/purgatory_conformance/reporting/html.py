"""The report as one HTML page that loads nothing else: no font, no picture, no library."""

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup, escape

from purgatory_conformance.describing.steps import describe_profile
from purgatory_conformance.describing.words import (
    counted,
    describe_implementation,
    noun,
    shortened,
    spans,
)
from purgatory_conformance.reporting.pages import page_template
from purgatory_conformance.reporting.results import Results, RuleLine, worst
from purgatory_conformance.reporting.story import (
    Story,
    all_rules,
    retraced,
    rule_text,
    state_counts,
    stories,
)
from purgatory_conformance.support.registry import support_of
from purgatory_conformance.viewing.markup import viewer, viewer_script, viewer_style
from purgatory_conformance.viewing.runs import run_of_failure
from purgatory_judge.components import on_real_clock

_URGENT = ("broken", "doubtful", "deviates", "too few")
"""The states of rules that ask for something, in the order in which a reader wants them."""


@dataclass(frozen=True, slots=True)
class _Cause:
    """A cause with the viewer of its run and its picture, or a sentence that says why not.

    ``anchor`` is its number on the page, ``number`` that among the component's causes.
    """

    number: int
    anchor: int
    story: Story
    text: tuple[Markup, ...]
    viewed: Markup
    picture: Markup
    no_picture: str


@dataclass(frozen=True, slots=True)
class _Rule:
    """A rule with its text, and the causes of failure that were blamed on it."""

    line: RuleLine
    text: tuple[Markup, ...]
    causes: list[_Cause]


@dataclass(frozen=True, slots=True)
class _Part:
    """The part of the page about one component."""

    results: Results
    noun: str
    profile: str
    features: list[str]
    observables: list[str]
    states: list[tuple[str, str, int]]
    rules: list[_Rule]
    causes: list[_Cause]

    @property
    def identifiers(self) -> frozenset[str]:
        """Return the rules of the list, to which the page can link."""
        return frozenset(rule.line.id for rule in self.rules)


def render_html(results: Sequence[Results]) -> str:
    """Return the report as a page in one file, a section for each component."""
    decisive = worst(results)
    parts = _parts(results)
    has_viewer = any(cause.viewed for part in parts for cause in part.causes)
    return page_template("report.html.jinja").render(
        viewer_style=viewer_style() if has_viewer else Markup(""),
        viewer_script=viewer_script() if has_viewer else Markup(""),
        header=results[0].header,
        footer=decisive.footer,
        implementation=describe_implementation(results[0].header.implementation),
        parts=parts,
        counted=counted,
        shortened=shortened,
    )


def _parts(results: Sequence[Results]) -> list[_Part]:
    """Return the components; their causes are numbered on the page, for anchors and ids."""
    parts: list[_Part] = []
    before = 0
    for each in results:
        parts.append(_part(each, before))
        before += len(each.causes)
    return parts


def _part(results: Results, causes_before: int) -> _Part:
    profile = results.header.profile
    causes = [
        _cause(number, causes_before + number, story, results)
        for number, story in enumerate(stories(results), start=1)
    ]
    rules = [
        _Rule(
            rule,
            _marked_up(rule_text(rule.id)),
            [each for each in causes if rule.id in (each.story.rule, *each.story.cause.also)],
        )
        for rule in sorted(all_rules(results), key=_urgency)
    ]
    return _Part(
        results=results,
        noun=noun(results.component),
        profile=describe_profile(profile),
        features=sorted(feature.value for feature in profile.features),
        observables=sorted(shown.value for shown in profile.observables),
        states=state_counts([rule.line for rule in rules]),
        rules=rules,
        causes=causes,
    )


def _urgency(rule: RuleLine) -> int:
    """Return the place of a rule in the list: those that need attention come first."""
    return _URGENT.index(rule.state) if rule.state in _URGENT else len(_URGENT)


def _cause(number: int, anchor: int, story: Story, results: Results) -> _Cause:
    case = retraced(story.cause, results)
    picture, no_picture, viewed = "", "", Markup("")
    if case is not None:
        picture = support_of(results.component).picture(case, anchor)
        run = run_of_failure(case, f"The states that were expected, cause {number}")
        viewed = viewer(run) if run.frames else viewed
    elif on_real_clock(results.header.profile):
        no_picture = "There is no picture: on a real clock the states are intervals."
    else:
        no_picture = "There is no picture: the model here does not follow these steps."
    return _Cause(
        number, anchor, story, _marked_up(story.text), viewed, Markup(picture), no_picture
    )


def _marked_up(paragraphs: tuple[str, ...]) -> tuple[Markup, ...]:
    """Return the paragraphs of a rule as HTML."""
    tags = {"code": "code", "emphasis": "em"}
    return tuple(
        Markup("").join(
            Markup("<{0}>{1}</{0}>").format(Markup(tags[kind]), words)
            if kind in tags
            else escape(words)
            for kind, words in spans(paragraph)
        )
        for paragraph in paragraphs
    )
