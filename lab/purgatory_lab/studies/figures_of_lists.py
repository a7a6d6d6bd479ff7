"""Answers and tables of the studies of lists: purging, keys, references, late expiries."""

from collections.abc import Iterator

from purgatory_lab.studies.bundled import SHOWN
from purgatory_lab.studies.figure_columns import (
    PURGES,
    each,
    mean_and_most,
    over_estimate,
    setting,
    table,
    total,
)
from purgatory_lab.studies.reading import Rows, count, mean, per_event, per_request, words
from purgatory_lab.studies.tables import Row


def purge(rows: Rows) -> Iterator[str]:
    """Yield the figures of purge intervals."""

    def visited(design: str, interval: int) -> str:
        row = rows.one(design=design, purge_interval=interval)
        return words(per_request(row, "purge_visited"))

    yield (
        f"- **Too small** is costly in every design: with an interval of 10 the old design visits "
        f"{visited('old', 10)} entries for each request, the proposal {visited('proposal', 10)}, "
        f"ours {visited('exact', 10)}. The old one still visits {visited('old', 1_000)} with "
        f"1,000, because that is less than what is live; the proposal "
        f"{visited('proposal', 1_000)}, ours {visited('exact', 1_000)}."
    )
    old, proposal, exact = (
        rows.one(design=design, purge_interval=10_000) for design in ("old", "proposal", "exact")
    )
    yield (
        f"- **Too large** costs memory: with 10,000 there are up to "
        f"{words(count(old, 'stale_operations_most'))}, "
        f"{words(count(proposal, 'stale_operations_most'))} and "
        f"{words(count(exact, 'stale_operations_most'))} stale operations. Walks keep "
        f"it at that: each of the 1,000 keys is checked several times a second."
    )
    yield (
        "- The proposal's interval is in operations, ours in entries: with three keys the same "
        "number makes ours purge up to three times as often."
    )
    yield from table(
        rows.all(),
        setting("design", "design"),
        setting("interval", "purge_interval"),
        *PURGES,
        ("over-estimate: mean, most", over_estimate),
    )


def keys(rows: Rows) -> Iterator[str]:
    """Yield the figures of numbers of keys, and the cost for the caller."""

    def at(design: str, keys: int, interval: int = 1_000, layout: str = "own") -> Row:
        return rows.one(layout=layout, design=design, keys=keys, purge_interval=interval)

    def steps(design: str) -> str:
        found = [at(design, keys) for keys in (1, 1_000, 10_000)]
        values = [words(count(row, "caller_most_steps")) for row in found]
        return f"{', '.join(values[:-1])} and {values[-1]}"

    yield (
        f"- **The caller pays for the walk, not for the keys.** Who completes an operation that "
        f"has 1, 1,000 and 10,000 keys of its own takes {steps('proposal')} list steps; the other "
        f"entries are left to the purge. Unlinking them at once would take {steps('eager')}."
    )
    shared = [at(design, 10_000, layout="shared") for design in ("proposal", "exact", "eager")]
    proposal, exact, eager = (words(per_event(row, "caller_steps")) for row in shared)
    yield (
        f"- Where all requests wait under the same 10,000 keys, a walk meets everything that is "
        f"live, and what is stale: {proposal} steps for each event with the proposal, {exact} with "
        f"the exact accounting, {eager} when unlinking at once."
    )
    crowded, rare = at("exact", 10_000), at("exact", 10_000, 10_000_000)
    yield (
        f"- **With many keys, set the purge interval accordingly.** Ours counts entries, and one "
        f"completed operation with 10,000 keys exceeds an interval of 1,000: purges visit "
        f"{words(per_request(crowded, 'purge_visited'))} entries for each request. With 1,000 for "
        f"each key they visit {words(per_request(rare, 'purge_visited'))}; the proposal, which "
        f"counts operations, {words(per_request(at('proposal', 10_000), 'purge_visited'))}."
    )
    yield from table(
        rows.all(),
        setting("design", "design"),
        ("keys", _keys_of),
        setting("interval", "purge_interval"),
        ("caller's steps: mean, most", _caller),
        total("purges", "purges"),
        each("visited, a request", "purge_visited"),
        mean_and_most("stale operations: mean, most", "stale_operations"),
        total("entries, most", "entries_most"),
    )


