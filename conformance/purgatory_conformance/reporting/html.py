"""The report as one HTML page that loads nothing else: no script, no font, no picture."""

from dataclasses import dataclass
from functools import cache

from jinja2 import Environment, PackageLoader, StrictUndefined, Template
from markupsafe import Markup, escape

from purgatory_conformance.reporting.results import Results, RuleLine
from purgatory_conformance.reporting.story import (
    Story,
    all_rules,
    retraced,
    rule_text,
    stories,
)
from purgatory_conformance.reporting.wheel_picture import wheel_picture
from purgatory_conformance.reporting.wheel_scene import scene_of
from purgatory_conformance.reporting.words import (
    STATE_SYMBOLS,
    VERDICT_SYMBOLS,
    counted,
    describe_implementation,
    describe_profile,
    printable,
    shortened,
    spans,
)
from purgatory_spec.profiles import Clock


@dataclass(frozen=True, slots=True)
class _Cause:
    """A cause with its picture, or a sentence that says why there is none."""

    number: int
    story: Story
    text: tuple[Markup, ...]
    picture: Markup
    no_picture: str


@dataclass(frozen=True, slots=True)
class _Rule:
    """A rule with its text."""

    line: RuleLine
    symbol: str
    text: tuple[Markup, ...]


def render_html(results: Results) -> str:
    """The report as a page in one file."""
    rules = [
        _Rule(rule, STATE_SYMBOLS.get(rule.state, ""), _marked_up(rule_text(rule.id)))
        for rule in all_rules(results)
    ]
    return _template().render(
        header=results.header,
        footer=results.footer,
        implementation=describe_implementation(results.header.implementation),
        profile=describe_profile(results.header.profile),
        features=sorted(feature.value for feature in results.header.profile.features),
        observables=sorted(shown.value for shown in results.header.profile.observables),
        symbol=VERDICT_SYMBOLS.get(results.footer.exit_code, "!"),
        states=_counts(rules),
        rules=rules,
        causes=[
            _cause(number, story, results) for number, story in enumerate(stories(results), start=1)
        ],
        deviations=results.deviations,
        failures=results.failures,
        counted=counted,
        shortened=shortened,
    )


def _counts(rules: list[_Rule]) -> list[tuple[str, str, int]]:
    """For each state that occurs its symbol, its word and how many rules are in it."""
    counts = [
        (symbol, state, sum(rule.line.state == state for rule in rules))
        for state, symbol in STATE_SYMBOLS.items()
    ]
    return [entry for entry in counts if entry[2]]


def _cause(number: int, story: Story, results: Results) -> _Cause:
    case = retraced(story.cause, results)
    picture, no_picture = "", ""
    if case is not None:
        scene = scene_of(story.cause, case, results.header.profile)
        picture = wheel_picture(story.cause, scene, number)
    elif results.header.profile.clock is Clock.WALL:
        no_picture = "There is no picture: on a real clock the states are intervals."
    else:
        no_picture = "There is no picture: the model here does not follow these steps."
    return _Cause(number, story, _marked_up(story.text), Markup(picture), no_picture)


def _marked_up(paragraphs: tuple[str, ...]) -> tuple[Markup, ...]:
    """The paragraphs of a rule as HTML."""
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


def _finalized(value: object) -> object:
    """Every text that reaches the page, without what cannot be printed."""
    return printable(value) if type(value) is str else value


@cache
def _template() -> Template:
    environment = Environment(
        loader=PackageLoader("purgatory_conformance.reporting", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_finalized,
    )
    return environment.get_template("report.html.jinja")
