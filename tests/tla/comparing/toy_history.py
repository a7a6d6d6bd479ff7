"""The toy with its labels in sight, an executable model of it, and its dump, written by hand."""

from collections.abc import Iterator
from dataclasses import replace

from purgatory_model.overlapping.interleaving import Step
from purgatory_tla.comparing.binding import Binding, Variable
from purgatory_tla.values.values import function

HISTORY = """------------------------- MODULE ToyHistory -------------------------
EXTENDS Toy
VARIABLE step
HistoryInit == Init /\\ step = <<>>
Labelled ==
  \\E t \\in Threads :
    \\/ Begin(t) /\\ step' = <<"Begin", t>>
    \\/ Add(t) /\\ step' = <<"Add", t>>
Rest == step # <<>> /\\ step' = <<>> /\\ UNCHANGED vars
HistoryNext == (step = <<>> /\\ Labelled) \\/ Rest
HistorySpec == HistoryInit /\\ [][HistoryNext]_<<vars, step>>
=====================================================================
"""

HEAD = """strict digraph DiskGraph {
nodesep=0.35;
subgraph cluster_graph {
color="white";
"""
TAIL = """{rank = same; 1;}
{rank = same; 2;}
}
}
"""

ToyState = tuple[int, frozenset[str]]
"""The total, and which threads are busy."""


def steps(state: ToyState) -> Iterator[tuple[Step, ToyState]]:
    total, busy = state
    for thread in ("a", "b"):
        if thread in busy:
            yield Step("Add", (thread,)), (total + 1, busy - {thread})
        elif total < 2:
            yield Step("Begin", (thread,)), (total, busy | {thread})


TOY: Binding[ToyState] = Binding(
    name="toy",
    title="Two threads that add one at a time.",
    module="ToyHistory",
    constants={"Threads": '{"a", "b"}', "Most": "2"},
    initial=(0, frozenset()),
    steps=steps,
    variables={
        "total": Variable("the total", lambda state: state[0]),
        "pc": Variable(
            "what each thread does",
            lambda state: function({t: "busy" if t in state[1] else "idle" for t in ("a", "b")}),
        ),
    },
    actions={"Begin": "a thread begins", "Add": "it adds one"},
)


def one_step(*, label: str = '<<\\"Add\\", \\"a\\">>', after: int = 1) -> str:
    """A dump of three nodes: a step that adds one, from zero to one, and back to rest."""
    return (
        HEAD
        + '1 [label="/\\\\ step = <<>>\\n/\\\\ total = 0",style = filled]\n'
        + '1 -> -2 [label="HistoryNext",color="black",fontcolor="black"];\n'
        + f'-2 [label="/\\\\ step = {label}\\n/\\\\ total = 1"];\n'
        + '-2 -> 3 [label="HistoryNext",color="black",fontcolor="black"];\n'
        + f'3 [label="/\\\\ step = <<>>\\n/\\\\ total = {after}"];\n'
        + TAIL
    )


def counting(last: int) -> Binding[int]:
    """A binding with one variable, ``total``, and steps that add one up to the last."""
    return Binding(
        name="counting",
        title="A counter.",
        module="CountingHistory",
        constants={},
        initial=0,
        steps=lambda total: [(Step("Add", ("a",)), total + 1)] if total < last else [],
        variables={"total": Variable("the total", lambda total: total)},
        actions={"Add": "adds one"},
    )


def without_labels(binding: Binding[ToyState]) -> Binding[ToyState]:
    """The binding with steps that name no thread."""

    def unnamed(state: ToyState) -> Iterator[tuple[Step, ToyState]]:
        return ((Step(step.action), target) for step, target in binding.steps(state))

    return replace(binding, steps=unnamed)