def _keys_of(row: Row) -> str:
    keys = f"{count(row, 'keys'):,}"
    drawn = f"{keys} of {count(row, 'key_space'):,}"
    return {"own": f"{keys}, its own", "shared": f"{keys}, shared"}.get(str(row["layout"]), drawn)


def _caller(row: Row) -> str:
    return f"{words(per_event(row, 'caller_steps'))}, {words(count(row, 'caller_most_steps'))}"


def weak(rows: Rows) -> Iterator[str]:
    """Yield the figures of weak references."""
    often, rarely = (rows.one(design="weak", collection_ms=each) for each in (100, 1_000))
    proposal = rows.one(design="proposal")
    yield (
        f"- **What they cost.** A collection looks at every reference in the lists. With one every "
        f"100 ms that is {words(per_request(often, 'references_visited'))} references for each "
        f"request, besides the {words(per_request(often, 'purge_visited'))} entries that purges "
        f"visit; the proposal's purges visit {words(per_request(proposal, 'purge_visited'))}, "
        f"and that is all."
    )
    yield (
        f"- **What they save** is that a stale entry holds no operation. The entries are held all "
        f"the same, and for longer, because nobody knows of them before the next collection: up "
        f"to {words(count(often, 'stale_entries_most'))} stale ones with a collection every "
        f"100 ms, {words(count(rarely, 'stale_entries_most'))} with one every second, "
        f"{words(count(proposal, 'stale_entries_most'))} with the proposal."
    )
    yield from table(
        rows.all(),
        setting("design", "design"),
        (
            "collection, every ms",
            lambda row: words(count(row, "collection_ms")) if row["design"] == "weak" else "-",
        ),
        each("references, a request", "references_visited"),
        total("purges", "purges"),
        each("visited, a request", "purge_visited"),
        mean_and_most("stale entries: mean, most", "stale_entries"),
        ("caller's steps: mean, most", _caller),
    )


def expiries(rows: Rows) -> Iterator[str]:
    """Yield the figures of expired requests that run late."""
    late = rows.one(design="proposal", expiries="after-purge-test")
    exact = rows.one(design="exact", expiries="after-purge-test")
    yield (
        f"- **Then the estimate is too low, and stays so.** A reset forgets what has left the "
        f"timer and has not run. The estimate is up to "
        f"{words(-count(late, 'over_distinct_least'))} below the operations in the lists, "
        f"{words(-mean(late, 'over_distinct'))} on average. The exact count is never below: "
        f"{words(count(exact, 'over_distinct_least'))} at least."
    )
    yield from table(
        rows.all(),
        setting("design", "design"),
        setting("expired requests run", "expiries"),
        (
            "estimate less distinct: least, mean, most",
            lambda row: (
                f"{words(count(row, 'over_distinct_least'))}, "
                f"{words(mean(row, 'over_distinct'))}, {words(count(row, 'over_distinct_most'))}"
            ),
        ),
        total("purges", "purges"),
        mean_and_most("stale operations: mean, most", "stale_operations"),
    )


def agreement(rows: Rows) -> Iterator[str]:
    """Yield the figures of the simulation beside the implementation."""
    pairs = [
        (rows.one(design=design), rows.one(design=f"bundled-{design}"))
        for design in ("proposal", "exact")
    ]
    columns = [
        name
        for name in pairs[0][0]
        if name in SHOWN or name.removesuffix("_least") in SHOWN
        or name.removesuffix("_most") in SHOWN or name.removesuffix("_sum") in SHOWN
    ]  # fmt: skip
    different = sum(ours[name] != its[name] for ours, its in pairs for name in columns)
    yield (
        f"- {len(pairs)} pairs, {len(columns)} counts each: {different} differ. `bundled` is "
        f"`purgatory_impl` on a virtual clock, without threads; its purges are due at the interval "
        f'(`purge_due="fixed"`), as those of the models are.'
    )
    yield from table(
        rows.all(),
        setting("design", "design"),
        total("completed", "completed"),
        total("expired", "expired"),
        total("wake-ups", "wake_ups"),
        total("purges", "purges"),
        total("visited", "purge_visited"),
        total("entries, most", "entries_most"),
        total("estimate less live, most", "over_live_most"),
    )
