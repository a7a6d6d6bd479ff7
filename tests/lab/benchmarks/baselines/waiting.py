"""An operation for tests of the old design."""

from purgatory_lab.benchmarks.baselines import DelayedOperation


class Waiting(DelayedOperation):
    """Can be completed once it is ready; counts what happens to it."""

    def __init__(self, delay_ms: int = 1000) -> None:
        super().__init__(delay_ms)
        self.ready = False
        self.tries = 0
        self.completions = 0
        self.expirations = 0

    def try_complete(self) -> bool:
        self.tries += 1
        return self.ready and self.force_complete()

    def on_complete(self) -> None:
        self.completions += 1

    def on_expiration(self) -> None:
        self.expirations += 1
