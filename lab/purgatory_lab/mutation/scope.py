"""The modules that are mutated, the trials of their mutants, and the parts outside the scope.

One thread and a virtual clock decide what a mutated module does, but for the parts listed here,
name by name and line by line, each with the reason. Mutants of those parts are judged all the same,
and counted apart.

Two kinds of positions have no mutants. The first holds no behaviour: annotations, signatures,
protocols, decorators of abstract methods, and imports and decorators that only a type checker or
the compiler sees. The second is default values of arguments: the suite gives every argument.
"""

import ast
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

from purgatory_judge.case_judge import Deviation
from purgatory_lab.scheduling.yield_points import Size
from purgatory_spec.profiles import Component


@dataclass(frozen=True)
class Trial:
    """The trial of a mutant: the campaigns on one component of a subject of ours.

    ``maker`` is the function of ``purgatory_conformance.subjects.bundled`` that makes the subject.
    ``sizes`` are constants of the implementation that are smaller in this trial.
    """

    maker: str
    component: Component
    deviations: tuple[Deviation, ...] = ()
    sizes: tuple[Size, ...] = ()

    @property
    def name(self) -> str:
        """Return subject, component, and the smaller constants."""
        smaller = (f"{size.name} {size.value}" for size in self.sizes)
        return ", ".join([self.maker, self.component.value, *smaller])

    @property
    def as_users_run(self) -> bool:
        """Decide whether the trial is ``purgatory check bundled --suite standard``."""
        return self.maker == "bundled_subject" and self.as_shipped

    @property
    def as_shipped(self) -> bool:
        """Decide whether the trial is ``purgatory check --suite standard`` of a bundled subject."""
        return not self.sizes


IMPORT: Final = "import"
"""The stage before the first trial."""

TIMER = Trial("bundled_subject", Component.TIMER)
PURGATORY = Trial("bundled_subject", Component.PURGATORY)
INLINE = Trial("bundled_inline_subject", Component.TIMER)
INLINE_PURGATORY = Trial("bundled_inline_subject", Component.PURGATORY)
POOL = Trial("bundled_subject", Component.MEMORY_POOL)
AS_PUBLISHED = Trial(
    "bundled_proposal_subject",
    Component.PURGATORY,
    (
        Deviation(
            rule="PURGATORY-STALE-OPERATIONS",
            variant="stale_uncounted",
            replay="",
            reason="the estimate of the published design forgets what has expired and not run",
        ),
    ),
)


def _places(places: int) -> Size:
    return Size("purgatory_impl.chunks", "CHUNK", places, "lists have more than one chunk")


_HOLD_OF_TWO = Size(
    "purgatory_impl.timer", "_STEPS_PER_HOLD", 2, "a pass takes more than one hold of the lock"
)
_BATCH_OF_TWO = Size("purgatory_impl.task_queue", "BATCH", 2, "the queue has more than one batch")

SMALL_HOLDS = replace(TIMER, sizes=(_HOLD_OF_TWO,))
SMALL_BATCHES = tuple(replace(trial, sizes=(_BATCH_OF_TWO,)) for trial in (TIMER, INLINE))
SMALL_CHUNKS = tuple(replace(PURGATORY, sizes=(_places(places),)) for places in (2, 4, 8))

_TIMER = (TIMER, PURGATORY, INLINE, SMALL_HOLDS)
_EXECUTOR = (TIMER, PURGATORY, INLINE, *SMALL_BATCHES)
_PURGATORY = (PURGATORY, INLINE_PURGATORY, AS_PUBLISHED)
_LISTS = (PURGATORY, *SMALL_CHUNKS, AS_PUBLISHED)
_POOL = (POOL,)

MODULES: dict[str, tuple[Trial, ...]] = {
    "arguments": (TIMER, PURGATORY, POOL),
    "wheel": _TIMER,
    "bucket": _TIMER,
    "task": _TIMER,
    "timer": _TIMER,
    "executors": _EXECUTOR,
    "task_queue": _EXECUTOR,
    "chunks": _LISTS,
    "walks": _LISTS,
    "watchers": _LISTS,
    "watcher_lists": _LISTS,
    "delayed_operation": _PURGATORY,
    "accounting": _PURGATORY,
    "purgatory": _PURGATORY,
    "memory_pool": _POOL,
    "leak_detecting_memory_pool": _POOL,
    "unbounded_memory_pool": _POOL,
    "depletion": _POOL,
}
"""The modules that are mutated, each with the trials of its mutants, as users run them first."""

