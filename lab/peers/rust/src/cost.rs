//! What a stretch of work costs: processor time and time by the clock.

use serde_json::{Value, json};
use std::time::Instant;

/// The moment at which measuring began.
pub struct Start {
    thread_cpu_ns: u64,
    process_cpu_ns: u64,
    wall: Instant,
}

/// What has been used since then.
pub struct Cost {
    pub thread_cpu_ns: u64,
    process_cpu_ns: u64,
    wall_ns: u64,
}

impl Start {
    /// Gives back to the system what earlier requests have freed, then starts the clocks.
    pub fn after_cleaning() -> Start {
        return_freed_memory();
        Start {
            wall: Instant::now(),
            process_cpu_ns: processor_time_ns(libc::CLOCK_PROCESS_CPUTIME_ID),
            thread_cpu_ns: processor_time_ns(libc::CLOCK_THREAD_CPUTIME_ID),
        }
    }

    pub fn cost(&self) -> Cost {
        let thread_cpu_ns = processor_time_ns(libc::CLOCK_THREAD_CPUTIME_ID);
        let process_cpu_ns = processor_time_ns(libc::CLOCK_PROCESS_CPUTIME_ID);
        Cost {
            thread_cpu_ns: thread_cpu_ns - self.thread_cpu_ns,
            process_cpu_ns: process_cpu_ns - self.process_cpu_ns,
            wall_ns: self.wall.elapsed().as_nanos() as u64,
        }
    }
}

impl Cost {
    pub fn answer(&self, operations: usize, detail: Value) -> Value {
        json!({
            "operations": operations,
            "thread_cpu_ns": self.thread_cpu_ns,
            "process_cpu_ns": self.process_cpu_ns,
            "wall_ns": self.wall_ns,
            "detail": detail,
        })
    }
}

pub fn return_freed_memory() {
    // SAFETY: malloc_trim takes a number and touches only memory that is free.
    unsafe { libc::malloc_trim(0) };
}

fn processor_time_ns(clock: libc::clockid_t) -> u64 {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: the pointer is to a timespec that outlives the call.
    let failed = unsafe { libc::clock_gettime(clock, &mut time) };
    assert_eq!(failed, 0, "the clock {clock} cannot be read");
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}
