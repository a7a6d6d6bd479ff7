// SPDX-License-Identifier: CC0-1.0
//! The pool behind the protocol: each step becomes a call. Change names until it calls yours.

use crate::naive_memory_pool::{new_buffer, Buffer, MemoryPool, Refused};
use crate::protocol::{Configuration, Event, Operation, Refusal};
use crate::Case;
use serde_json::{json, Value};
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

/// What is not declared here is neither asked for nor compared.
pub fn profile() -> Value {
    json!({
        "release_validation": "identity",
        "features": [
            "strict", "non_strict", "construct", "release_again", "release_copy", "release_foreign", "elapse",
            "fail", "fill",
        ],
        "observables": [
            "available_bytes", "used_bytes", "size_bytes", "out_of_memory", "buffer_bytes",
            "depleted_spells", "depleted_ms",
        ],
    })
}

impl From<Refused> for Refusal {
    fn from(refused: Refused) -> Self {
        match refused {
            Refused::Invalid => Refusal::InvalidArgument,
            Refused::NoMemory => Refusal::NoMemory,
        }
    }
}

/// Stands in for the allocator where it is to fail.
fn no_memory(_: i64) -> Result<Buffer, Refused> {
    Err(Refused::NoMemory)
}

/// The byte that is everywhere, or -1.
fn all_over(memory: &[u8]) -> i64 {
    match memory.first() {
        Some(first) if memory.iter().all(|each| each == first) => i64::from(*first),
        _ => -1,
    }
}

/// A pool, and the buffers that it granted.
pub struct PoolCase {
    pool: MemoryPool,
    buffers: HashMap<String, Buffer>,
    buffer_bytes: Option<usize>, // what this step was granted
}

impl PoolCase {
    pub fn new(asked: &Configuration) -> Self {
        let made = MemoryPool::new(asked.size_bytes, asked.max_single_bytes, asked.strict);
        PoolCase {
            pool: made.expect("the runner asks for pools that can be made"),
            buffers: HashMap::new(),
            buffer_bytes: None,
        }
    }

    fn named(&self, buffer: &str) -> Result<&Buffer, Refusal> {
        self.buffers.get(buffer).ok_or(Refusal::UnknownName)
    }
}

impl Case for PoolCase {
    fn call(&mut self, asked: &Operation) -> Result<Value, Refusal> {
        self.buffer_bytes = None;
        match asked {
            Operation::Allocate { buffer, size_bytes, fail } => {
                self.pool.new_buffer = if *fail { no_memory } else { new_buffer };
                let granted = self.pool.try_allocate(*size_bytes)?;
                let answer = json!(granted.is_some());
                if let Some(granted) = granted {
                    self.buffer_bytes = Some(granted.borrow().len());
                    self.buffers.insert(buffer.clone(), granted);
                }
                return Ok(answer);
            }
            Operation::Release { buffer, form } => {
                let known = self.named(buffer)?.clone();
                match form.as_deref() {
                    Some("copy") => self.pool.release(&Rc::new(RefCell::clone(&known)))?, // other memory
                    _ => self.pool.release(&known)?,
                }
            }
            Operation::ReleaseForeign { size_bytes } => {
                self.pool.release(&new_buffer(*size_bytes)?)?;
            }
            Operation::Fill { buffer, value } => self.named(buffer)?.borrow_mut().fill(*value),
            Operation::Read { buffer } => {
                return Ok(json!(all_over(&self.named(buffer)?.borrow())));
            }
            Operation::Construct { size_bytes, max_single_bytes } => {
                MemoryPool::new(*size_bytes, *max_single_bytes, false)?;
            }
            Operation::Elapse { to_ms } => self.pool.now_ms = *to_ms,
            _ => return Err(Refusal::Unsupported),
        }
        Ok(Value::Null)
    }

    fn events(&mut self) -> Vec<Event> {
        Vec::new()
    }

    fn observed(&mut self) -> Value {
        json!({
            "available_bytes": self.pool.available_bytes,
            "used_bytes": self.pool.size_bytes - self.pool.available_bytes,
            "size_bytes": self.pool.size_bytes,
            "out_of_memory": self.pool.available_bytes <= 0,
            "buffer_bytes": self.buffer_bytes,
            "depleted_spells": self.pool.depleted_spells,
            "depleted_ms": self.pool.depleted_ms,
        })
    }
}
