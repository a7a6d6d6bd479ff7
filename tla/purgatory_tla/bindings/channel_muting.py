"""The channels of ``purgatory_model.concurrent.channel_muting.model`` beside ``ChannelMuting.tla``.

Both take as one step what the network thread does in one part of its round, and what a client or a
handler does at once. The faults that released Kafka has together are compared as well.
"""

from collections.abc import Callable
from dataclasses import replace

from purgatory_model.concurrent.channel_muting.instances import RELEASED_KAFKA, TWO_THREADS
from purgatory_model.concurrent.channel_muting.model import Channel, ChannelMuting, MutingState
from purgatory_tla.comparing.binding import Binding, Variable
from purgatory_tla.values.values import Value, function, sequence, to_tla


def _of_channels(words: str, value: Callable[[Channel], Value]) -> Variable[MutingState]:
    """Return a variable that is a function from channels, which are numbered from 1."""
    return Variable(
        words, lambda state: function({number: value(each) for number, each in state.numbered})
    )


def _channels(words: str, are: Callable[[Channel], bool]) -> Variable[MutingState]:
    """Return a variable that is a set of channels."""
    return Variable(
        words,
        lambda state: frozenset(number for number, each in state.numbered if are(each)),
    )


def _of_threads(state: MutingState, value: Callable[[int], Value]) -> Value:
    """Return a value that is a function from threads, which are numbered from 1."""
    return function({thread: value(thread) for thread in range(1, len(state.phases) + 1)})


def _channels_of_threads(words: str, are: Callable[[Channel], bool]) -> Variable[MutingState]:
    """Return a variable that is a function from threads to sets of their channels."""

    def value(state: MutingState) -> Value:
        threads = len(state.phases)
        return _of_threads(
            state,
            lambda thread: frozenset(
                number
                for number, each in state.numbered
                if are(each) and ChannelMuting(threads=threads).thread_of(number) == thread
            ),
        )

    return Variable(words, value)


VARIABLES: dict[str, Variable[MutingState]] = {
    "left": _of_channels("how many requests each client has still to send", lambda c: c.left),
    "sent": _of_channels("what there is to read of each channel", lambda c: c.sent.value),
    "buffered": _channels("the channels whose bytes TLS has taken", lambda c: c.is_buffered),
    "receive": _of_channels("how far each channel's request is", lambda c: c.receive.value),
    "muted": _of_channels(
        "the reasons to read nothing", lambda c: frozenset(each.value for each in c.muted)
    ),
    "handled": _channels("the channels whose request a handler has", lambda c: c.is_handled),
    "available": Variable("the bytes that the pool has left", lambda state: state.available_bytes),
    "line": Variable("who waits, in order", lambda state: sequence(state.line)),
    "phase": Variable(
        "what each network thread does next",
        lambda state: _of_threads(state, lambda thread: state.phase(thread).value),
    ),
    "keys": _channels_of_threads("what each selected and has not read", lambda c: c.is_selected),
    "looked": _channels_of_threads("what each has seen memory for", lambda c: c.is_looked_for),
    "woken": Variable("the threads whose select does not sleep", lambda state: state.woken),
}

ACTIONS = {
    "Announce": "a client sends the size of a request",
    "SendRest": "a client sends the rest of its request",
    "Poll": "the thread looks at the pool, and un-mutes",
    "Select": "the thread finds the channels that have something to read",
    "Read": "the thread reads one of them",
    "Done": "the thread has read all of them",
    "Release": "a handler gives the memory of a request back",
    "Respond": "the response of a request is complete",
}

IN_TWO_STEPS = {
    "Look": "the thread sees memory for one of them, and does not take it yet",
    "Take": "the thread takes the memory that it has seen",
}
"""The actions that only the variant ``looks-then-takes`` has, with their sentences."""


def binding() -> Binding[MutingState]:
    """Return three channels under TLS, first come first served; room for 1.5 requests."""
    return _bound(
        "channel-muting",
        "Channels that wait for memory: three under TLS, first come first served.",
        ChannelMuting(channels=3, pool_bytes=3, tls=True, requests=2),
    )