_LOCKS_ALONE = "locks; one thread never waits for one, and the thin ones are the compiled build's"

MODULES_LEFT_OUT: dict[str, str] = {
    "__init__": "names alone",
    "clocks": "real time and sleeping; of the virtual clock only its reading is deterministic",
    "exclusion": _LOCKS_ALONE,
    "guarded": "the locks of an operation; one thread alone never waits for one",
    "operation_locks": _LOCKS_ALONE,
    "left_operations": "one thread alone leaves nothing to others; planted races break it",
    "failures": "requests to end the program, in the main thread alone, and words for people",
    "stacks": "the size of a thread's stack, which no case makes small",
    "errors": "texts, and one reason code for each class",
    "compiler": "what the compiler alone reads",
    "callable_operation": "an addition, which no rule speaks of; it has tests of its own",
    "event_loops": "an addition, which no rule speaks of; it has tests of its own",
}
"""The modules that are not mutated, each with the reason."""


@dataclass(frozen=True)
class LeftOut:
    """An exclusion from a module's scope: a class, a function, or one line of either."""

    module: str
    definition: str
    reason: str
    line: str = ""

    @property
    def of_threads(self) -> bool:
        """Decide whether the exclusion is about a second thread."""
        return self.reason in _OF_THREADS

    @property
    def is_equivalent(self) -> bool:
        """Decide whether callers of one thread cannot tell a survivor from the original."""
        return self.reason in _EQUIVALENT

    def holds(self, module: str, definition: str, line: str) -> bool:
        """Decide whether the exclusion means a line of a function."""
        if module != self.module:
            return False
        if self.line:
            return (definition, line) == (self.definition, self.line)
        return f"{definition}.".startswith(f"{self.definition}.")


def _lines(module: str, definition: str, reason: str, *lines: str) -> tuple[LeftOut, ...]:
    """Return lines of a function that are left out for the same reason."""
    return tuple(LeftOut(module, definition, reason, line) for line in lines)


_THREAD = "a thread"
_REAPER = "the reaper's thread"
_ANSWERS_REAPER = "the answer is for the reaper's thread alone"
_STARTS_REAPER = "whether a second thread is started"
_WAKES_REAPER = "only a sleeping reaper's thread is concerned"
_LOCK = "which lock it is; one thread alone never waits for one"
_HOLD = "how many steps a lock is held; only threads that wait for it are concerned"
_FULL = "when a list is full; that bounds how long a lock is held, and no rule speaks of it"
_INTERRUPT = "an interrupt in the main thread; the suite's tasks throw ordinary exceptions"
_ORDER = "whether timer or lists come first is seen by other threads alone"
_ONE_EACH = "for a second timer or purgatory; no step is about two of them"
_FOR_PEOPLE = "words for people; they all have one reason code"
_SHOWN = "words for people, of which no rule speaks"
_DECLARED = "declares a field, which is set again before it is read"
_ROOM = "when entries move closer together; that is for memory, of which no rule speaks"
_PERCENT = "no rule says what the share in percent is; the sources disagree"
_MISUSE = "a mistake of the program that calls, which an error tells; no step makes it"
_ADDITION = "an addition, which no rule speaks of; it has tests of its own"
_RUN_BY_OTHERS = "for an operation that its user runs, instead of its timer; no step does"
_NETWORK = "only the network's line of memory asks, and no trial is of the network"
_LEAKED = "no rule speaks of how many were lost"
_CREDITED_MEANWHILE = "only where another thread has credited it meanwhile"
_COMPLETED_MEANWHILE = (
    "only where another thread completes the operation while it enters its lists, or a key fails"
)
_CLOSED_MEANWHILE = "only where another thread closes the purgatory meanwhile"
_TAKEN_MEANWHILE = (
    "only where another thread takes the entry out between the completion and the drop"
)
_WHICH_SHARD = (
    "the hash of a text differs from run to run, and the shard that it leads to cannot be seen"
)
_LOCKS = "how many locks there are; other threads alone are concerned"
_OF_THREADS: Final = frozenset(
    {
        _THREAD,
        _REAPER,
        _ANSWERS_REAPER,
        _STARTS_REAPER,
        _WAKES_REAPER,
        _LOCK,
        _HOLD,
        _ORDER,
        _CREDITED_MEANWHILE,
        _COMPLETED_MEANWHILE,
        _CLOSED_MEANWHILE,
        _TAKEN_MEANWHILE,
        _LOCKS,
    }
)
"""The reasons that are about a second thread."""

