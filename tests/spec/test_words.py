"""The words that operations and choices carry."""

from string import Formatter
from typing import get_args

import msgspec
import pytest

from purgatory_spec import profiles
from purgatory_spec.choices import Choice, Offer
from purgatory_spec.operations import Action, CallbackAction, Operation, Worded

WORDED: tuple[type[Worded], ...] = (*get_args(Operation), *get_args(Action | CallbackAction))
CHOICES = [
    each
    for each in vars(profiles).values()
    if isinstance(each, type) and issubclass(each, Choice | Offer) and list(each)
]


@pytest.mark.parametrize("kind", dict.fromkeys(WORDED), ids=lambda kind: kind.__name__)
def test_the_words_of_an_operation_name_each_of_its_fields(kind: type[Worded]) -> None:
    named = {name for _, name, _, _ in Formatter().parse(kind.says) if name}

    assert named == {field.name for field in msgspec.structs.fields(kind)}


@pytest.mark.parametrize("kind", CHOICES, ids=lambda kind: kind.__name__)
def test_each_choice_has_a_sentence_of_its_own(kind: type[Choice] | type[Offer]) -> None:
    sentences = [each.says for each in kind]

    assert all(sentences)
    assert len(set(sentences)) == len(sentences)
