// SPDX-License-Identifier: CC0-1.0
//! The timer behind the protocol: each step becomes a call. Change names until it calls yours.

use crate::heap_timer::{HeapTimer, Refused};
use crate::protocol::{Action, Configuration, Event, Operation, Refusal};
use crate::{is_stepped, Case};
use serde_json::{json, Value};
use std::collections::{HashMap, VecDeque};
use std::rc::{Rc, Weak};

/// What is not declared here is neither asked for nor compared.
pub fn profile() -> Value {
    #[rustfmt::skip]
    let mut features = vec![
        "cancel", "readd", "change_delay", "elapse", "shutdown", "script_add", "script_cancel",
        "script_advance", "reachable",
    ];
    features.extend(is_stepped().then_some("refuse"));
    json!({
        "executor": if is_stepped() { "stepped" } else { "inline" },
        "features": features,
        "observables": ["size", "queued", "advance_result"],
    })
}

impl From<Refused> for Refusal {
    fn from(refused: Refused) -> Self {
        match refused {
            Refused::TooLarge => Refusal::TooLarge,
            Refused::Closed => Refusal::Closed,
            Refused::ExecutorIsFull => Refusal::Refused,
        }
    }
}

/// A timer, the tasks that it was told of, and their executor.
pub struct TimerCase {
    timer: HeapTimer,
    tasks: HashMap<String, Rc<str>>,
    scripts: HashMap<String, Vec<Action>>,
    dropped: HashMap<String, Weak<str>>, // only the timer may still hold them
    queue: VecDeque<Rc<str>>,            // expired, not yet run
    events: Vec<Event>,
}

impl TimerCase {
    pub fn new(asked: &Configuration) -> Self {
        TimerCase {
            timer: HeapTimer::new(asked.tick_ms, asked.start_ms), // a wheel takes the wheel_size, too
            tasks: HashMap::new(),
            scripts: HashMap::new(),
            dropped: HashMap::new(),
            queue: VecDeque::new(),
            events: Vec::new(),
        }
    }

    fn add(&mut self, name: &str, delay_ms: i64) -> Result<(), Refusal> {
        let task = self.tasks.entry(name.to_string()).or_insert_with(|| Rc::from(name));
        Ok(self.timer.add(task, delay_ms)?)
    }

    fn advance(&mut self, refuse: bool) -> Result<bool, Refusal> {
        let (queue, events) = (&mut self.queue, &mut self.events);
        let expired_any = self.timer.advance(|task| {
            if refuse {
                return Err(Refused::ExecutorIsFull);
            }
            queue.push_back(task.clone());
            events.extend(is_stepped().then(|| Event::new("expired", task)));
            Ok(())
        });
        while !is_stepped() && !self.queue.is_empty() {
            self.run_one();
        }
        Ok(expired_any?)
    }

    fn run_one(&mut self) {
        let Some(task) = self.queue.pop_front() else {
            return;
        };
        self.events.push(Event::new("ran", &task));
        for action in self.scripts.get(&*task).cloned().unwrap_or_default() {
            let reason = self.act(&action).err(); // it does not end the script
            if reason.is_some() {
                self.events.push(Event { reason, ..Event::new("rejected", &task) });
            }
        }
    }

    /// Carries out an action of a task.
    fn act(&mut self, action: &Action) -> Result<(), Refusal> {
        match action {
            Action::Add { task, delay_ms } => self.add(task, *delay_ms)?, // it keeps its script
            Action::Cancel { task } => self.timer.cancel(task),
            Action::Advance => {
                self.advance(false)?; // the clock keeps its reading
            }
            _ => return Err(Refusal::Internal),
        }
        Ok(())
    }
}

impl Case for TimerCase {
    fn call(&mut self, asked: &Operation) -> Result<Value, Refusal> {
        match asked {
            Operation::Add { task, delay_ms, script } => {
                self.add(task, *delay_ms)?;
                self.scripts.insert(task.clone(), script.clone()); // an absent one is empty
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
            Operation::Advance { to_ms, refuse } => {
                self.timer.now_ms = *to_ms;
                return Ok(json!(self.advance(*refuse)?));
            }
            Operation::RunOne => self.run_one(),
            Operation::Shutdown => self.timer.shut_down(),
            _ => return Err(Refusal::Unsupported),
        }
        Ok(Value::Null)
    }

    fn events(&mut self) -> Vec<Event> {
        std::mem::take(&mut self.events)
    }

    fn observed(&mut self) -> Value {
        json!({"size": self.timer.size(), "queued": self.queue.len()})
    }
}
