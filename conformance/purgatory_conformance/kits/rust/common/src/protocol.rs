// SPDX-License-Identifier: CC0-1.0
//! The messages of the runner. What they mean is written in the adapter protocol.
#![allow(dead_code)] // a project reads the fields of its own components alone

use serde::{Deserialize, Serialize};

#[derive(Deserialize)]
#[serde(default)]
pub struct Configuration {
    pub tick_ms: i64,
    pub wheel_size: usize,
    pub start_ms: i64,
    pub purge_interval: usize,
    pub time_outs: bool,
    pub size_bytes: i64,
    pub max_single_bytes: i64,
    pub strict: bool,
}

impl Default for Configuration {
    fn default() -> Self {
        Configuration {
            tick_ms: 1,
            wheel_size: 20,
            start_ms: 0,
            purge_interval: 1000,
            time_outs: true,
            size_bytes: 100,
            max_single_bytes: 40,
            strict: false,
        }
    }
}

#[derive(Deserialize, Default)]
#[serde(default)]
pub struct Request {
    pub request: String,
    pub id: i64,
    pub component: String,
    pub configuration: Configuration,
    pub operation: Operation,
}

#[rustfmt::skip] // a line for each
#[derive(Deserialize, Default)]
#[serde(tag = "op", rename_all = "snake_case")]
pub enum Operation {
    Add { task: String, delay_ms: i64, #[serde(default)] script: Vec<Action> },
    Cancel { task: String },
    Elapse { to_ms: i64 },
    Advance { to_ms: i64, #[serde(default)] refuse: bool },
    RunOne,
    Wait { for_ms: u64 },
    Watch { operation: String, keys: Vec<String>, delay_ms: i64, script: Option<Script> },
    Check { key: String },
    CancelForKey { key: String },
    Force { operation: String },
    Satisfy { operation: String },
    Reachable { task: String },
    Allocate { buffer: String, size_bytes: i64, #[serde(default)] fail: bool },
    Release { buffer: String, form: Option<String> },
    ReleaseForeign { size_bytes: i64 },
    Fill { buffer: String, value: u8 },
    Read { buffer: String },
    Construct { size_bytes: i64, max_single_bytes: i64 },
    Shutdown,
    #[default]
    #[serde(other)]
    Unknown,
}

/// What an operation under test does when it is tried or completed.
#[derive(Deserialize, Default, Clone)]
#[serde(default)]
pub struct Script {
    pub tries: Vec<String>,
    pub on_try: Vec<Vec<Action>>,
    pub on_complete: Vec<Action>,
    pub on_expiration: Vec<Action>,
}

#[derive(Deserialize, Clone)]
#[serde(tag = "do", rename_all = "snake_case")]
pub enum Action {
    Add { task: String, delay_ms: i64 },
    Cancel { task: String },
    Advance,
    Meanwhile { call: Box<Action> },
    Watch { operation: String, keys: Vec<String>, delay_ms: i64 },
    Check { key: String },
    CancelForKey { key: String },
    Force { operation: String },
    Satisfy { operation: String },
}

/// Why the implementation refused.
#[derive(Serialize, Clone, Copy, Debug)]
#[serde(rename_all = "snake_case")]
pub enum Refusal {
    InvalidArgument,
    TooLarge,
    Closed,
    Refused,
    NoMemory,
    UnknownName,
    Internal,
    Unsupported,
}

/// An event of a step.
#[derive(Serialize, Clone)]
pub struct Event {
    pub kind: &'static str,
    pub task: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<Refusal>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at_ms: Option<i64>,
}

impl Event {
    pub fn new(kind: &'static str, task: &str) -> Self {
        Event { kind, task: task.to_string(), reason: None, at_ms: None }
    }
}
