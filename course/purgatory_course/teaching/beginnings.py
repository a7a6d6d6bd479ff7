"""The files that answers begin with, and the words that say what to add to them."""

import re
import textwrap

from purgatory_course.teaching.exercises import WHEEL
from purgatory_course.teaching.gradable import Gradable, Predicted, Run
from purgatory_spec import profiles
from purgatory_spec.cases import Case, Step, case_header
from purgatory_spec.jsonlines import encode_line
from purgatory_spec.operations import Add, Allocate, Operation
from purgatory_spec.outcomes import Outcome, completed, expired, tried

_SOME_OPERATION: dict[profiles.Component, Operation] = {
    profiles.Component.TIMER: Add("a", 1),
    profiles.Component.MEMORY_POOL: Allocate("a", 1),
}
_SOME_EVENT = {
    profiles.Component.TIMER: (expired("a"),),
    profiles.Component.PURGATORY: (tried("o"), completed("o")),
    profiles.Component.MEMORY_POOL: (),
}


_RUN_PROFILES: dict[profiles.Component, profiles.Profile] = {
    profiles.Component.TIMER: WHEEL,
    profiles.Component.MEMORY_POOL: profiles.MemoryPoolProfile(),
}


def beginning(exercise: Gradable, number: str, variant: int = 0) -> str:
    """Return the file that an answer begins with; its first line names exercise and variant."""
    title = title_of(number, variant)
    match exercise:
        case Run():
            profile = _RUN_PROFILES[exercise.component]
            header = case_header("run", exercise.configuration, profile, title=title)
            return f"{encode_line(header)}\n"
        case Predicted():
            header = case_header(
                "prediction", exercise.configuration, exercise.profile, title=title
            )
            case = Case(header, tuple(map(Step, exercise.steps)))
            return "".join(f"{encode_line(line)}\n" for line in (case.header, *case.steps))
        case _:
            task = textwrap.fill(exercise.task, 95)
            return f'"""{title}.\n\n{task}\n"""\n'


def title_of(number: str, variant: int) -> str:
    """Return the words by which a file names the exercise that it answers."""
    return f"Exercise {number}, variant {variant}"


def variant_in(text: str, number: str) -> int:
    """Return the variant of an exercise that the first line of an answer names; 0 without one."""
    named = re.search(rf"Exercise {re.escape(number)}, variant (\d+)", text.partition("\n")[0])
    return int(named[1]) if named else 0


def some_outcome(exercise: Predicted) -> str:
    """Return an example of an outcome: a result, an event, and observables."""
    shown = {each.value: 9 for each in exercise.profile.observables}  # no answer
    if exercise.counts_only:
        return f'"outcome":{encode_line(Outcome(observed=shown))}'
    events = _SOME_EVENT[profiles.component_of(exercise.configuration)]
    return f'"outcome":{encode_line(Outcome(True, events=events, observed=shown))}'


def what_to_add(exercise: Gradable) -> str:
    """Return the student's additions to the file of ``beginning``, in words."""
    if not isinstance(exercise, Predicted | Run):
        return "Write the class below its first lines, which tell the task."
    if isinstance(exercise, Run):
        operation = encode_line(Step(_SOME_OPERATION[exercise.component]))
        return f"Add steps to it, one a line, such as {operation}"
    return (
        f"Add an outcome to each step, behind its operation, such as {some_outcome(exercise)}"
        + ("" if exercise.counts_only else _LEAVE_OUT)
    )


_LEAVE_OUT = "\nLeave out a result, events or observables where a step has none."
