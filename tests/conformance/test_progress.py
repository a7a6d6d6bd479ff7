"""The progress line: it fits the terminal, and the bar is full where generation may end."""

import io
import re

import pytest
from rich.console import Console

from purgatory_conformance.progress import CampaignProgress, covered, done, words
from purgatory_conformance.running.campaign import Budget, Campaign, run_campaign
from purgatory_conformance.subjects.bundled import bundled_subject
from purgatory_spec.profiles import Component
from purgatory_spec.requirements import Level, requirement

BUDGET = Budget(least_cases=40, minimum_visits=10)


def campaign_with(cases: int, visits: int) -> Campaign:
    """A campaign of two rules; of the second, a SHOULD, nothing is needed."""
    campaign = Campaign(Component.TIMER, 1, BUDGET, ())
    campaign.rules = (requirement("TIMER-ZERO-DELAY"), requirement("TIMER-SHUTDOWN-CLOSED"))
    assert [rule.level for rule in campaign.rules] == [Level.MUST, Level.SHOULD]
    campaign.cases = cases
    campaign.visits["TIMER-ZERO-DELAY"] = visits
    return campaign


@pytest.mark.parametrize(
    ("cases", "visits", "share", "bar"),
    [
        (0, 0, 0.0, 0.0),
        (20, 1000, 1.0, 0.5),
        (1000, 5, 0.5, 0.5),
        (40, 9, 0.9, 0.9),
        (40, 10, 1.0, 1.0),
    ],
)
def test_the_bar_shows_what_is_farthest_behind(
    cases: int, visits: int, share: float, bar: float
) -> None:
    campaign = campaign_with(cases, visits)
    assert (covered(campaign), done(campaign)) == (share, bar)


def test_a_rule_that_lacks_one_visit_is_not_rounded_to_all() -> None:
    campaign = campaign_with(7, 10)
    campaign.rules = (requirement("TIMER-ZERO-DELAY"),) * 150
    assert words(campaign, "generated") == "case 7, 100% covered"
    campaign.rules = (*campaign.rules, requirement("TIMER-ROUNDING"))
    assert words(campaign, "generated") == "case 7, 99% covered"


@pytest.mark.parametrize(
    "subject", ["bundled, timer", "profile:channel-muting-recovery-everyone, channel muting"]
)
@pytest.mark.parametrize("phase", ["vectors", "deviations", "generated", "shrinking"])
def test_the_line_fits_80_columns(subject: str, phase: str) -> None:
    """Nothing of it is cut off."""
    file = io.StringIO()
    console = Console(file=file, width=80, force_terminal=True, color_system=None)
    campaign = campaign_with(100_000, 10)
    campaign.vectors = 143
    with CampaignProgress(console, subject) as progress:
        progress.update(campaign, phase)
    lines = re.sub(r"\x1b\[[0-9?;]*[A-Za-z]", "", file.getvalue()).replace("\r", "\n").split("\n")
    drawn = [line.rstrip() for line in lines if words(campaign, phase) in line]
    assert drawn != []
    assert all(len(line) < 80 for line in drawn)
    assert all(re.search(r" \d:\d\d:\d\d$", line) for line in drawn)


def test_a_campaign_ends_with_a_full_bar() -> None:
    campaign = run_campaign(bundled_subject(), Component.TIMER, seed=1, budget=BUDGET)
    assert done(campaign) == 1.0
