// SPDX-License-Identifier: CC0-1.0
//! The runtime of a timer: on the real clock, or with `--virtual` on one that the runner moves.

use std::time::Duration;
use tokio::runtime::{Builder, Runtime};
use tokio::time::{sleep_until, Instant};

/// Whether the clock is paused: it then jumps to the next deadline where there is nothing to do.
pub fn is_virtual() -> bool {
    std::env::args().any(|argument| argument == "--virtual")
}

/// A runtime, and the moment at which its clock began.
pub struct Time {
    runtime: Runtime,
    began: Instant,
}

impl Time {
    pub fn new() -> Self {
        let mut builder = Builder::new_current_thread();
        builder.enable_time().start_paused(is_virtual()).event_interval(1 << 20); // all that is due
        let runtime = builder.build().expect("a runtime");
        let began = runtime.block_on(async { Instant::now() });
        Time { runtime, began }
    }

    /// Carries out a call in the runtime, and then lets time pass until so long after the beginning.
    pub fn run<T>(&self, until_ms: Option<u64>, call: impl FnOnce() -> T) -> T {
        self.runtime.block_on(async {
            let called = call();
            if let Some(ms) = until_ms {
                sleep_until(self.began + Duration::from_millis(ms)).await;
                tokio::task::yield_now().await; // to the tasks that are due at the same time
            }
            called
        })
    }

    pub fn now_ms(&self) -> u64 {
        self.runtime.block_on(async { self.began.elapsed().as_millis() as u64 })
    }

    pub fn began(&self) -> Instant {
        self.began
    }
}
