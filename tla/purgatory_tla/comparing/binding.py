"""A binding: an executable model and a TLA+ module that are claimed to have one state graph."""

from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

from purgatory_model.overlapping.interleaving import Step
from purgatory_spec.operations import Elapse, Operation
from purgatory_tla.values.values import Value

State = TypeVar("State", bound=Hashable)


@dataclass(frozen=True, slots=True)
class Variable(Generic[State]):
    """A variable of the module, computed from a state of the model.

    ``words`` says it for readers of the generated page.
    """

    words: str
    value: Callable[[State], Value]


@dataclass(frozen=True, slots=True)
class Binding(Generic[State]):
    """An instance of a model beside one of a module.

    Attributes:
        name: How it is called on the command line.
        title: One sentence.
        module: The history module, ``…History``: it extends the bound one by a variable ``step``
            (see ``tla/TimingWheelHistory.tla``).
        constants: Values for the module's constants, as in a configuration.
        initial: The model's first state.
        steps: The labelled steps that leave a state of the model.
        variables: Every variable of the bound module, ``step`` excepted.
        actions: Every action of the bound module with what it is in the model, in words.
    """

    name: str
    title: str
    module: str
    constants: Mapping[str, str]
    initial: State
    steps: Callable[[State], Iterable[tuple[Step, State]]]
    variables: Mapping[str, Variable[State]]
    actions: Mapping[str, str]


def label_of(operation: Operation, *answer: str | int) -> Step:
    """Return the label of an operation whose action has its name, its arguments and the answer.

    In the modules the clock moves on by one millisecond, so that ``Elapse`` has no argument.
    """
    # Modules have no executor that refuses.
    names = (name for name in operation.__struct_fields__ if name != "refuse")
    values = (getattr(operation, name) for name in names)
    arguments = tuple(each for each in values if isinstance(each, str | int))
    given = () if isinstance(operation, Elapse) else arguments
    return Step(type(operation).__name__, (*given, *answer))
