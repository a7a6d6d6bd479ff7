// SPDX-License-Identifier: CC0-1.0
//! The hierarchical wheel of `hierarchical_hash_wheel_timer`, moved by its `ManualTimer`.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use hierarchical_hash_wheel_timer::manual_timer::ManualTimer;
use hierarchical_hash_wheel_timer::{
    ClosureTimer, OneShotClosureState, PeriodicClosureState, Timer as _,
};
use serde_json::{Value, json};

use crate::timer::{Kind, Timer};

pub const KIND: Kind = Kind {
    word: "hash-wheel",
    name: "hierarchical_hash_wheel_timer ManualTimer",
    package: "hierarchical_hash_wheel_timer",
    source: "https://github.com/Bathtor/rust-hash-wheel-timer",
    profile: || {
        json!({
            "rounding": "exact", // a resolution of 1 ms, which cannot be chosen
            "negative_delay": "not_offered", // a Duration has no sign
            "larger_delay": "not_offered", // what the wheels cannot hold goes to an overflow list
            "features": ["cancel", "readd", "change_delay"],
            "observables": [], // nothing counts the timers
        })
    },
    make: || Box::new(Wheel::new()),
};

/// The number of the arming makes an id unique, which is what the wheel asks for.
type Id = (String, u64);

struct Wheel {
    timer: ManualTimer<Id, OneShotClosureState<Id>, PeriodicClosureState<Id>>,
    armed: HashMap<String, u64>,
    armings: u64,
    ran: Arc<Mutex<Vec<String>>>,
}

impl Wheel {
    fn new() -> Self {
        Self {
            timer: ManualTimer::new(),
            armed: HashMap::new(),
            armings: 0,
            ran: Arc::default(),
        }
    }

    /// Calls queue up until the wheel is advanced, perhaps by nothing: take them now.
    fn settle(&mut self) {
        self.timer.advance_by(Duration::ZERO);
    }
}

impl Timer for Wheel {
    fn add(&mut self, task: &str, delay_ms: u64) {
        self.cancel(task);
        self.armings += 1;
        self.armed.insert(task.to_string(), self.armings);
        let (ran, name) = (Arc::clone(&self.ran), task.to_string());
        self.timer.timer_ref().schedule_action_once(
            (task.to_string(), self.armings),
            Duration::from_millis(delay_ms),
            move |_| ran.lock().expect("no task panics").push(name),
        );
        self.settle();
    }

    fn cancel(&mut self, task: &str) {
        if let Some(arming) = self.armed.remove(task) {
            self.timer.timer_ref().cancel(&(task.to_string(), arming));
            self.settle();
        }
    }

    fn advance(&mut self, by_ms: u64) {
        self.timer.advance_by(Duration::from_millis(by_ms));
    }

    fn ran(&mut self) -> Vec<String> {
        std::mem::take(&mut *self.ran.lock().expect("no task panics"))
    }

    fn observed(&self) -> Value {
        json!({})
    }
}
