// SPDX-License-Identifier: CC0-1.0
//! The timer behind the protocol: each step becomes a call. Change names until it calls yours.

use crate::heap_timer::{HeapTimer, TooLarge};
use crate::protocol::{Configuration, Event, Operation, Refusal};
use crate::Case;
use serde_json::{json, Value};
use std::collections::HashMap;
use std::rc::{Rc, Weak};

/// What is not declared here is neither asked for nor compared.
pub fn profile() -> Value {
    json!({
        "features": ["cancel", "readd", "change_delay", "elapse", "reachable"],
        "observables": ["size", "advance_result"],
    })
}

impl From<TooLarge> for Refusal {
    fn from(_: TooLarge) -> Self {
        Refusal::TooLarge
    }
}

pub struct TimerCase {
    timer: HeapTimer,
    tasks: HashMap<String, Rc<str>>,
    dropped: HashMap<String, Weak<str>>, // only the timer may still hold them
    events: Vec<Event>,
}

impl TimerCase {
    pub fn new(asked: &Configuration) -> Self {
        TimerCase {
            timer: HeapTimer::new(asked.tick_ms, asked.start_ms),
            tasks: HashMap::new(),
            dropped: HashMap::new(),
            events: Vec::new(),
        }
    }
}

impl Case for TimerCase {
    fn call(&mut self, asked: &Operation) -> Result<Value, Refusal> {
        match asked {
            Operation::Add { task, delay_ms } => {
                let task =
                    self.tasks.entry(task.clone()).or_insert_with(|| Rc::from(task.as_str()));
                self.timer.add(task, *delay_ms)?
            }
            Operation::Reachable { task } => {
                if let Some(known) = self.tasks.remove(task) {
                    self.dropped.insert(task.clone(), Rc::downgrade(&known));
                }
                let count = self.dropped.get(task).map_or(0, Weak::strong_count);
                return Ok(json!(count > 0));
            }
            Operation::Cancel { task } => self.timer.cancel(task),
            Operation::Elapse { to_ms } => self.timer.now_ms = *to_ms,
            Operation::Advance { to_ms } => {
                self.timer.now_ms = *to_ms;
                let events = &mut self.events;
                return Ok(json!(self.timer.advance(|task| events.push(Event::new("ran", task)))));
            }
            _ => return Err(Refusal::Unsupported),
        }
        Ok(Value::Null)
    }

    fn events(&mut self) -> Vec<Event> {
        std::mem::take(&mut self.events)
    }

    fn observed(&mut self) -> Value {
        json!({"size": self.timer.size()})
    }
}
