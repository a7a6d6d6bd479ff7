"""A stepped executor of the bundled library that tells what the timer hands over."""

from collections.abc import Callable, Iterable

from purgatory_impl import SteppedExecutor, Task


class TellingExecutor(SteppedExecutor):
    """Queue what the timer hands over, and tell of each task."""

    def __init__(self, tell: Callable[[Task], None]) -> None:
        """Begin with an empty queue; ``tell`` is called with each task, in their order."""
        super().__init__()
        self._tell = tell

    def hand_over(self, tasks: Iterable[Task]) -> None:
        """Queue the tasks, and tell of each."""
        handed = list(tasks)
        super().hand_over(handed)
        for task in handed:
            self._tell(task)
