// SPDX-License-Identifier: CC0-1.0
//! The purgatory behind the protocol: each step becomes a call. Change names until it calls yours.

use crate::naive_purgatory::{DelayedOperation, Purgatory, Refused};
use crate::other_thread::OtherThread;
use crate::protocol::{Action, Configuration, Event, Operation, Refusal, Script};
use crate::script::{act, Scripted, Stage};
use crate::{is_stepped, Case};
use serde_json::{json, Value};
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::{Arc, Mutex, Weak};

/// What is not declared here is neither asked for nor compared.
pub fn profile() -> Value {
    #[rustfmt::skip]
    let mut features = vec![
        "force", "cancel_for_key", "rewatch", "duplicate_keys", "elapse", "shutdown", "no_time_outs",
        "script_watch", "script_check", "script_cancel_for_key", "script_force", "script_try",
        "script_meanwhile", "script_crosswise", "reachable",
    ];
    features.extend(is_stepped().then_some("refuse"));
    json!({
        "accounting": "exact",
        "check_drops": "as_passed",
        "executor": if is_stepped() { "stepped" } else { "inline" },
        "release_cancelled": "at_once",
        "features": features,
        "observables": [
            "entries", "keys", "stale_entries", "timer_size", "queued", "pending", "estimate",
            "callback_timer_size",
        ],
    })
}

impl From<Refused> for Refusal {
    fn from(refused: Refused) -> Self {
        match refused {
            Refused::Closed => Refusal::Closed,
            Refused::NoKeys => Refusal::InvalidArgument,
            Refused::ExecutorIsFull => Refusal::Refused,
        }
    }
}

/// An operation that follows a script.
struct ScriptedOperation {
    delay_ms: i64,
    completed: AtomicBool,
    scripted: Scripted,
    world: Weak<World>,
}

impl ScriptedOperation {
    fn world(&self) -> Arc<World> {
        self.world.upgrade().expect("the case goes on")
    }
}

impl DelayedOperation for ScriptedOperation {
    fn delay_ms(&self) -> i64 {
        self.delay_ms
    }

    fn completed(&self) -> &AtomicBool {
        &self.completed
    }

    fn try_complete(self: &Arc<Self>) -> bool {
        let world = self.world();
        self.scripted.tried(&world, || world.purgatory.force_complete(self))
    }

    fn on_complete(&self) {
        let world = self.world();
        *world.callback_timer_size.lock().unwrap() = Some(world.purgatory.timer_size());
        self.scripted.completed(&world);
    }

    fn on_expiration(&self) {
        self.scripted.timed_out(&self.world());
    }
}

/// A purgatory, and the operations that it was told of.
struct World {
    purgatory: Purgatory<ScriptedOperation>,
    operations: Mutex<HashMap<String, Arc<ScriptedOperation>>>,
    dropped: Mutex<HashMap<String, Weak<ScriptedOperation>>>, // only the purgatory may hold them
    events: Mutex<Vec<Event>>,
    others: OtherThread,
    callback_timer_size: Mutex<Option<usize>>, // as the last on_complete of a step began
}

impl Stage for Arc<World> {
    fn note(&self, event: Event) {
        self.events.lock().unwrap().push(event);
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
                named(self, operation, 0, &None).scripted.satisfy();
            }
            _ => return Err(Refusal::Internal),
        }
        Ok(())
    }

    fn meanwhile(&self, name: &str, call: &Action) {
        let (stage, name, call) = (self.clone(), name.to_string(), call.clone());
        self.others.call(move || act(&stage, &name, &[call]));
    }
}

/// The operation of a name; the step that introduces the name gives the script.
fn named(
    world: &Arc<World>,
    name: &str,
    delay_ms: i64,
    script: &Option<Script>,
) -> Arc<ScriptedOperation> {
    let mut operations = world.operations.lock().unwrap();
    let made = operations.entry(name.to_string()).or_insert_with(|| {
        Arc::new(ScriptedOperation {
            delay_ms,
            completed: AtomicBool::new(false),
            scripted: Scripted::new(name, script.clone().unwrap_or_default()),
            world: Arc::downgrade(world),
        })
    });
    made.clone()
}

pub struct PurgatoryCase(Arc<World>);

impl PurgatoryCase {
    pub fn new(asked: &Configuration) -> Self {
        PurgatoryCase(Arc::new(World {
            purgatory: Purgatory::new(
                asked.tick_ms,
                asked.start_ms,
                asked.purge_interval,
                asked.time_outs,
            ),
            operations: Mutex::new(HashMap::new()),
            dropped: Mutex::new(HashMap::new()),
            events: Mutex::new(Vec::new()),
            others: OtherThread::default(),
            callback_timer_size: Mutex::new(None),
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
                named(world, operation, 0, &None).scripted.satisfy();
            }
            Operation::Elapse { to_ms } => purgatory.now_ms.store(*to_ms, SeqCst),
            Operation::Advance { to_ms, refuse } => {
                purgatory.now_ms.store(*to_ms, SeqCst);
                for due in purgatory.advance(*refuse)? {
                    if is_stepped() {
                        world.note(Event::new("expired", &due.scripted.name));
                    }
                }
                while !is_stepped() && purgatory.run_one() {}
                purgatory.purge_if_due();
            }
            Operation::RunOne => {
                purgatory.run_one();
            }
            Operation::Reachable { task } => {
                let mut dropped = world.dropped.lock().unwrap();
                if let Some(known) = world.operations.lock().unwrap().remove(task) {
                    dropped.insert(task.clone(), Arc::downgrade(&known));
                }
                return Ok(json!(dropped.get(task).map_or(0, Weak::strong_count) > 0));
            }
            Operation::Shutdown => purgatory.closed.store(true, SeqCst),
            _ => return Err(Refusal::Unsupported),
        }
        Ok(Value::Null)
    }

    fn events(&mut self) -> Vec<Event> {
        std::mem::take(&mut *self.0.events.lock().unwrap())
    }

    fn settle(&self) {
        self.0.others.end_step();
    }

    fn observed(&mut self) -> Value {
        let purgatory = &self.0.purgatory;
        let pending = purgatory.timer_size() + purgatory.queued();
        json!({
            "entries": purgatory.entries(),
            "keys": purgatory.keys(),
            "stale_entries": purgatory.stale_entries(),
            "timer_size": purgatory.timer_size(),
            "queued": purgatory.queued(),
            "pending": pending,
            "estimate": pending + purgatory.stale_entries(),
            "callback_timer_size": self.0.callback_timer_size.lock().unwrap().take(),
        })
    }
}
