"""The progress line of a campaign: of whom, how far it is, and what is being done.

The bar is full where generation may end: enough cases were run, and each MUST was put to the test
often enough. The line fits a terminal of 80 columns.
"""

from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

from purgatory_conformance.describing.words import shortened
from purgatory_conformance.running.campaign import Campaign
from purgatory_spec.requirements import Level

_BAR = 14
_WIDEST_SUBJECT = 26


def covered(campaign: Campaign) -> float:
    """Return the share of the needed visits that the MUSTs have had, from 0 to 1."""
    musts = [rule for rule in campaign.rules if rule.level is Level.MUST]
    minimum = campaign.budget.minimum_visits
    visits = sum(min(campaign.visits[rule.id], minimum) for rule in musts)
    return visits / (minimum * len(musts)) if minimum and musts else 1.0


def done(campaign: Campaign) -> float:
    """Return the progress of generation from 0 to 1: the count farthest behind decides."""
    least = campaign.budget.least_cases
    return min(covered(campaign), campaign.cases / least if least else 1.0)


def words(campaign: Campaign, phase: str) -> str:
    """Return the present phase in words, in at most 26 letters."""
    match phase:
        case "generated":
            return f"case {campaign.cases}, {int(covered(campaign) * 100)}% covered"
        case "vectors":
            return f"vector {campaign.vectors}"
        case "shrinking":
            return "shrinking what failed"
    return phase


class CampaignProgress:
    """Shows a campaign while it runs; off a terminal it shows nothing."""

    def __init__(self, console: Console, subject: str) -> None:
        """Prepare the line for a subject."""
        self._subject = shortened(subject, _WIDEST_SUBJECT)
        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(bar_width=_BAR, complete_style="blue", finished_style="blue"),
            TextColumn("{task.fields[words]}"),
            TimeElapsedColumn(),
            console=console,
            transient=True,
            disable=not console.is_terminal,
        )
        self._task: TaskID | None = None

    def __enter__(self) -> "CampaignProgress":
        """Show the line of progress, and return the progress itself."""
        self._progress.start()
        self._task = self._progress.add_task(self._subject, total=1.0, words="starting")
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Take the line of progress away."""
        self._progress.stop()

    def update(self, campaign: Campaign, phase: str) -> None:
        """Take in where the campaign is; cheap enough to be called after every case."""
        if self._task is None or (campaign.cases % 10 and phase == "generated"):
            return
        finished = 1.0 if phase == "shrinking" else done(campaign)
        self._progress.update(self._task, completed=finished, words=words(campaign, phase))
