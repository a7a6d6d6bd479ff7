// SPDX-License-Identifier: CC0-1.0
//! The `DelayQueue` of tokio-util, on tokio's paused clock.

use std::collections::HashMap;
use std::future::poll_fn;
use std::task::Poll;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::runtime::{Builder, Runtime};
use tokio::task::unconstrained;
use tokio_util::time::DelayQueue;
use tokio_util::time::delay_queue::Key;

use crate::timer::{Kind, Timer};

pub const KIND: Kind = Kind {
    word: "delay-queue",
    name: "tokio-util DelayQueue",
    package: "tokio-util",
    source: "https://github.com/tokio-rs/tokio",
    profile: || {
        json!({
            "rounding": "exact", // a resolution of 1 ms, which cannot be chosen
            "negative_delay": "not_offered", // a Duration has no sign
            "larger_delay": "not_offered", // panics beyond 2^36 ms, as documented
            // The paused clock moves the queue with it: no "elapse". Nothing is called back.
            "features": ["cancel", "readd", "change_delay"],
            "observables": ["size"],
        })
    },
    make: || Box::new(Queue::new()),
};

struct Queue {
    runtime: Runtime,
    queue: DelayQueue<String>,
    armed: HashMap<String, Key>,
    ran: Vec<String>,
}

impl Queue {
    fn new() -> Self {
        let runtime = Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build()
            .expect("a runtime without threads");
        let queue = {
            let _entered = runtime.enter();
            DelayQueue::new()
        };
        Self {
            runtime,
            queue,
            armed: HashMap::new(),
            ran: vec![],
        }
    }

    /// Takes out of the queue what has expired, as a stream's consumer does.
    fn drain(&mut self) {
        let Self {
            runtime,
            queue,
            armed,
            ran,
        } = self;
        // tokio lets a task have 128 results in one go, and wakes it again; this asks for all.
        runtime.block_on(unconstrained(poll_fn(|context| {
            while let Poll::Ready(Some(expired)) = queue.poll_expired(context) {
                let task = expired.into_inner();
                armed.remove(&task);
                ran.push(task);
            }
            Poll::Ready(())
        })));
    }
}

impl Timer for Queue {
    fn add(&mut self, task: &str, delay_ms: u64) {
        let _entered = self.runtime.enter();
        let delay = Duration::from_millis(delay_ms);
        match self.armed.get(task) {
            Some(key) => self.queue.reset(key, delay),
            None => {
                let key = self.queue.insert(task.to_string(), delay);
                self.armed.insert(task.to_string(), key);
            }
        }
    }

    fn cancel(&mut self, task: &str) {
        let _entered = self.runtime.enter();
        if let Some(key) = self.armed.remove(task) {
            self.queue.remove(&key);
        }
    }

    fn advance(&mut self, by_ms: u64) {
        self.runtime
            .block_on(tokio::time::advance(Duration::from_millis(by_ms)));
        self.drain();
    }

    fn ran(&mut self) -> Vec<String> {
        std::mem::take(&mut self.ran)
    }

    fn observed(&self) -> Value {
        json!({"size": self.queue.len()})
    }
}
