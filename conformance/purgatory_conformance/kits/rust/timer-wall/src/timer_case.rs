// SPDX-License-Identifier: CC0-1.0
//! The timer behind the protocol: each step becomes a call. Change names until it calls yours.
//!
//! On the real clock time passes in `wait`. On the paused one the runner moves the same timer's clock.

use crate::protocol::{Configuration, Event, Operation, Refusal};
use crate::ticking_timer::{TickingTimer, TooLarge};
use crate::virtual_time::{is_virtual, Time};
use crate::Case;
use serde_json::{json, Value};
use std::sync::{Arc, Mutex};

/// What is not declared here is neither asked for nor compared.
pub fn profile() -> Value {
    json!({
        "rounding": "exact",
        "executor": "threads",
        "clock": if is_virtual() { "manual" } else { "wall" },
        "features": ["cancel", "readd", "change_delay"],
        "observables": ["size"],
    })
}

impl From<TooLarge> for Refusal {
    fn from(_: TooLarge) -> Self {
        Refusal::TooLarge
    }
}

pub struct TimerCase {
    time: Time,
    start_ms: i64,
    timer: TickingTimer,
    ran: Arc<Mutex<Vec<Event>>>,
}

impl TimerCase {
    pub fn new(asked: &Configuration) -> Self {
        let time = Time::new();
        let ran = Arc::new(Mutex::new(Vec::new()));
        let (began, noted) = (time.began(), ran.clone());
        let run = move |task: &str| {
            let mut event = Event::new("ran", task);
            event.at_ms = (!is_virtual()).then(|| began.elapsed().as_millis() as i64);
            noted.lock().unwrap().push(event);
        };
        let timer = TickingTimer::new(run);
        TimerCase { time, start_ms: asked.start_ms, timer, ran }
    }
}

impl Case for TimerCase {
    fn call(&mut self, asked: &Operation) -> Result<Value, Refusal> {
        let (time, timer) = (&self.time, &self.timer);
        match asked {
            Operation::Add { task, delay_ms, .. } => time.run(None, || timer.add(task, *delay_ms))?,
            Operation::Cancel { task } => time.run(None, || timer.cancel(task)),
            Operation::Wait { for_ms } => time.run(Some(time.now_ms() + for_ms), || ()),
            Operation::Advance { to_ms, .. } => {
                time.run(Some((to_ms - self.start_ms).max(0) as u64), || ());
            }
            _ => return Err(Refusal::Unsupported),
        }
        Ok(Value::Null)
    }

    fn now_ms(&self) -> Option<i64> {
        (!is_virtual()).then(|| self.time.now_ms() as i64)
    }

    fn events(&mut self) -> Vec<Event> {
        std::mem::take(&mut self.ran.lock().unwrap())
    }

    fn observed(&mut self) -> Value {
        json!({"size": self.timer.size()})
    }
}
