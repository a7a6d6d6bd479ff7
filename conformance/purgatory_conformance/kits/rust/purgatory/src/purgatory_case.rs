// SPDX-License-Identifier: CC0-1.0
//! The purgatory behind the protocol: each step becomes a call. Change names until it calls yours.

use crate::naive_purgatory::{DelayedOperation, Purgatory, Refused};
use crate::protocol::{Action, Configuration, Event, Operation, Refusal, Script};
use crate::script::{Scripted, Stage};
use crate::Case;
use serde_json::{json, Value};
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::{Rc, Weak};

/// What is not declared here is neither asked for nor compared.
pub fn profile() -> Value {
    json!({
        "accounting": "exact",
        "check_drops": "as_passed",
        "release_cancelled": "at_once",
        "features": [
            "force", "cancel_for_key", "rewatch", "duplicate_keys", "elapse", "shutdown", "no_time_outs",
            "script_watch", "script_check", "script_cancel_for_key", "script_force", "script_try",
            "reachable",
        ],
        "observables": ["entries", "keys", "stale_entries", "timer_size", "pending", "estimate"],
    })
}

impl From<Refused> for Refusal {
    fn from(refused: Refused) -> Self {
        match refused {
            Refused::Closed => Refusal::Closed,
            Refused::NoKeys => Refusal::InvalidArgument,
        }
    }
}

/// An operation that follows a script.
struct ScriptedOperation {
    delay_ms: i64,
    completed: Cell<bool>,
    scripted: Scripted,
    world: Weak<World>,
}

impl ScriptedOperation {
    fn world(&self) -> Rc<World> {
        self.world.upgrade().expect("the case goes on")
    }
}

impl DelayedOperation for ScriptedOperation {
    fn delay_ms(&self) -> i64 {
        self.delay_ms
    }

    fn completed(&self) -> &Cell<bool> {
        &self.completed
    }

    fn try_complete(self: &Rc<Self>) -> bool {
        let world = self.world();
        self.scripted.tried(&world, || world.purgatory.force_complete(self))
    }

    fn on_complete(&self) {
        self.scripted.completed(&self.world());
    }

    fn on_expiration(&self) {
        self.scripted.timed_out(&self.world());
    }
}

/// A purgatory, and the operations that it was told of.
struct World {
    purgatory: Purgatory<ScriptedOperation>,
    operations: RefCell<HashMap<String, Rc<ScriptedOperation>>>,
    dropped: RefCell<HashMap<String, Weak<ScriptedOperation>>>, // only the purgatory may hold them
    events: RefCell<Vec<Event>>,
}

impl Stage for Rc<World> {
    fn note(&self, event: Event) {
        self.events.borrow_mut().push(event);
    }

    fn act(&self, action: &Action) -> Result<(), Refusal> {
        match action {
            Action::Watch { operation, keys, delay_ms } => {
                let named = named(self, operation, *delay_ms, &None);
                self.purgatory.try_complete_else_watch(&named, keys)?;
            }
            Action::Check { key } => {
                self.purgatory.check_and_complete(key);
            }
            Action::CancelForKey { key } => {
                self.purgatory.cancel_for_key(key);
            }
            Action::Force { operation } => {
                self.purgatory.force_complete(&named(self, operation, 0, &None));
            }
            Action::Satisfy { operation } => {
                named(self, operation, 0, &None).scripted.satisfied.set(true);
            }
        }
        Ok(())
    }
}

/// The operation of a name; the step that introduces the name gives the script.
fn named(
    world: &Rc<World>,
    name: &str,
    delay_ms: i64,
    script: &Option<Script>,
) -> Rc<ScriptedOperation> {
    let mut operations = world.operations.borrow_mut();
    let made = operations.entry(name.to_string()).or_insert_with(|| {
        Rc::new(ScriptedOperation {
            delay_ms,
            completed: Cell::new(false),
            scripted: Scripted::new(name, script.clone().unwrap_or_default()),
            world: Rc::downgrade(world),
        })
    });
    made.clone()
}

pub struct PurgatoryCase(Rc<World>);

impl PurgatoryCase {
    pub fn new(asked: &Configuration) -> Self {
        PurgatoryCase(Rc::new(World {
            purgatory: Purgatory::new(
                asked.tick_ms,
                asked.start_ms,
                asked.purge_interval,
                asked.time_outs,
            ),
            operations: RefCell::new(HashMap::new()),
            dropped: RefCell::new(HashMap::new()),
            events: RefCell::new(Vec::new()),
        }))
    }
}

impl Case for PurgatoryCase {
    fn call(&mut self, asked: &Operation) -> Result<Value, Refusal> {
        let world = &self.0;
        let purgatory = &world.purgatory;
        match asked {
            Operation::Watch { operation, keys, delay_ms, script } => {
                let named = named(world, operation, *delay_ms, script);
                return Ok(json!(purgatory.try_complete_else_watch(&named, keys)?));
            }
            Operation::Check { key } => return Ok(json!(purgatory.check_and_complete(key))),
            Operation::CancelForKey { key } => {
                let cancelled = purgatory.cancel_for_key(key);
                return Ok(cancelled.iter().map(|each| json!(each.scripted.name)).collect());
            }
            Operation::Force { operation } => {
                let named = named(world, operation, 0, &None);
                return Ok(json!(purgatory.force_complete(&named)));
            }
            Operation::Satisfy { operation } => {
                named(world, operation, 0, &None).scripted.satisfied.set(true);
            }
            Operation::Elapse { to_ms } => purgatory.now_ms.set(*to_ms),
            Operation::Advance { to_ms } => {
                purgatory.now_ms.set(*to_ms);
                purgatory.advance();
            }
            Operation::Reachable { task } => {
                let mut dropped = world.dropped.borrow_mut();
                if let Some(known) = world.operations.borrow_mut().remove(task) {
                    dropped.insert(task.clone(), Rc::downgrade(&known));
                }
                return Ok(json!(dropped.get(task).map_or(0, Weak::strong_count) > 0));
            }
            Operation::Shutdown => purgatory.closed.set(true),
            _ => return Err(Refusal::Unsupported),
        }
        Ok(Value::Null)
    }

    fn events(&mut self) -> Vec<Event> {
        self.0.events.take()
    }

    fn observed(&mut self) -> Value {
        let purgatory = &self.0.purgatory;
        json!({
            "entries": purgatory.entries(),
            "keys": purgatory.keys(),
            "stale_entries": purgatory.stale_entries(),
            "timer_size": purgatory.pending(),
            "pending": purgatory.pending(),
            "estimate": purgatory.pending() + purgatory.stale_entries(),
        })
    }
}
