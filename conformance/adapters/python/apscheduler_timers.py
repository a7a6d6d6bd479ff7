# SPDX-License-Identifier: CC0-1.0
"""Jobs of APScheduler that are due at one date, on a clock that takes the place of ``datetime``."""

import logging
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime, timedelta, tzinfo
from importlib.metadata import version
from queue import SimpleQueue

import msgspec
from apscheduler.events import (
    EVENT_JOB_ERROR,
    EVENT_JOB_EXECUTED,
    EVENT_JOB_SUBMITTED,
    SchedulerEvent,
)
from apscheduler.executors.base import BaseExecutor
from apscheduler.executors.debug import DebugExecutor
from apscheduler.executors.pool import ThreadPoolExecutor
from apscheduler.jobstores.base import JobLookupError
from apscheduler.schedulers import base
from scripted_timer import VirtualClockTimer, subject

from purgatory_conformance.subjects.in_process import InProcessSubject
from purgatory_spec.profiles import (
    Configuration,
    Executor,
    Feature,
    LargerDelay,
    Observable,
    Rounding,
    SevereThrow,
    TimerProfile,
)

POOL = TimerProfile(
    rounding=Rounding.EXACT,  # dates, to the microsecond
    executor=Executor.THREADS,  # the default, a pool of ten
    larger_delay=LargerDelay.NOT_OFFERED,  # a date ends with the year 9999
    severe_throw=SevereThrow.AS_ORDINARY,  # whatever a job raises is logged, and told to listeners
    features=frozenset(
        {
            Feature.CANCEL,
            Feature.READD,  # add_job with replace_existing
            Feature.CHANGE_DELAY,
            Feature.ELAPSE,
            Feature.NEGATIVE_CLOCK,
            Feature.SCRIPT_THROW,
            Feature.SCRIPT_THROW_SEVERE,
        }
    ),
    observables=frozenset({Observable.SIZE}),
)
DEBUG = msgspec.structs.replace(
    POOL,
    executor=Executor.INLINE,  # the debug executor calls the job where it is submitted
    features=POOL.features | {Feature.SCRIPT_ADD, Feature.SCRIPT_CANCEL},
)
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class Scheduler(base.BaseScheduler):
    """A scheduler that the suite wakes up."""

    def shutdown(self, wait: bool = True) -> None:
        super().shutdown(wait)

    def wakeup(self) -> None:
        pass


class ApschedulerTimer(VirtualClockTimer):
    """A scheduler with jobs in memory; what is late runs nevertheless."""

    latest_ms = 2**47  # before the year 9999

    def __init__(self, configuration: Configuration, executor: BaseExecutor) -> None:
        super().__init__(configuration)
        self.submitted: list[SchedulerEvent] = []
        self.finished: SimpleQueue[SchedulerEvent] = SimpleQueue()
        timer = self

        class Clock(datetime):
            @classmethod
            def now(cls, tz: tzinfo | None = None) -> datetime:
                return timer.date(0).astimezone(tz)

        base.datetime = Clock  # type: ignore[misc,attr-defined]  # the module's own name for it
        self.scheduler = Scheduler(
            timezone=UTC,
            executors={"default": executor},
            job_defaults={"misfire_grace_time": None},
        )
        self.scheduler.add_listener(self.submitted.append, EVENT_JOB_SUBMITTED)
        self.scheduler.add_listener(self.finished.put, EVENT_JOB_EXECUTED | EVENT_JOB_ERROR)
        self.scheduler.start()

    def date(self, delay_ms: int) -> datetime:
        return EPOCH + timedelta(milliseconds=self.now_ms + delay_ms)

    def add(self, task: str, delay_ms: int) -> None:
        self.scheduler.add_job(
            self.run, "date", args=(task,), id=task, replace_existing=True,
            run_date=self.date(delay_ms),
        )  # fmt: skip

    def cancel(self, task: str) -> None:
        with suppress(JobLookupError):  # documented, for a job that is not there
            self.scheduler.remove_job(task)

    def advance(self, *, inside: bool = False) -> None:
        self.scheduler._process_jobs()  # what its thread does when it wakes up
        while self.submitted:
            self.submitted.pop()
            self.finished.get()

    def size(self) -> int:
        return len(self.scheduler.get_jobs())

    def close(self) -> None:
        self.scheduler.shutdown()


def apscheduler_subject(
    name: str, profile: TimerProfile, executor: Callable[[], BaseExecutor]
) -> InProcessSubject:
    logging.disable()  # what jobs raise
    source = "https://github.com/agronholm/apscheduler"

    def make(configuration: Configuration) -> ApschedulerTimer:
        return ApschedulerTimer(configuration, executor())

    return subject(name, version("apscheduler"), source, profile, make)


def pool_subject() -> InProcessSubject:
    return apscheduler_subject("APScheduler", POOL, ThreadPoolExecutor)


def debug_subject() -> InProcessSubject:
    return apscheduler_subject("APScheduler, DebugExecutor", DEBUG, DebugExecutor)
