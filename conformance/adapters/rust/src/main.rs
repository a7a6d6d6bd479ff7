// SPDX-License-Identifier: CC0-1.0
//! The adapter: reads requests, answers them. Its argument names the timer.

mod delay_queue;
mod timer;
mod tokio_sleep;
mod wheel;
mod wheel_timer;

use std::io::{BufRead, Write};

use serde_json::{Value, json};
use timer::{Kind, Timer};

/// One timer, and the reading of the clock that only the suite moves.
struct Instance {
    timer: Box<dyn Timer>,
    now_ms: u64,
}

fn main() {
    let name = std::env::args().nth(1).unwrap_or_default();
    let Some(kind) = [
        wheel::KIND,
        delay_queue::KIND,
        tokio_sleep::KIND,
        wheel_timer::KIND,
    ]
    .into_iter()
    .find(|each| each.word == name) else {
        eprintln!("there is no timer {name:?}");
        std::process::exit(2);
    };
    let mut instance = None;
    for line in std::io::stdin().lock().lines().map_while(Result::ok) {
        if line.trim().is_empty() {
            continue;
        }
        let Some(reply) = answer(&line, &kind, &mut instance) else {
            return;
        };
        let mut replies = std::io::stdout().lock();
        if writeln!(replies, "{reply}")
            .and_then(|()| replies.flush())
            .is_err()
        {
            return;
        }
    }
}

/// The reply to a line; none to "stop".
fn answer(line: &str, kind: &Kind, instance: &mut Option<Instance>) -> Option<Value> {
    let request: Value = match serde_json::from_str(line) {
        Ok(request) => request,
        Err(error) => return Some(json!({"id": 0, "error": error.to_string()})),
    };
    let mut reply = match request["request"].as_str() {
        Some("stop") => return None,
        Some("hello") => hello(kind),
        Some("new") => begin(&request["configuration"], kind, instance),
        Some("do") => match instance {
            Some(instance) => carry_out(&request["operation"], instance),
            None => json!({"error": "a step before the first new"}),
        },
        Some("end") => {
            *instance = None;
            json!({})
        }
        other => json!({"unsupported": format!("there is no request {other:?} here")}),
    };
    reply["id"] = request["id"].clone();
    Some(reply)
}

fn hello(kind: &Kind) -> Value {
    json!({
        "protocol": 1,
        "implementation": {
            "name": kind.name, "version": version_of(kind.package), "language": "Rust",
            "source": kind.source,
        },
        "components": {"timer": (kind.profile)()},
    })
}

/// The release of a package that this program was built with, which the manifest pins.
fn version_of(package: &str) -> &'static str {
    let pinned = include_str!("../Cargo.toml")
        .lines()
        .find_map(|line| line.strip_prefix(package)?.split_once("\"="));
    pinned.map_or("", |(_, after)| after.split('"').next().unwrap_or_default())
}

fn begin(asked: &Value, kind: &Kind, instance: &mut Option<Instance>) -> Value {
    let Some(now_ms) = asked.get("start_ms").map_or(Some(0), Value::as_u64) else {
        return json!({"unsupported": "this clock does not begin below zero"});
    };
    *instance = Some(Instance {
        timer: (kind.make)(),
        now_ms,
    });
    json!({})
}

fn carry_out(operation: &Value, instance: &mut Instance) -> Value {
    let Instance { timer, now_ms } = instance;
    let task = operation["task"].as_str().unwrap_or_default();
    match operation["op"].as_str() {
        Some("add") => match operation["delay_ms"].as_u64() {
            Some(delay_ms) => timer.add(task, delay_ms),
            None => return json!({"unsupported": "a delay is an unsigned number"}),
        },
        Some("cancel") => timer.cancel(task),
        Some("advance") => {
            let to_ms = operation["to_ms"].as_u64().unwrap_or(*now_ms);
            timer.advance(to_ms - *now_ms);
            *now_ms = to_ms;
        }
        other => return json!({"unsupported": format!("there is no operation {other:?} here")}),
    }
    let events: Vec<_> = timer
        .ran()
        .into_iter()
        .map(|task| json!({"kind": "ran", "task": task}))
        .collect();
    json!({"events": events, "observed": timer.observed()})
}
