"""Answers and tables of all studies: designs, timers, lists, references, late expiries."""

from collections.abc import Iterator

from purgatory_lab.studies.bundled import SHOWN
from purgatory_lab.studies.reading import (
    PURGES,
    WHEELS,
    Rows,
    count,
    each,
    early_ms,
    listed,
    mean,
    mean_and_most,
    over_estimate,
    per_event,
    per_request,
    setting,
    stale_share,
    table,
    total,
    words,
)
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


def designs(rows: Rows) -> Iterator[str]:
    """Yield the figures of all designs, as requests come faster."""

    def at(design: str, rate: int, case: str = "high") -> Row:
        return rows.one(design=design, case=case, rate=rate)

    fast = {design: at(design, 100_000) for design in ("old", "proposal", "exact")}
    visited = {design: words(per_request(row, "purge_visited")) for design, row in fast.items()}
    yield (
        f"- **Purging by size is what broke the old design.** With 100,000 requests a second of "
        f"which half time out, its purges visit {visited['old']} entries for each request, and "
        f"{stale_share(fast['old'])} of these are stale. The proposal's visit "
        f"{visited['proposal']}, ours {visited['exact']}."
    )
    queues = [at(design, 100_000) for design in ("old", "proposal", "discontinuous")]
    old, wheel, buckets = (count(row, "queued_most") for row in queues)
    yield (
        f"- **The delay queue.** It holds up to {words(old)} requests in the old design, and up to "
        f"{words(wheel)} buckets with the wheel, {words(buckets)} with discontinuous buckets. The "
        f"levels of the heap passed for each request are {listed(queues, 'queue_steps')}."
    )
    slow = [at("proposal", rate, "low") for rate in (1_000, 10_000, 100_000)]
    yield (
        f"- **A tick of 1 ms is no busy checking.** The reaper wakes up "
        f"{listed(slow, 'wake_ups')} times for each request at 1,000, 10,000 and 100,000 "
        f"requests a second of which few time out, and not at all without requests; Kafka's polls "
        f"every 200 ms come on top."
    )
    low = at("proposal", 10_000, "low")
    bare = at("discontinuous", 10_000, "low")
    yield (
        f"- **Levels save wake-ups.** A request that is completed while it waits on level 2 never "
        f"makes a bucket of level 1. At 10,000 a second, few timing out, the wheel wakes up "
        f"{words(count(low, 'wake_ups'))} times and {words(count(low, 'popped_empty'))} of its "
        f"buckets are popped empty; discontinuous buckets wake up "
        f"{words(count(bare, 'wake_ups'))} times, and {words(count(bare, 'popped_empty'))} are "
        f"empty."
    )
    estimated, exact = at("proposal", 100_000, "low"), at("exact", 100_000, "low")
    yield (
        f"- **The over-estimate matters.** With 100,000 a second, few "
        f"timing out, the estimate is {words(mean(estimated, 'over_distinct'))} above the "
        f"operations in the lists on average and {words(count(estimated, 'over_distinct_most'))} "
        f"at most: walks remove operations, and the estimate is not told. So the proposal purges "
        f"{words(count(estimated, 'purges'))} times, and {stale_share(estimated)} of what it "
        f"visits is stale. Purges by an exact count: {words(count(exact, 'purges'))}."
    )
    yield from table(
        [row for rate in (10_000, 100_000) for row in rows.all(rate=rate)],
        setting("design", "design"),
        setting("case", "case"),
        setting("rate", "rate"),
        each("wake-ups, a request", "wake_ups"),
        each("heap levels, a request", "queue_steps"),
        *PURGES,
        ("over-estimate: mean, most", over_estimate),
    )


def wheel(rows: Rows) -> Iterator[str]:
    """Yield the figures of ticks and wheel sizes."""

    def at(tick_ms: int, wheel_size: int) -> Row:
        return rows.one(design="exact", case="high", tick_ms=tick_ms, wheel_size=wheel_size)

    chosen, small, large = at(1, 20), at(1, 2), at(1, 400)
    yield (
        f"- **A wheel that is too small** costs cascades, no more: with 2 buckets a request is put "
        f"again {words(per_request(small, 'reinserted'))} times, with 20 "
        f"{words(per_request(chosen, 'reinserted'))} times, with 400 never. Half time out."
    )
    yield (
        f"- **A wheel that is too large** has one level, which is as if there were none: up to "
        f"{words(count(large, 'queued_most'))} buckets in the queue instead of "
        f"{words(count(chosen, 'queued_most'))}, and {words(per_request(large, 'queue_steps'))} "
        f"heap levels for each request instead of {words(per_request(chosen, 'queue_steps'))}."
    )
    coarse, hopeless = at(50, 20), at(250, 20)
    yield (
        f"- **A tick that is too large** is the one mistake that is felt outside. Expiries are "
        f"rounded down, so requests expire {words(early_ms(chosen))}, {words(early_ms(coarse))} "
        f"and {words(early_ms(hopeless))} ms too early on average with ticks of 1, 50 and 250 ms. "
        f"A tick above the time-out lets {words(count(hopeless, 'expired_on_arrival'))} of "
        f"{words(count(hopeless, 'requests'))} expire as they arrive."
    )
    yield (
        f"- **A tick that is too small** costs wake-ups, and there is at most one for each tick: "
        f"{words(per_request(chosen, 'wake_ups'))} for each request with 1 ms, "
        f"{words(per_request(at(5, 20), 'wake_ups'))} with 5 ms, "
        f"{words(per_request(at(20, 20), 'wake_ups'))} with 20 ms."
    )
    yield from table(
        rows.all(case="high"),
        setting("design", "design"),
        setting("tick, ms", "tick_ms"),
        *WHEELS,
        (
            "too early, ms: mean, most",
            lambda row: f"{words(early_ms(row))}, {row['early_most_ms']}",
        ),
        ("expired", lambda row: f"{100 * per_request(row, 'expired'):.1f} %"),
    )


def time_outs(rows: Rows) -> Iterator[str]:
    """Yield the figures of long time-outs."""

    def again(time_out_ms: int, wheel_size: int) -> str:
        row = rows.one(design="exact", time_out_ms=time_out_ms, wheel_size=wheel_size)
        return words(per_request(row, "reinserted"))

    longest = rows.one(design="discontinuous", time_out_ms=600_000)
    wheel = rows.one(design="exact", time_out_ms=600_000, wheel_size=20)
    yield (
        f"- **The number of cascades is a logarithm**, as the proposal's author answers. When "
        f"everything expires, a request is put again {again(200, 20)} times in a wheel of 20 "
        f"buckets with a time-out of 200 ms, {again(30_000, 20)} times with 30 seconds, "
        f"{again(600_000, 20)} times with 10 minutes. Its base is the number of buckets, and it is "
        f"one less than said there: what waits on level k is put again k - 1 times at most."
    )
    yield (
        f"- **Discontinuous buckets** are put nowhere again; their queue grows with the time-out "
        f"instead, to {words(count(longest, 'queued_most'))} buckets where the wheel has "
        f"{words(count(wheel, 'queued_most'))}."
    )
    yield from table(
        rows.all(),
        setting("design", "design"),
        setting("time-out, ms", "time_out_ms"),
        *WHEELS,
        each("heap levels, a request", "queue_steps"),
    )
