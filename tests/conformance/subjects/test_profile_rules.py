"""Profiles that hello refuses beyond wrong types: values never judged by, slips of the pen."""

import json

import pytest

from purgatory_conformance.running.campaign import Budget, Verdict, run_campaign
from purgatory_conformance.subjects.adapter_replies import decode_greeting, decode_reply
from purgatory_conformance.subjects.bundled.purgatory import PROFILE
from purgatory_conformance.subjects.fault import Fault
from purgatory_conformance.subjects.in_process import InProcessSubject, Instance
from purgatory_conformance.subjects.profile_rules import problem_of
from purgatory_conformance.subjects.subject import FailureKind, SubjectFailure, profile_of
from purgatory_spec import profiles
from purgatory_spec.messages import Implementation

THREAD = profiles.PurgatoryProfile(executor=profiles.Executor.THREAD)
NO_POOL = profiles.MemoryPoolProfile(features=frozenset({profiles.MemoryPoolFeature.CONSTRUCT}))


def greeting(components: dict[str, object]) -> bytes:
    reply = {"id": 1, "protocol": 1, "implementation": {"name": "x"}, "components": components}
    return json.dumps(reply).encode()


def refused(components: dict[str, object]) -> Fault:
    with pytest.raises(Fault) as raised:
        decode_greeting(greeting(components))
    return raised.value


@pytest.mark.parametrize(
    ("components", "sentence"),
    [
        (
            {"purgatory": {"executor": "thread"}},
            "a purgatory is judged with a stepped or an inline executor",
        ),
        (
            {"purgatory": {"executor": "threads"}},
            "a purgatory is judged with a stepped or an inline executor",
        ),
        (
            {"timer": {"executor": "threads", "same_tick_order": "fifo"}},
            "several threads keep no order: declare one of the two",
        ),
        (
            {"timer": {"executor": "threads", "features": ["script_throw", "script_add"]}},
            "'executor' is declared to be 'threads', with script_add; what tasks do",
        ),
        (
            {"timer": {"rounding": "exact", "structure": "delay_queue_wheel"}},
            "'rounding' is declared to be 'exact' and 'structure' to be 'delay_queue_wheel'; ",
        ),
        (
            {"purgatory": {"rounding": "exact", "structure": "delay_queue_wheel"}},
            "such a wheel has a tick: declare one of the two",
        ),
        (
            {"purgatory": {"check_order": "free", "features": ["script_throw"]}},
            "declare 'throwing_try' 'go_on', or leave out script_throw",
        ),
        (
            {"timer": {"features": ["script_throw_severe"]}},
            "'script_throw_severe' is declared without 'script_throw', with which it goes",
        ),
        (
            {"purgatory": {"features": ["script_throw", "script_throw_severe"]}},
            "declare 'severe_throw' 'as_ordinary', or leave out script_throw_severe",
        ),
        (
            {
                "purgatory": {
                    "check_order": "free",
                    "throwing_try": "go_on",
                    "executor": "stepped",
                    "features": ["script_throw", "script_throw_severe"],
                }
            },
            "what a check has met that an exception ends is left to chance",
        ),
        ({"memory_pool": {}}, "declares none of the features 'strict', 'non_strict' and"),
        ({"memory_pool": {"features": ["construct"]}}, "declare at least one of them"),
        ({"channel_muting": {"features": ["strict"]}}, "neither of the features 'plain' and 'tls'"),
        ({"channel_muting": {"features": ["tls"]}}, "neither of the features 'non_strict' and"),
        (
            {"channel_muting": {"features": ["plain", "strict", "reset"]}},
            "declares the feature 'reset' without 'hang_up'",
        ),
    ],
)
def test_what_no_component_is_judged_by_is_refused(
    components: dict[str, object], sentence: str
) -> None:
    """Even beside a good one, it is refused with a sentence."""
    timer: dict[str, object] = {"timer": {}}
    for beside in (components, timer):
        fault = refused({**beside, **components})
        assert fault.kind is FailureKind.WRONG_TYPES
        assert sentence in fault.explanation


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("memory-pool", "memory_pool"),
        ("memorypool", "memory_pool"),
        ("MemoryPool", "memory_pool"),
        ("Timer", "timer"),
        ("purgatroy", "purgatory"),
    ],
)
def test_a_slip_of_the_pen_is_not_passed_over(name: str, meant: str) -> None:
    fault = refused({"timer": {}, name: {}})
    assert fault.explanation == f"'{name}' is no component; did you mean '{meant}'?"


