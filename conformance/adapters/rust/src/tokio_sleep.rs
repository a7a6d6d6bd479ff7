// SPDX-License-Identifier: CC0-1.0
//! Tokio's `sleep`, each in a task of its own, on the paused clock.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::runtime::{Builder, Runtime};
use tokio::task::{JoinHandle, yield_now};
use tokio::time::{advance, sleep};

use crate::timer::{Kind, Timer};

pub const KIND: Kind = Kind {
    word: "tokio-sleep",
    name: "tokio sleep, paused clock",
    package: "tokio",
    source: "https://github.com/tokio-rs/tokio",
    profile: || {
        json!({
            "rounding": "exact", // a resolution of 1 ms, which cannot be chosen
            "executor": "threads", // a task for each; woken together, they run in any order
            "negative_delay": "not_offered", // a Duration has no sign
            "larger_delay": "not_offered", // documented: 2^36 ms and no more
            // The paused clock moves the timers with it: no "elapse".
            "features": ["cancel", "readd", "change_delay"],
            "observables": [], // nothing counts them
        })
    },
    make: || Box::new(Sleeps::new()),
};

struct Sleeps {
    runtime: Runtime,
    armed: HashMap<String, JoinHandle<()>>,
    ran: Arc<Mutex<Vec<String>>>,
}

impl Sleeps {
    fn new() -> Self {
        let runtime = Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build()
            .expect("a runtime without threads");
        Self {
            runtime,
            armed: HashMap::new(),
            ran: Arc::default(),
        }
    }

    /// Lets time pass, and every task run that can: a turn of the runtime runs up to 61 of them.
    fn turn(&mut self, by: Duration) {
        let turns = self.armed.len() / 61 + 2;
        self.runtime.block_on(async {
            advance(by).await;
            for _ in 0..turns {
                yield_now().await;
            }
        });
    }
}

impl Timer for Sleeps {
    fn add(&mut self, task: &str, delay_ms: u64) {
        self.cancel(task);
        let (ran, name) = (Arc::clone(&self.ran), task.to_string());
        let sleeping = self.runtime.spawn(async move {
            sleep(Duration::from_millis(delay_ms)).await;
            ran.lock().expect("no task panics").push(name);
        });
        self.armed.insert(task.to_string(), sleeping);
        self.turn(Duration::ZERO); // it begins to sleep
    }

    fn cancel(&mut self, task: &str) {
        if let Some(sleeping) = self.armed.remove(task) {
            sleeping.abort();
            self.turn(Duration::ZERO);
        }
    }

    fn advance(&mut self, by_ms: u64) {
        self.turn(Duration::from_millis(by_ms));
        self.armed.retain(|_, sleeping| !sleeping.is_finished());
    }

    fn ran(&mut self) -> Vec<String> {
        std::mem::take(&mut *self.ran.lock().expect("no task panics"))
    }

    fn observed(&self) -> Value {
        json!({})
    }
}
