// SPDX-License-Identifier: CC0-1.0
//! A naive timer on a heap: put yours in its place. It knows nothing of the protocol.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

/// What a profile that says nothing of it promises to accept.
const LARGEST_DELAY_MS: i64 = i32::MAX as i64;

/// A delay that is too large.
#[derive(Debug)]
pub struct TooLarge;

/// Tasks by the tick in which they are due.
pub struct HeapTimer {
    tick_ms: i64,
    pub now_ms: i64, // a virtual clock: somebody else moves it
    heap: BinaryHeap<Reverse<(i64, u64, String)>>, // due tick, number of the arming, task
    pending: HashMap<String, u64>, // its arming; what else the heap holds is stale
    armings: u64,
}

impl HeapTimer {
    pub fn new(tick_ms: i64, start_ms: i64) -> Self {
        HeapTimer {
            tick_ms,
            now_ms: start_ms,
            heap: BinaryHeap::new(),
            pending: HashMap::new(),
            armings: 0,
        }
    }

    pub fn add(&mut self, task: &str, delay_ms: i64) -> Result<(), TooLarge> {
        if delay_ms > LARGEST_DELAY_MS {
            return Err(TooLarge);
        }
        self.armings += 1;
        self.pending.insert(task.to_string(), self.armings); // an earlier arming becomes stale
        let expiry_ms = self.now_ms + delay_ms;
        let due_tick = expiry_ms - expiry_ms.rem_euclid(self.tick_ms); // rounding "down", the default
        self.heap.push(Reverse((due_tick, self.armings, task.to_string())));
        Ok(())
    }

    pub fn cancel(&mut self, task: &str) {
        self.pending.remove(task); // an unknown task is no error
    }

    pub fn advance(&mut self, mut run: impl FnMut(&str)) -> bool {
        let mut ran_any = false;
        while self.heap.peek().is_some_and(|Reverse(due)| due.0 <= self.now_ms) {
            let Some(Reverse((_, arming, task))) = self.heap.pop() else {
                break;
            };
            if self.pending.get(&task) == Some(&arming) {
                self.pending.remove(&task);
                run(&task); // at once, in this thread: the executor "inline", the default
                ran_any = true;
            }
        }
        ran_any
    }

    pub fn size(&self) -> usize {
        self.pending.len()
    }
}
