// SPDX-License-Identifier: CC0-1.0
//! What an operation under test does when it is tried or completed.

use crate::protocol::{Action, Event, Refusal, Script};
use std::cell::{Cell, RefCell};

/// Where events are noted and actions are carried out.
pub trait Stage {
    fn note(&self, event: Event);
    fn act(&self, action: &Action) -> Result<(), Refusal>;
}

/// The script of one operation: an operation of yours calls these from its callbacks.
pub struct Scripted {
    pub name: String,
    pub satisfied: Cell<bool>,
    script: RefCell<Script>,
}

impl Scripted {
    pub fn new(name: &str, script: Script) -> Self {
        Scripted {
            name: name.to_string(),
            satisfied: Cell::new(false),
            script: RefCell::new(script),
        }
    }

    /// A try: it completes the operation where the script says so.
    pub fn tried(&self, stage: &impl Stage, complete: impl FnOnce() -> bool) -> bool {
        stage.note(Event::new("tried", &self.name));
        let mut script = self.script.borrow_mut();
        let answer = script.tries.first().cloned().unwrap_or_default();
        if script.tries.len() > 1 {
            script.tries.remove(0); // the last answer stands for all later ones
        }
        let completes = self.satisfied.get() || answer == "complete"; // settled before the actions
        let actions = match script.on_try.is_empty() {
            true => Vec::new(),
            false => script.on_try.remove(0),
        };
        drop(script); // an action may try this operation again
        self.act(stage, &actions);
        completes && complete()
    }

    pub fn completed(&self, stage: &impl Stage) {
        stage.note(Event::new("completed", &self.name));
        let actions = self.script.borrow().on_complete.clone();
        self.act(stage, &actions);
    }

    pub fn timed_out(&self, stage: &impl Stage) {
        stage.note(Event::new("timed_out", &self.name));
        let actions = self.script.borrow().on_expiration.clone();
        self.act(stage, &actions);
    }

    fn act(&self, stage: &impl Stage, actions: &[Action]) {
        for action in actions {
            if let Err(refusal) = stage.act(action) {
                let reason = Some(refusal); // it does not end the script
                stage.note(Event { reason, ..Event::new("rejected", &self.name) });
            }
        }
    }
}
