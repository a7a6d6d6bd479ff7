"""The claims about the purgatory with threads, in both accountings."""

from collections.abc import Iterator
from dataclasses import replace
from typing import TypeVar

from purgatory_conformance.describing.words import counted
from purgatory_conformance.exploring.claims import KnownClaim, Looked, Sizes, looked
from purgatory_conformance.exploring.presets import (
    check_number,
    known_claims,
    numbered,
    preset_of,
)
from purgatory_conformance.reporting.concurrent.exact_story import narrate_exact
from purgatory_conformance.reporting.concurrent.proposal_story import narrate_proposal
from purgatory_model.concurrent.exact import instances as exact
from purgatory_model.concurrent.exact.claims import CLAIMS as EXACT_CLAIMS
from purgatory_model.concurrent.exact.model import ConcurrentExact, ExactInstance
from purgatory_model.concurrent.proposal import instances as proposal
from purgatory_model.concurrent.proposal.claims import CLAIMS as PROPOSAL_CLAIMS
from purgatory_model.concurrent.proposal.model import ConcurrentProposal
from purgatory_model.concurrent.proposal.state import ProposalInstance
from purgatory_spec.profiles import Accounting, Component

Instance = TypeVar("Instance", ProposalInstance, ExactInstance)


class ConcurrentPurgatoryClaims:
    """The claims about the purgatory with threads; see ``Shelf``."""

    component = Component.PURGATORY
    concurrent = True
    options = frozenset(
        {"operations", "keys", "accounting", "purge_interval", "callers", "completers"}
    )

    def known(self) -> Iterator[KnownClaim]:
        """Yield the claims of the published accounting, then the claims of the exact accounting."""
        yield from known_claims(
            PROPOSAL_CLAIMS, proposal.TRUE_CLAIMS, proposal.FALSE_CLAIMS, proposal.FAULTS
        )
        yield from known_claims(
            EXACT_CLAIMS,
            exact.TRUE_CLAIMS,
            exact.FALSE_CLAIMS,
            exact.FAULTS,
            "--accounting exact",
        )

    def look(self, name: str, sizes: Sizes, limit: int) -> Looked:
        """Explore a small instance with threads."""
        if sizes.accounting == Accounting.EXACT.value:
            return _look_exact(name, sizes, limit)
        return _look_proposal(name, sizes, limit)


def _look_proposal(name: str, sizes: Sizes, limit: int) -> Looked:
    presets = {**proposal.FALSE_CLAIMS, **proposal.FAULTS}
    preset, claim = preset_of(name, PROPOSAL_CLAIMS, proposal.TRUE_CLAIMS, presets)
    instance = _threads(preset, sizes, "c", "x")
    if sizes.operations is not None:
        # Every second operation needs two events, as in the instances that are known.
        thresholds = tuple(2 - number % 2 for number in range(1, sizes.operations + 1))
        instance = replace(instance, thresholds=thresholds)
    model = ConcurrentProposal(instance)
    words = _words(instance, len(instance.thresholds), "proposal")
    further = sorted(each.value for each in (*instance.features, *instance.defects))
    words += f"; {', '.join(further)}" if further else ""
    return looked(
        PROPOSAL_CLAIMS[claim][0],
        words,
        initial=model.initial(),
        steps=model.steps,
        broken=proposal.breaks(instance, claim),
        narrate=lambda counterexample: narrate_proposal(words, counterexample),
        limit=limit,
    )


def _look_exact(name: str, sizes: Sizes, limit: int) -> Looked:
    presets = {**exact.FALSE_CLAIMS, **exact.FAULTS}
    preset, claim = preset_of(name, EXACT_CLAIMS, exact.TRUE_CLAIMS, presets)
    instance = _threads(preset, sizes, "caller ", "completer ")
    if sizes.operations is not None:
        demanding = frozenset(n for n in instance.demanding if n <= sizes.operations)
        instance = replace(instance, operations=sizes.operations, demanding=demanding)
    model = ConcurrentExact(instance)
    words = _words(instance, instance.operations, "exact")
    further = [*sorted(instance.features), *sorted(instance.variants)]
    words += f"; {', '.join(further)}" if further else ""
    return looked(
        EXACT_CLAIMS[claim][0],
        words,
        initial=model.initial(),
        steps=model.steps,
        broken=exact.breaks(instance, claim),
        narrate=lambda counterexample: narrate_exact(words, counterexample),
        limit=limit,
    )


def _threads(preset: Instance, sizes: Sizes, caller: str, completer: str) -> Instance:
    """Return the instance with the threads, keys and interval that are given."""
    instance = preset
    for option, least in (("operations", 1), ("keys", 1), ("callers", 1), ("completers", 0)):
        check_number(option, getattr(sizes, option), least)
    if sizes.callers is not None:
        instance = replace(instance, callers=numbered(caller, sizes.callers))
    if sizes.completers is not None:
        instance = replace(instance, completers=numbered(completer, sizes.completers))
    if sizes.keys is not None:
        instance = replace(instance, keys=numbered("k", sizes.keys))
    if sizes.purge_interval is not None:
        instance = replace(instance, purge_interval=sizes.purge_interval)
    return instance


def _words(instance: ProposalInstance | ExactInstance, operations: int, accounting: str) -> str:
    threads = ", ".join((*instance.callers, *instance.completers))
    return (
        f"a purgatory with threads {threads}, accounting {accounting}, purge interval "
        f"{instance.purge_interval}, {counted(operations, 'operation')} under "
        f"{' and '.join(instance.keys)}"
    )
