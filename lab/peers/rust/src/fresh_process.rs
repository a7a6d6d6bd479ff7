//! Memory is measured in a process of its own: what an allocator has freed earlier changes what it takes later.

use crate::request::Request;
use serde_json::Value;
use std::io::{self, Write};
use std::process::{Command, Stdio};

/// After the peer's name: answer one request about memory, without a hello, and end.
pub const ONCE_ARGUMENT: &str = "memory-once";

/// Asks a new process of this program the same thing, once.
pub fn ask(peer: &str, request: &Request) -> Result<Value, String> {
    let output = run(peer, request).map_err(|fault| format!("the fresh process: {fault}"))?;
    let answer: Value = serde_json::from_slice(&output)
        .map_err(|fault| format!("the fresh process answered no JSON: {fault}"))?;
    match answer["error"].as_str() {
        Some(sentence) => Err(sentence.into()),
        None => Ok(answer),
    }
}

fn run(peer: &str, request: &Request) -> io::Result<Vec<u8>> {
    let mut child = Command::new(std::env::current_exe()?)
        .args([peer, ONCE_ARGUMENT])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    if let Some(mut input) = child.stdin.take() {
        input.write_all(request.line().as_bytes())?;
    }
    Ok(child.wait_with_output()?.stdout)
}