def released_binding() -> Binding[MutingState]:
    """Return a binding of three channels under TLS with the behaviour of released Kafka."""
    return _bound(
        "channel-muting-released",
        "Channels that wait for memory: three under TLS, as in released Kafka.",
        ChannelMuting(
            channels=3,
            pool_bytes=3,
            tls=True,
            requests=2,
            first_come=False,
            variants=RELEASED_KAFKA.variants,
        ),
    )


def two_threads_binding() -> Binding[MutingState]:
    """Return three channels under TLS on two threads that sleep, first come first served."""
    return _bound(
        "channel-muting-two-threads",
        "Channels that wait for memory: three under TLS on two threads that sleep.",
        ChannelMuting(channels=3, threads=2, tls=True, requests=1, sleeps=True),
    )


def small_two_threads_binding() -> Binding[MutingState]:
    """Return a binding of two channels on two threads that sleep, first come first served."""
    return _bound(
        "channel-muting-two-threads-small",
        "Channels that wait for memory: two under TLS on two threads that sleep.",
        TWO_THREADS,
    )


def small_two_threads_all_at_once_binding() -> Binding[MutingState]:
    """Return a binding of two channels on two threads that sleep, both of which ask again."""
    return _bound(
        "channel-muting-two-threads-all-at-once-small",
        "Channels that wait for memory: two on two threads that sleep, which ask again.",
        replace(TWO_THREADS, requests=1, first_come=False),
    )


def small_looks_then_takes_binding() -> Binding[MutingState]:
    """Return a binding of two threads that look at the pool and take in two steps."""
    return _bound(
        "channel-muting-looks-then-takes-small",
        "Channels that wait for memory: two threads that look and take in two steps.",
        replace(TWO_THREADS, requests=1, variants=frozenset({"looks-then-takes"})),
    )


def small_binding() -> Binding[MutingState]:
    """Return a binding of two channels under TLS, first come first served."""
    return _bound(
        "channel-muting-small",
        "Channels that wait for memory: two under TLS, first come first served.",
        ChannelMuting(tls=True),
    )


def small_all_at_once_binding() -> Binding[MutingState]:
    """Return a binding of two plain channels that all ask again when memory comes back."""
    return _bound(
        "channel-muting-all-at-once-small",
        "Channels that wait for memory: two, all of which ask again.",
        ChannelMuting(first_come=False),
    )


def small_three_channels_binding() -> Binding[MutingState]:
    """Return a binding of three plain channels, one of which fits into the pool at a time."""
    return _bound(
        "channel-muting-three-channels-small",
        "Channels that wait for memory: three, of which one finds a place.",
        ChannelMuting(channels=3, pool_bytes=1, request_bytes=1, requests=1),
    )


def small_released_binding() -> Binding[MutingState]:
    """Return a binding of two channels under TLS with the behaviour of released Kafka."""
    return _bound(
        "channel-muting-released-small",
        "Channels that wait for memory: two under TLS, as in released Kafka.",
        RELEASED_KAFKA,
    )


def _bound(name: str, title: str, model: ChannelMuting) -> Binding[MutingState]:
    return Binding(
        name=name,
        title=title,
        module="ChannelMutingHistory",
        constants=_constants(model),
        initial=model.initial(),
        steps=model.steps,
        variables=VARIABLES,
        actions=ACTIONS | (IN_TWO_STEPS if "looks-then-takes" in model.variants else {}),
    )


def _constants(model: ChannelMuting) -> dict[str, str]:
    features = {"tls"} if model.tls else set()
    if model.first_come:
        features.add("queue")
    if model.sleeps:
        features.add("sleeps")
    values: dict[str, object] = {
        "Channels": frozenset(range(1, model.channels + 1)),
        "Threads": model.threads,
        "PoolSize": model.pool_bytes,
        "Size": model.request_bytes,
        "Requests": model.requests,
        "Features": frozenset(features),
        "Defects": model.variants,
    }
    return {constant: to_tla(value) for constant, value in values.items()}
