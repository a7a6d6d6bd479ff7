"""Answers and tables of the studies of timers and of designs as a whole."""

from collections.abc import Iterator

from purgatory_lab.studies.figure_columns import (
    PURGES,
    WHEELS,
    each,
    listed,
    over_estimate,
    setting,
    stale_share,
    table,
)
from purgatory_lab.studies.reading import Rows, count, early_ms, mean, per_request, words
from purgatory_lab.studies.tables import Row


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
