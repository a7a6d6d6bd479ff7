# SPDX-License-Identifier: CC0-1.0
"""Timers of C libraries that the system has, called through ctypes, on the real clock."""

import ctypes
from ctypes import CFUNCTYPE, byref, c_char_p, c_int, c_long, c_short, c_size_t, c_uint64, c_void_p
from ctypes.util import find_library

import msgspec
from scripted_timer import RealClockTimer, subject

from purgatory_conformance.subjects.in_process import InProcessSubject
from purgatory_spec.profiles import (
    Clock,
    Configuration,
    Feature,
    LargerDelay,
    NegativeDelay,
    Observable,
    Rounding,
    TimerProfile,
)

PROFILE = TimerProfile(
    clock=Clock.WALL,
    rounding=Rounding.EXACT,  # libuv counts milliseconds, libevent microseconds
    lateness_ms=200,  # room for a busy machine
    negative_delay=NegativeDelay.NOT_OFFERED,  # libuv's has no sign; libevent's page is silent
    larger_delay=LargerDelay.NOT_OFFERED,  # any number that fits is a delay
    features=frozenset({Feature.CANCEL, Feature.READD, Feature.CHANGE_DELAY}),
)


def library(name: str, package: str) -> ctypes.CDLL:
    """Load a library of the system, or say which package of Debian has it."""
    path = find_library(name)
    if path is None:
        raise SystemExit(f"lib{name} is not installed: apt-get install {package}")
    return ctypes.CDLL(path)


UV_CALLBACK = CFUNCTYPE(None, c_void_p)
UV_TIMER = 13  # of uv_handle_type
UV_RUN_DEFAULT = 0


def libuv() -> ctypes.CDLL:
    uv = library("uv", "libuv1")
    uv.uv_loop_size.restype = uv.uv_handle_size.restype = c_size_t
    uv.uv_version_string.restype = c_char_p
    uv.uv_timer_start.argtypes = [c_void_p, UV_CALLBACK, c_uint64, c_uint64]
    return uv


class LibuvTimer(RealClockTimer):
    """The loop runs while the suite waits."""

    def __init__(self, configuration: Configuration) -> None:
        super().__init__(configuration)
        self.uv = libuv()
        self.loop = ctypes.create_string_buffer(self.uv.uv_loop_size())
        self.uv.uv_loop_init(self.loop)
        self.handles: dict[str, ctypes.Array[ctypes.c_char]] = {}
        self.callbacks: dict[str, object] = {}
        self.end = self.made_timer()
        self.stop = UV_CALLBACK(lambda _: self.uv.uv_stop(self.loop))

    def made_timer(self) -> "ctypes.Array[ctypes.c_char]":
        handle = ctypes.create_string_buffer(self.uv.uv_handle_size(UV_TIMER))
        self.uv.uv_timer_init(self.loop, handle)
        return handle

    def start(self, handle: object, callback: object, delay_ms: int) -> None:
        # Documented: what has passed outside of the loop is known to it after an update alone.
        self.uv.uv_update_time(self.loop)
        self.uv.uv_timer_start(handle, callback, delay_ms, 0)

    def add(self, task: str, delay_ms: int) -> None:
        if task not in self.handles:
            self.handles[task] = self.made_timer()
            self.callbacks[task] = UV_CALLBACK(lambda _: self.run(task))
        self.start(self.handles[task], self.callbacks[task], delay_ms)

    def cancel(self, task: str) -> None:
        if task in self.handles:
            self.uv.uv_timer_stop(self.handles[task])

    def wait(self, for_ms: int) -> None:
        self.start(self.end, self.stop, for_ms)
        self.uv.uv_run(self.loop, UV_RUN_DEFAULT)

    def close(self) -> None:
        for handle in (self.end, *self.handles.values()):
            self.uv.uv_close(handle, None)
        self.uv.uv_run(self.loop, UV_RUN_DEFAULT)
        self.uv.uv_loop_close(self.loop)


EVENT_CALLBACK = CFUNCTYPE(None, c_int, c_short, c_void_p)
EVENT_BASE_FLAG_PRECISE_TIMER = 0x20  # the default takes a clock that moves each 4 ms
EVENT_BASE_COUNT_ADDED = 4


class TimeValue(ctypes.Structure):
    _fields_ = (("seconds", c_long), ("microseconds", c_long))


def time_value(for_ms: int) -> TimeValue:
    return TimeValue(for_ms // 1000, for_ms % 1000 * 1000)


def libevent() -> ctypes.CDLL:
    event = library("event_core-2.1", "libevent-core-2.1-7")
    for name in ("event_config_new", "event_base_new_with_config", "event_new"):
        getattr(event, name).restype = c_void_p
    event.event_get_version.restype = c_char_p
    event.event_config_set_flag.argtypes = [c_void_p, c_int]
    event.event_new.argtypes = [c_void_p, c_int, c_short, EVENT_CALLBACK, c_void_p]
    event.event_add.argtypes = event.event_base_loopexit.argtypes = [c_void_p, c_void_p]
    event.event_base_loop.argtypes = [c_void_p, c_int]
    event.event_base_get_num_events.argtypes = [c_void_p, c_int]
    for name in ("event_config_free", "event_base_new_with_config", "event_base_free"):
        getattr(event, name).argtypes = [c_void_p]
    event.event_del.argtypes = event.event_free.argtypes = [c_void_p]
    return event


class LibeventTimer(RealClockTimer):
    """The base loops while the suite waits; its clock is the precise one."""

    def __init__(self, configuration: Configuration) -> None:
        super().__init__(configuration)
        self.event = libevent()
        asked = self.event.event_config_new()
        self.event.event_config_set_flag(asked, EVENT_BASE_FLAG_PRECISE_TIMER)
        self.base = self.event.event_base_new_with_config(asked)
        self.event.event_config_free(asked)
        self.timers: dict[str, int] = {}
        self.callbacks: dict[str, object] = {}

    def add(self, task: str, delay_ms: int) -> None:
        if task not in self.timers:
            self.callbacks[task] = EVENT_CALLBACK(lambda *_: self.run(task))
            self.timers[task] = self.event.event_new(self.base, -1, 0, self.callbacks[task], None)
        self.event.event_add(self.timers[task], byref(time_value(delay_ms)))

    def cancel(self, task: str) -> None:
        if task in self.timers:
            self.event.event_del(self.timers[task])

    def wait(self, for_ms: int) -> None:
        self.event.event_base_loopexit(self.base, byref(time_value(for_ms)))
        self.event.event_base_loop(self.base, 0)

    def size(self) -> int:
        count: int = self.event.event_base_get_num_events(self.base, EVENT_BASE_COUNT_ADDED)
        return count

    def close(self) -> None:
        for timer in self.timers.values():
            self.event.event_free(timer)
        self.event.event_base_free(self.base)


def libuv_subject() -> InProcessSubject:
    source = "https://github.com/libuv/libuv"
    version = libuv().uv_version_string().decode()
    return subject("libuv", version, source, PROFILE, LibuvTimer, "C")


def libevent_subject() -> InProcessSubject:
    version = libevent().event_get_version().decode()
    profile = msgspec.structs.replace(PROFILE, observables=frozenset({Observable.SIZE}))
    source = "https://github.com/libevent/libevent"
    return subject("libevent", version, source, profile, LibeventTimer, "C")
