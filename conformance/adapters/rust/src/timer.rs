// SPDX-License-Identifier: CC0-1.0
//! What the adapter needs of a timer, and what it says of one.

use serde_json::Value;

pub trait Timer {
    /// Arms a task, or moves its arming.
    fn add(&mut self, task: &str, delay_ms: u64);
    /// Disarms a task; one that is not armed is no error.
    fn cancel(&mut self, task: &str);
    /// Lets this much time pass, and expires what is due.
    fn advance(&mut self, by_ms: u64);
    /// The tasks that ran since this was asked before.
    fn ran(&mut self) -> Vec<String>;
    /// What can be read of it, by the names of the protocol.
    fn observed(&self) -> Value;
}

pub struct Kind {
    pub word: &'static str,
    pub name: &'static str,
    pub package: &'static str,
    pub source: &'static str,
    pub profile: fn() -> Value,
    pub make: fn() -> Box<dyn Timer>,
}
