"""The progress line of a campaign: what is being done, how far coverage is, how many steps."""

from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

from purgatory_conformance.running.campaign import Budget, Campaign
from purgatory_spec.requirements import Level


class CampaignProgress:
    """Shows a campaign while it runs; off a terminal it shows nothing."""

    def __init__(self, console: Console, subject: str, budget: Budget) -> None:
        """Prepare the line for a subject."""
        self._budget = budget
        self._subject = subject
        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(bar_width=24, complete_style="blue", finished_style="blue"),
            TextColumn("{task.fields[words]}"),
            TimeElapsedColumn(),
            console=console,
            transient=True,
            disable=not console.is_terminal,
        )
        self._task: TaskID | None = None

    def __enter__(self) -> "CampaignProgress":
        """Show the line."""
        self._progress.start()
        self._task = self._progress.add_task(self._subject, total=1.0, words="starting")
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Take the line away."""
        self._progress.stop()

    def update(self, campaign: Campaign, phase: str) -> None:
        """Take in where the campaign is; cheap enough to be called after every case."""
        if self._task is None or (campaign.cases % 10 and phase == "generated"):
            return
        musts = [rule for rule in campaign.rules if rule.level is Level.MUST]
        minimum = campaign.budget.minimum_visits
        visits = sum(min(campaign.visits[rule.id], minimum) for rule in musts)
        covered = visits / max(1, minimum * len(musts))
        cases = min(1.0, campaign.cases / self._budget.least_cases)
        words = f"{phase}: {campaign.cases} cases, {campaign.steps} steps, {covered:.0%} of visits"
        self._progress.update(self._task, completed=(covered + cases) / 2, words=words)
