"""The page to play on: the parts that the site puts into its own page, and a page of its own."""

from importlib.resources import files

import msgspec
from markupsafe import Markup

from purgatory_conformance.resources import adapter_folder
from purgatory_conformance.viewing.markup import (
    inside_a_script,
    page_of,
    viewer,
    viewer_script,
    viewer_style,
)
from purgatory_conformance.viewing.runs import Run, run_of_case
from purgatory_course.playing.hunts import hunts
from purgatory_spec.cases import Case, Step, TimerCaseHeader
from purgatory_spec.operations import Add, Advance, Operation
from purgatory_spec.profiles import Executor, Structure, TimerConfiguration, TimerProfile

_STEPS: tuple[Operation, ...] = (
    Add("a", 3),
    Add("b", 4),
    Add("c", 27),
    *(Advance(to_ms) for to_ms in (3, 4, 16, 24, 27)),
)
"""The steps of the run that the page begins with."""

_OWN_PAGE = """body { margin: 0 auto; max-width: 60rem; padding: 1rem;
  font: 16px/1.45 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif;
  background: light-dark(#ffffff, #14181c); color: light-dark(#1c2126, #e4e9ee); }
"""
"""The styles that a page outside the site needs: the site's own style says them there."""


def wheel_to_change() -> Markup:
    """Return a wheel whose tick, size and delays one changes; one run without a script."""
    return Markup(_text("play.html")).format(figure=viewer(_first_run("3 tasks, 8 steps")))


def hunt_for_a_defect() -> Markup:
    """Return the hunts for a defect, with the picture of a right timer."""
    listed = msgspec.json.encode(hunts()).decode()
    return Markup(_text("hunt.html")).format(
        figure=viewer(_first_run("What is expected")), hunts=Markup(inside_a_script(listed))
    )


def play_style() -> Markup:
    """Return the style of both parts and of the viewer, which stands in front of them."""
    return viewer_style() + Markup("<style>\n{}</style>\n").format(Markup(_text("play.css")))


def play_script() -> Markup:
    """Return the scripts of both parts: the viewer, the timer, its frames, the page's own."""
    scripts = "".join((*timer_scripts(), _text("play.js")))
    return viewer_script() + Markup("<script>\n{{\n{}}}\n</script>\n").format(Markup(scripts))


def timer_scripts() -> tuple[str, str]:
    """Return the timer, and the maker of its frames; they need no page."""
    timer = (adapter_folder("javascript") / "timer.js").read_text(encoding="utf-8")
    return timer, _text("frames.js")


def play_page() -> Markup:
    """Return a page of its own, which loads nothing."""
    heading = Markup("<h1>{}</h1>\n<h2>{}</h2>\n{}<h2>{}</h2>\n{}")
    body = heading.format(
        "Play", "A wheel to change", wheel_to_change(), "A hunt", hunt_for_a_defect()
    )
    style = Markup("<style>\n{}</style>\n").format(Markup(_OWN_PAGE)) + play_style()
    return page_of("Play with a timing wheel", style, body, play_script())


def _first_run(title: str) -> Run:
    profile = TimerProfile(executor=Executor.STEPPED, structure=Structure.DELAY_QUEUE_WHEEL)
    configuration = TimerConfiguration(tick_ms=1, wheel_size=4)
    header = TimerCaseHeader(case="play", title=title, configuration=configuration, profile=profile)
    return run_of_case(Case(header, tuple(map(Step, _STEPS))))


def _text(name: str) -> str:
    return (files("purgatory_course.playing") / name).read_text(encoding="utf-8")