_EQUIVALENT: Final = frozenset({_DECLARED, _FULL, _ROOM, _WHICH_SHARD})
"""The reasons for which a survivor differs in memory and time alone."""

_COUNTS_EXPIRY = "operation._accounting.count_expiry()"
_MAKES_LOCK = "SectionLock() if COMPILED else pure(threading.Lock())"
_WHETHER_REAPER = "if not isinstance(self._clock, VirtualClock) if reaper is None else reaper:"

LEFT_OUT: tuple[LeftOut, ...] = (
    *_lines(
        "arguments",
        "configured",
        _MISUSE,
        "except TypeError:",
        'raise InvalidConfiguration(f"{name} is {value!r}; it must be a whole number") from None',
        "if largest is not None and whole > largest:",
        'raise InvalidConfiguration(f"{name} is {whole}; it must be at most {largest}")',
    ),
    *_lines(
        "arguments",
        "whole_ms",
        _MISUSE,
        "except TypeError:",
        "raise InvalidDelay(delay_ms) from None",
    ),
    LeftOut("arguments", "", _ADDITION, "_MILLISECOND: Final = timedelta(milliseconds=1)"),
    *_lines(
        "arguments",
        "whole_ms",
        _ADDITION,
        "if isinstance(delay_ms, timedelta):",
        "whole, rest = divmod(delay_ms, _MILLISECOND)",
        "if rest:",
        "raise InvalidDelay(delay_ms)",
    ),
    LeftOut("delayed_operation", "abandon", _ADDITION),
    LeftOut("delayed_operation", "_state_of", _SHOWN),
    LeftOut("delayed_operation", "DelayedOperation.__repr__", _SHOWN),
    LeftOut("task", "_state_of", _SHOWN),
    LeftOut("task", "_name_of", _SHOWN),
    *(
        LeftOut("task", f"{task}.__repr__", _SHOWN)
        for task in ("Task", "CallableTask", "OneShotTask")
    ),
    LeftOut("timer", "Timer.__repr__", _SHOWN),
    LeftOut("executors", "Executor.__repr__", _SHOWN),
    LeftOut("purgatory", "Purgatory.__repr__", _SHOWN),
    LeftOut("memory_pool", "SimpleMemoryPool.__repr__", _SHOWN),
    LeftOut("unbounded_memory_pool", "UnboundedMemoryPool.__repr__", _SHOWN),
    LeftOut("purgatory", "Purgatory.abandon", _ADDITION),
    LeftOut("timer", "", _MISUSE, "LARGEST_WHEEL_SIZE: Final = 2**20"),
    LeftOut("timer", "", _REAPER, "_PAUSE_SECONDS: Final = 1.0"),
    *_lines(
        "timer",
        "Timer.__init__",
        _MISUSE,
        "refuse_second_init(self)",
        'size = configured("wheel_size", wheel_size, least=2, largest=LARGEST_WHEEL_SIZE)',
    ),
    *_lines(
        "timer",
        "Timer.add",
        _MISUSE,
        'raise NotATask("a delayed operation is armed by the purgatory that watches it")',
        "if not can_be_called(task):",
        'raise NotATask(f"{task!r} is neither a task nor anything that can be called")',
    ),
    *_lines(
        "delayed_operation",
        "DelayedOperation.__init__",
        _MISUSE,
        'if self._given if COMPILED else getattr(self, "_given", False):',
        "refuse_second_init(self)",
        "self._given = False",
    ),
    LeftOut("delayed_operation", "belong_to", _MISUSE, "operation._given = True"),
    LeftOut("accounting", "Accounting.rest", _REAPER),
    LeftOut("accounting", "Accounting.count_expiry", _ADDITION),
    LeftOut("accounting", "Accounting.__init__", _ADDITION, "self._expired = 0"),
    LeftOut("delayed_operation", "_expire_under_lock", _ADDITION, _COUNTS_EXPIRY),
    *_lines("accounting", "Accounting.begin_time_out", _RUN_BY_OTHERS, "task._owed += 1"),
    *_lines("accounting", "Accounting._count_out", _RUN_BY_OTHERS, "task._owed -= 1"),
    *_lines(
        "purgatory",
        "Purgatory.__init__",
        _MISUSE,
        "refuse_second_init(self)",
        'interval = configured("purge_interval", purge_interval, least=0)',
    ),
    LeftOut("purgatory", "Purgatory.__reduce_ex__", _MISUSE),
    LeftOut("purgatory", "Purgatory.try_complete_else_watch", _MISUSE, "raise KeysAreText(keys)"),
    *_lines(
        "memory_pool",
        "SimpleMemoryPool.__init__",
        _MISUSE,
        "refuse_second_init(self)",
        'configured("window_ms", window_ms)',
    ),
    LeftOut("memory_pool", "SimpleMemoryPool.__reduce_ex__", _MISUSE),
    *_lines(
        "wheel",
        "Level.__init__",
        _DECLARED,
        "self.first_slot = 0",
        "self.first_ms = 0",
        "self.limit_ms = 0",
        "self.turn_ms = 0",
    ),
    *_lines("wheel", "Wheel.advance", _HOLD, "while left > 0:", "left -= 1"),
    LeftOut("bucket", "Bucket.__init__", _DECLARED, "self.expiry_ms = 0"),
    LeftOut("task", "Task.__init__", _DECLARED, "self._expiry_ms = 0"),
    LeftOut("executors", "Executor.__init__", _LOCK, f"self._lock = {_MAKES_LOCK}"),
    LeftOut("executors", "ThreadExecutor", _THREAD),
    LeftOut("executors", "join", _THREAD),
    LeftOut(
        "executors",
        "_run",
        _INTERRUPT,
        "if asks_to_leave(failure):",
    ),
    LeftOut("timer", "", _HOLD, "_STEPS_PER_HOLD: Final = 1024"),
    LeftOut("timer", "", _LOCK, f"_OWNER_CHANGE: Final = {_MAKES_LOCK}"),
    LeftOut("timer", "Timer.__init__", _LOCK, f"self._lock = {_MAKES_LOCK}"),
    LeftOut("timer", "Timer._reap", _REAPER),
    LeftOut("timer", "Timer._sleep_until_due", _REAPER),
    LeftOut("timer", "Timer._is_before_alarm", _WAKES_REAPER),
    LeftOut("timer", "Timer._add_quietly", _WAKES_REAPER, "if is_earlier:"),
    LeftOut(
        "timer",
        "Timer._add_quietly",
        _WAKES_REAPER,
        "if self._asleep and self._wheel.queued_buckets != queued:",
    ),
    LeftOut("timer", "Timer.__init__", _WAKES_REAPER, "self._asleep = False"),
    LeftOut("timer", "Timer.__init__", _STARTS_REAPER, _WHETHER_REAPER),
    LeftOut(
        "timer",
        "Timer.__init__",
        _REAPER,
        'self._reaper = threading.Thread(target=self._reap, name=f"{name}-reaper", daemon=True)',
    ),
    *_lines("timer", "Timer.__init__", _REAPER, "self._reaper.start()"),
    LeftOut(
        "timer",
        "Timer.__init__",
        _THREAD,
        "executor = self._own_executor = ThreadExecutor(name)",
    ),
    LeftOut("timer", "Timer.__init__", _WAKES_REAPER, "self._alarm_ms: int | None = None"),
    LeftOut("timer", "Timer.close", _WAKES_REAPER, "self._earlier.notify_all()"),
    *_lines(
        "timer",
        "Timer.close",
        _THREAD,
        "join(self._reaper, timeout_ms)",
        "self._own_executor.close(timeout_ms)",
    ),
    *_lines(
        "timer",
        "Timer._add_quietly",
        _WAKES_REAPER,
        "queued = self._wheel.queued_buckets",
        "is_earlier = self._is_before_alarm()",
        "self._earlier.notify_all()",
    ),
    LeftOut("timer", "Timer._adopt", _ONE_EACH, "elif owner is not self:"),
    LeftOut("timer", "Timer._adopt", _ONE_EACH, "raise TaskOfAnotherTimer"),
    LeftOut("timer", "Timer._adopt", _ONE_EACH, "if task._next is not None:"),
    LeftOut("timer", "Timer.advance", _HOLD, "if more:"),
    LeftOut("timer", "Timer.advance", _HOLD, "time.sleep(0)"),
    LeftOut("task_queue", "", _HOLD, "BATCH: Final = 1024"),
    LeftOut(
        "task_queue",
        "TaskQueue.put",
        _FULL,
        "if self._last.tasks and len(self._last.tasks) + count > BATCH:",
    ),
    LeftOut("task_queue", "TaskQueue.tasks", "no step asks which tasks wait"),
    LeftOut("chunks", "", _HOLD, "CHUNK: Final = 128"),
    LeftOut("chunks", "WatcherList.append", _FULL, "if len(last.operations) < CHUNK:"),
    LeftOut(
        "chunks",
        "WatcherList.put_in_order",
        _ROOM,
        "if before is not None and len(before.operations) + places - chunk.removed <= CHUNK:",
    ),
    LeftOut(
        "chunks",
        "WatcherList.put_in_order",
        _ROOM,
        "elif chunk.removed >= CHUNK // 8 and chunk.removed * 2 >= places:",
    ),
    LeftOut("walks", "Walk.__init__", _DECLARED, "self._end = 1"),
    LeftOut("walks", "Walk.__init__", _ROOM, "self._removed = False"),
    LeftOut("walks", "Walk._follow", _TAKEN_MEANWHILE, "self._tried = False"),
    LeftOut("walks", "Walk._drop_here", _ROOM, "self._removed = True"),
    LeftOut("walks", "Walk._remove_here", _ROOM, "self._removed = True"),
    LeftOut("watchers", "Shard.__init__", _LOCK, f"self.lock = {_MAKES_LOCK}"),
    LeftOut(
        "watcher_lists",
        "",
        _LOCKS,
        "_SHARDS: Final = 64",
    ),
    *_lines(
        "watcher_lists",
        "WatcherLists.sweep",
        _ANSWERS_REAPER,
        "removed = 0",
        "removed += swept",
        "return removed",
    ),
    LeftOut("watcher_lists", "WatcherLists.shard_of", _WHICH_SHARD),
    LeftOut(
        "delayed_operation",
        "DelayedOperation.__init__",
        _LOCK,
        "super().__init__(None if THIN else OperationLocks())",
    ),
    LeftOut(
        "delayed_operation",
        "belong_to",
        _ONE_EACH,
        "elif operation._accounting is not accounting:",
    ),
    LeftOut("delayed_operation", "belong_to", _ONE_EACH, "raise OperationOfAnotherPurgatory"),
    *_lines(
        "delayed_operation",
        "_start_time_out",
        _LOCK,
        "if operation._timer is None:",
        "operation._timer = timer",
    ),
    LeftOut("accounting", "Accounting.__init__", _LOCK, f"self._lock = {_MAKES_LOCK}"),
    LeftOut("accounting", "ExactAccounting.time_out_first", _ORDER),
    LeftOut("accounting", "ProposalAccounting.time_out_first", _ORDER),
    LeftOut("accounting", "", _REAPER, "_RETRY_MS: Final = 100"),
    LeftOut("accounting", "", _REAPER, "_POLL_MS: Final = 200"),
    LeftOut("accounting", "Accounting.__init__", _REAPER, "self._closed = False"),
    LeftOut("accounting", "Accounting.__init__", _REAPER, "self._asleep = False"),
    LeftOut("accounting", "Accounting.close", _REAPER),
    LeftOut(
        "accounting",
        "Accounting.post",
        _WAKES_REAPER,
        "due = self._asleep and self._stale > self._wake_above",
    ),
    LeftOut("accounting", "Accounting.post", _WAKES_REAPER, "if due:"),
    LeftOut("accounting", "Accounting.post", _WAKES_REAPER, "self._asleep = False"),
    LeftOut("accounting", "Accounting.post", _WAKES_REAPER, "self._wake_reaper()"),
    LeftOut("accounting", "Accounting._wake_reaper", _WAKES_REAPER),
    LeftOut("accounting", "Accounting._is_closed", _REAPER),
    LeftOut("accounting", "ExactAccounting.wait_for_purge", _REAPER),
    LeftOut("accounting", "ProposalAccounting.wait_for_purge", _REAPER),
    LeftOut("purgatory", "Purgatory.__init__", _STARTS_REAPER, _WHETHER_REAPER),
    LeftOut(
        "purgatory",
        "Purgatory.__init__",
        _REAPER,
        "self._clock: Clock = MonotonicClock() if timer is None else timer.clock",
    ),
    LeftOut(
        "purgatory",
        "Purgatory.__init__",
        _REAPER,
        'self._reaper = threading.Thread(target=self._reap, name=f"{name}-reaper", daemon=True)',
    ),
    LeftOut("purgatory", "Purgatory.__init__", _REAPER, "self._reaper.start()"),
    *_lines(
        "purgatory",
        "Purgatory.close",
        _REAPER,
        "self._accounting.close()",
        "join(self._reaper, timeout_ms)",
    ),
    *_lines(
        "purgatory",
        "Purgatory._append",
        _COMPLETED_MEANWHILE,
        "break",
        "if appended < len(keys):",
        "self._accounting.post(withdraw(operation, len(keys) - appended))",
    ),
    LeftOut(
        "purgatory", "Purgatory._finish_watch", _CLOSED_MEANWHILE, "self._drop_time_out(operation)"
    ),
    LeftOut("purgatory", "_first_of", _FOR_PEOPLE, "for further in failures[1:]:"),
    LeftOut(
        "purgatory",
        "_first_of",
        _FOR_PEOPLE,
        'failures[0].add_note(f"another operation of the same walk raised {words}")',
    ),
    LeftOut(
        "purgatory",
        "Purgatory._purge_if_due",
        _ANSWERS_REAPER,
        "return self._lists.sweep(self._accounting.post) == 0",
    ),
    LeftOut("purgatory", "Purgatory._purge_if_due", _ANSWERS_REAPER, "return False"),
    LeftOut("purgatory", "Purgatory._reap", _REAPER),
    LeftOut("memory_pool", "SimpleMemoryPool.__init__", _LOCK, f"self._lock = {_MAKES_LOCK}"),
    LeftOut("memory_pool", "SimpleMemoryPool._why_not_lent", _FOR_PEOPLE),
    LeftOut("leak_detecting_memory_pool", "LeakDetectingMemoryPool.leaked", _LEAKED),
    LeftOut(
        "leak_detecting_memory_pool",
        "LeakDetectingMemoryPool.__init__",
        _LEAKED,
        "self._leaked = 0",
    ),
    LeftOut(
        "leak_detecting_memory_pool",
        "LeakDetectingMemoryPool._credit_lost",
        _LEAKED,
        "self._leaked += int(lost > 0)",
    ),
    LeftOut(
        "leak_detecting_memory_pool",
        "LeakDetectingMemoryPool._credit_lost",
        _CREDITED_MEANWHILE,
        "lost = self._lost_bytes.popleft() if self._lost_bytes else 0",
    ),
    LeftOut(
        "leak_detecting_memory_pool",
        "LeakDetectingMemoryPool._credit_lost",
        "the log",
        "if lost:",
    ),
    LeftOut("memory_pool", "SimpleMemoryPool.depleted_percent", _PERCENT),
    LeftOut("depletion", "DrySpells.present_ms", _NETWORK),
    LeftOut("depletion", "DrySpells.percent", _PERCENT),
    LeftOut("depletion", "DrySpells._forget_before", _PERCENT),
    *_lines(
        "depletion",
        "DrySpells.end",
        _PERCENT,
        "if now_ms > since_ms:",
        "self._recent.append((since_ms, now_ms))",
    ),
    LeftOut(
        "depletion", "DrySpells.end", _PERCENT, "self._forget_before(now_ms - self._window_ms)"
    ),
    LeftOut(
        "unbounded_memory_pool",
        "",
        "free by POOL-UNBOUNDED-GRANTS",
        "UNBOUNDED_BYTES: Final = 2**63 - 1",
    ),
)
"""Everything that is left out: what takes a second thread, and what no rule speaks of."""


