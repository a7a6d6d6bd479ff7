"""Steps that were seen of a subject, and what its judge says of them."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import pytest

from purgatory_judge.registry import judged as judged_component
from purgatory_spec.cases import Case, decode_case
from tests.known_cases import known_cases


class Judged(NamedTuple):
    """The steps of one instance, and what stands in the line above them."""

    expected: Mapping[str, object]
    case: Case


def judged_steps(path: Path) -> Iterator[tuple[str, Judged]]:
    """Yield the cases of a file, whose first line says what it holds."""
    for name, expected, (header, *steps) in known_cases(path):
        first = json.dumps({**json.loads(header), "case": "seen"})
        text = "\n".join([first, *(step.decode() for step in steps)])
        yield name, Judged(expected, decode_case(text, path.name))


CASES = {
    f"{path.stem}: {name}": judged
    for path in sorted(Path(__file__).with_name("steps").glob("*.jsonl"))
    for name, judged in judged_steps(path)
}


@pytest.mark.parametrize("judged", CASES.values(), ids=CASES)
def test_a_judge_says_of_each_step_what_stands_above_them(judged: Judged) -> None:
    header = judged.case.header
    judge = judged_component(judged.case.component).judge(header.configuration, header.profile, ())
    told: dict[str, object] = {}
    visits = []
    for number, step in enumerate(judged.case.steps, start=1):
        assert step.outcome is not None
        assert not told, "only the last step diverges"
        judgement = judge.step(step.operation, step.outcome)
        visits.append(sorted(judgement.visited))
        if found := judgement.divergence:
            told = {"wrong_at": number, "rule": found.rule, "kind": found.kind}
            more = {"expected": found.expected, "seen": found.seen, "also": list(found.also)}
            told |= {name: more[name] for name in more if name in judged.expected}
    if "visits" in judged.expected:
        told["visits"] = visits
    assert told == judged.expected