def test_names_that_resemble_none_are_passed_over() -> None:
    """Ours alone are taken."""
    offered: dict[str, object] = {
        "timer": {"executor": "thread"},
        "purgatory": {"executor": "stepped"},
        "memory_pool": {"features": ["unbounded"]},
        "channel_muting": {"features": ["plain", "strict"]},
        "reaper": {},
        "from a later version": {},
    }
    assert set(decode_greeting(greeting(offered)).profiles) == set(profiles.Component)


@pytest.mark.parametrize(
    ("components", "advice"),
    [
        ({"timer": {"features": ["cancle"]}}, "; did you mean cancel?"),
        ({"timer": {"clock": "Wall"}}, "; did you mean wall?"),
        ({"timer": {"clock": "sundial"}}, "; allowed are 'manual', 'wall'"),
        ({"purgatory": {"features": ["cancel_key"]}}, "; did you mean cancel_for_key"),
        ({"purgatory": {"observables": ["entrys"]}}, "; did you mean entries"),
    ],
)
def test_a_wrong_word_is_answered_with_the_nearest(
    components: dict[str, object], advice: str
) -> None:
    """The nearest allowed word is named, or all where none is near."""
    fault = refused(components)
    assert fault.kind is FailureKind.WRONG_TYPES
    assert advice in fault.explanation


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        (b'{"id":1,"observed":{"size":1,"keys":"two"}}', "the observable 'keys' is \"two\"; "),
        (b'{"id":1,"observed":{"size":1,"keys":2.5}}', "the observable 'keys' is 2.5; "),
        (b'{"id":1,"observed":{"keys":{"a":1}}}', "the observable 'keys' is {\"a\": 1}; "),
        (b'{"id":1,"observed":{"size":"9007199254740993","keys":"2"}}', "'keys' is \"2\"; "),
    ],
)
def test_an_observable_of_a_wrong_type_is_named(line: bytes, sentence: str) -> None:
    """The sentence names it and says what is allowed."""
    with pytest.raises(Fault) as raised:
        decode_reply(line)
    assert sentence in raised.value.explanation
    assert "is an integer, true, false or null; compare" in raised.value.explanation


def in_process(profile: profiles.Profile) -> InProcessSubject:
    def make(configuration: profiles.Configuration) -> Instance:
        raise AssertionError(f"no instance is to be made: {configuration}")

    return InProcessSubject(
        Implementation("in process"), {profiles.component_of(profile): profile}, make
    )


@pytest.mark.parametrize("profile", [THREAD, NO_POOL], ids=["purgatory", "memory pool"])
def test_a_subject_in_process_gets_the_same_sentence(profile: profiles.Profile) -> None:
    """The subject failed, with the sentence that an adapter would get."""
    subject, component = in_process(profile), profiles.component_of(profile)
    with pytest.raises(SubjectFailure) as raised:
        profile_of(subject, component)
    assert raised.value.kind is FailureKind.WRONG_TYPES
    assert raised.value.explanation == problem_of(profile)
    campaign = run_campaign(subject, component, seed=1, budget=Budget())
    assert (campaign.verdict, campaign.verdict.exit_code) == (Verdict.SUBJECT_FAILED, 3)


@pytest.mark.parametrize(
    "profile",
    [
        profiles.TimerProfile(executor=profiles.Executor.THREAD),
        profiles.TimerProfile(
            executor=profiles.Executor.THREADS,
            rounding=profiles.Rounding.EXACT,
            already_due=profiles.AlreadyDue.NEXT_TICK,
            features=frozenset({profiles.Feature.CANCEL, profiles.Feature.SCRIPT_THROW}),
        ),
        PROFILE,
    ],
)
def test_other_profiles_have_no_problem(profile: profiles.Profile) -> None:
    """Given a profile by which a component is judged, when it is asked for, it is given."""
    assert problem_of(profile) == ""
    assert profile_of(in_process(profile), profiles.component_of(profile)) is profile