def left_out_of(module: str, definition: str, line: str) -> LeftOut | None:
    """Return the exclusion of a line of a function; None where it is in scope."""
    return next((each for each in LEFT_OUT if each.holds(module, definition, line)), None)


@dataclass(frozen=True)
class Span:
    """Positions from ``start`` up to ``end``, each a line from 1 and a column from 0."""

    start: tuple[int, int]
    end: tuple[int, int]

    def holds(self, position: tuple[int, int]) -> bool:
        """Decide whether a position lies inside."""
        return self.start <= position < self.end


_FOR_COMPILERS = {"final", "mypyc_attr"}
"""Decorators of classes that type checkers and the compiler look at, and the program does not."""


def type_spans(tree: ast.Module) -> tuple[Span, ...]:
    """Return the spans with nothing but types; default values of arguments lie inside."""
    return tuple(_type_spans(tree))


def _type_spans(tree: ast.Module) -> Iterator[Span]:
    for node in ast.walk(tree):
        match node:
            case ast.FunctionDef():
                abstract = "abstractmethod" in {_name(each) for each in node.decorator_list}
                start = _with_decorators(node) if abstract else _span(node).start
                yield Span(start, _span(node.body[0]).start)
            case ast.ClassDef() if "Protocol" in {_name(base) for base in node.bases}:
                yield _span(node)
            case ast.ClassDef():
                for decorator in node.decorator_list:
                    if _name(decorator) in _FOR_COMPILERS:
                        # From the sign before it on.
                        yield Span((decorator.lineno, 0), _span(decorator).end)
            case ast.AnnAssign(annotation=annotation):
                yield _span(annotation)
            case ast.If(test=ast.Name(id="TYPE_CHECKING")):
                yield _span(node)


