// SPDX-License-Identifier: CC0-1.0
//! What an operation under test does when it is tried or completed.

use crate::protocol::{Action, Event, Refusal, Script};
use std::sync::Mutex;

/// Where events are noted and actions are carried out.
pub trait Stage {
    fn note(&self, event: Event);
    fn act(&self, action: &Action) -> Result<(), Refusal>;
    /// Has another thread make the call of an operation, while its callback stands still.
    fn meanwhile(&self, name: &str, call: &Action);
}

/// The script of one operation: an operation of yours calls these from its callbacks.
pub struct Scripted {
    pub name: String,
    progress: Mutex<Progress>, // two threads may try at once
}

struct Progress {
    script: Script,
    satisfied: bool,
}

impl Scripted {
    pub fn new(name: &str, script: Script) -> Self {
        let progress = Mutex::new(Progress { script, satisfied: false });
        Scripted { name: name.to_string(), progress }
    }

    pub fn satisfy(&self) {
        self.progress.lock().unwrap().satisfied = true;
    }

    /// A try: it completes the operation where the script says so.
    pub fn tried(&self, stage: &impl Stage, complete: impl FnOnce() -> bool) -> bool {
        stage.note(Event::new("tried", &self.name));
        let (completes, actions) = self.progress.lock().unwrap().next();
        act(stage, &self.name, &actions);
        completes && complete()
    }

    pub fn completed(&self, stage: &impl Stage) {
        stage.note(Event::new("completed", &self.name));
        let actions = self.progress.lock().unwrap().script.on_complete.clone();
        act(stage, &self.name, &actions);
    }

    pub fn timed_out(&self, stage: &impl Stage) {
        stage.note(Event::new("timed_out", &self.name));
        let actions = self.progress.lock().unwrap().script.on_expiration.clone();
        act(stage, &self.name, &actions);
    }
}

impl Progress {
    /// The answer of a try, which is settled before its actions, and these.
    fn next(&mut self) -> (bool, Vec<Action>) {
        let script = &mut self.script;
        let answer = script.tries.first().cloned().unwrap_or_default();
        if script.tries.len() > 1 {
            script.tries.remove(0); // the last answer stands for all later ones
        }
        let actions = match script.on_try.is_empty() {
            true => Vec::new(),
            false => script.on_try.remove(0),
        };
        (self.satisfied || answer == "complete", actions)
    }
}

pub fn act(stage: &impl Stage, name: &str, actions: &[Action]) {
    for action in actions {
        if let Action::Meanwhile { call } = action {
            stage.meanwhile(name, call);
        } else if let Err(refusal) = stage.act(action) {
            let reason = Some(refusal); // it does not end the script
            stage.note(Event { reason, ..Event::new("rejected", name) });
        }
    }
}
