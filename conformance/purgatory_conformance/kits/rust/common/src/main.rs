// SPDX-License-Identifier: CC0-1.0
//! Answers the runner: reads a request, has it carried out, writes the reply.

mod heap_timer; // only: timer virtual
mod memory_pool_case; // only: memory_pool
mod naive_memory_pool; // only: memory_pool
mod naive_purgatory; // only: purgatory
mod other_thread; // only: purgatory
mod protocol;
mod purgatory_case; // only: purgatory
mod script; // only: purgatory
mod ticking_timer; // only: timer wall
mod timer_case; // only: timer
mod virtual_time; // only: timer wall

use protocol::{Configuration, Event, Operation, Refusal, Request};
use serde_json::{json, Value};
use std::io::{BufRead, Write};
use std::panic::{catch_unwind, AssertUnwindSafe};

/// An instance that is made, asked step by step, and dropped.
pub trait Case {
    /// Calls the implementation; the result is null where there is none.
    fn call(&mut self, asked: &Operation) -> Result<Value, Refusal>;
    /// The events of the step, in the order in which they happened.
    fn events(&mut self) -> Vec<Event>;
    /// Waits for what another thread still does in this step.
    fn settle(&self) {}
    /// Reads a clock that moves by itself; none where the runner moves it.
    fn now_ms(&self) -> Option<i64> {
        None
    }
    /// Reads the declared observables.
    fn observed(&mut self) -> Value;
}

/// With --stepped what has expired waits until the runner has it run. // only: timer virtual or purgatory
fn is_stepped() -> bool { // only: timer virtual or purgatory
    std::env::args().any(|each| each == "--stepped") // only: timer virtual or purgatory
} // only: timer virtual or purgatory
 // only: timer virtual or purgatory
fn profiles() -> Value {
    let mut offered = json!({});
    offered["timer"] = timer_case::profile(); // only: timer
    offered["purgatory"] = purgatory_case::profile(); // only: purgatory
    offered["memory_pool"] = memory_pool_case::profile(); // only: memory_pool
    offered
}

fn new_case(component: &str, asked: &Configuration) -> Option<Box<dyn Case>> {
    match component {
        "timer" => Some(Box::new(timer_case::TimerCase::new(asked))), // only: timer
        "purgatory" => Some(Box::new(purgatory_case::PurgatoryCase::new(asked))), // only: purgatory
        "memory_pool" => Some(Box::new(memory_pool_case::PoolCase::new(asked))), // only: memory_pool
        _ => None,
    }
}

/// Carries out a step; the outcome with result or rejection, events and observables.
fn carry_out(case: &mut dyn Case, asked: &Operation) -> Value {
    let mut outcome = json!({});
    let called_ms = case.now_ms();
    let called = catch_unwind(AssertUnwindSafe(|| case.call(asked))); // nobody planned a panic
    case.settle();
    match called.unwrap_or(Err(Refusal::Internal)) {
        Ok(Value::Null) => {}
        Ok(result) => outcome["result"] = result,
        Err(Refusal::Unsupported) => {
            return json!({"unsupported": "there is no such operation here"})
        }
        Err(refusal) => outcome["rejected"] = json!(refusal),
    }
    if called_ms.is_some() {
        outcome["called_ms"] = json!(called_ms);
        outcome["returned_ms"] = json!(case.now_ms());
    }
    outcome["observed"] = case.observed();
    outcome["events"] = json!(case.events());
    outcome
}

fn answer(case: &mut Option<Box<dyn Case>>, asked: Request) -> Value {
    match (asked.request.as_str(), case) {
        ("hello", _) => json!({
            "protocol": 1,
            "implementation": {"name": "naive implementation", "version": "1", "language": "Rust"},
            "components": profiles(),
        }),
        ("new", case) => {
            *case = new_case(&asked.component, &asked.configuration); // replaces the one before
            json!({})
        }
        ("do", Some(case)) => carry_out(case.as_mut(), &asked.operation),
        ("end", _) => json!({}), // nothing is left to release here
        (other, _) => json!({"unsupported": format!("there is no request {other} here")}),
    }
}

fn main() {
    let mut case = None;
    for line in std::io::stdin().lock().split(b'\n').map_while(Result::ok) {
        if line.trim_ascii().is_empty() {
            continue;
        }
        let reply = match serde_json::from_slice::<Request>(&line) {
            Ok(asked) if asked.request == "stop" => return,
            Ok(asked) => {
                let id = asked.id;
                let answered = catch_unwind(AssertUnwindSafe(|| answer(&mut case, asked)));
                let mut reply = answered.unwrap_or_else(|_| json!({"error": "it panicked"}));
                reply["id"] = json!(id);
                reply
            }
            Err(error) => json!({"id": 0, "error": error.to_string()}),
        };
        let mut replies = std::io::stdout().lock();
        if writeln!(replies, "{reply}").and_then(|()| replies.flush()).is_err() {
            return; // the runner has gone
        }
    }
}