def _name(node: ast.expr) -> str:
    """Return the identifier of a name or of a called name; empty for any other expression."""
    named = node.func if isinstance(node, ast.Call) else node
    return named.id if isinstance(named, ast.Name) else ""


def default_spans(tree: ast.Module) -> tuple[Span, ...]:
    """Return the spans of the default values of arguments."""
    return tuple(
        _span(default)
        for node in ast.walk(tree)
        if isinstance(node, ast.arguments)
        for default in (*node.defaults, *node.kw_defaults)
        if default is not None
    )


_SIMPLE_STATEMENTS = (
    ast.Expr,
    ast.Assign,
    ast.AugAssign,
    ast.Return,
    ast.Raise,
    ast.Delete,
    ast.Assert,
    ast.Break,
    ast.Continue,
)


def statement_spans(tree: ast.Module) -> tuple[Span, ...]:
    """Return the spans of simple statements, without imports, docstrings, slots, declarations."""
    return tuple(_statement_spans(tree))


def _statement_spans(tree: ast.Module) -> Iterator[Span]:
    for node in ast.walk(tree):
        match node:
            case ast.Expr(value=ast.Constant()) | ast.Assign(targets=[ast.Name(id="__slots__")]):
                pass
            case ast.AnnAssign(value=value):
                if value is not None:
                    yield _span(node)
            case ast.stmt() if isinstance(node, _SIMPLE_STATEMENTS):
                yield _span(node)


def definitions(tree: ast.Module) -> tuple[tuple[Span, str], ...]:
    """Return the functions and classes with their dotted names, outer ones first."""
    return tuple(_definitions(tree.body, ""))


def _definitions(body: list[ast.stmt], prefix: str) -> Iterator[tuple[Span, str]]:
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield Span(_with_decorators(node), _span(node).end), f"{prefix}{node.name}"
            yield from _definitions(node.body, f"{prefix}{node.name}.")


def _with_decorators(node: ast.FunctionDef | ast.ClassDef) -> tuple[int, int]:
    """Return the start of the first line, whether of a decorator or of the definition."""
    return min([node.lineno, *(each.lineno for each in node.decorator_list)]), 0


def _span(node: ast.expr | ast.stmt) -> Span:
    end_line, end_column = node.end_lineno, node.end_col_offset
    assert end_line is not None
    assert end_column is not None
    return Span((node.lineno, node.col_offset), (end_line, end_column))
