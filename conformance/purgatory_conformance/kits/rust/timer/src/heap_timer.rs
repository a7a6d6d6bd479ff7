// SPDX-License-Identifier: CC0-1.0
//! A naive timer on a heap: put yours in its place. It knows nothing of the protocol.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::rc::Rc;

/// A profile promises this limit if it names no other.
const LARGEST_DELAY_MS: i64 = i32::MAX as i64;

/// Why the timer, or its executor, takes nothing.
#[derive(Debug)]
pub enum Refused {
    TooLarge,
    Closed,
    ExecutorIsFull,
}

/// Tasks by the tick in which they are due.
pub struct HeapTimer {
    tick_ms: i64,
    pub now_ms: i64, // a virtual clock: somebody else moves it
    heap: BinaryHeap<Reverse<(i64, u64, Rc<str>)>>, // due tick, number of the arming, task
    pending: HashMap<Rc<str>, u64>, // its arming; what else the heap holds is stale
    armings: u64,
    closed: bool,
}

impl HeapTimer {
    pub fn new(tick_ms: i64, start_ms: i64) -> Self {
        HeapTimer {
            tick_ms,
            now_ms: start_ms,
            heap: BinaryHeap::new(),
            pending: HashMap::new(),
            armings: 0,
            closed: false,
        }
    }

    pub fn add(&mut self, task: &Rc<str>, delay_ms: i64) -> Result<(), Refused> {
        if self.closed {
            return Err(Refused::Closed);
        }
        if delay_ms > LARGEST_DELAY_MS {
            return Err(Refused::TooLarge);
        }
        self.armings += 1;
        self.pending.insert(task.clone(), self.armings); // an earlier arming becomes stale
        let expiry_ms = self.now_ms + delay_ms;
        let due_tick = expiry_ms - expiry_ms.rem_euclid(self.tick_ms); // rounding "down", the default
        self.heap.push(Reverse((due_tick, self.armings, task.clone())));
        self.sweep();
        Ok(())
    }

    pub fn cancel(&mut self, task: &str) {
        self.pending.remove(task); // an unknown task is no error
        self.sweep();
    }

    /// Rebuilds the heap when more than half is stale: stale entries would stay until due.
    fn sweep(&mut self) {
        if self.heap.len() > 2 * self.pending.len() {
            let pending = &self.pending;
            self.heap.retain(|Reverse((_, arming, task))| pending.get(task) == Some(arming));
        }
    }

    /// Hands over what is due to an executor; what that refuses stays here.
    pub fn advance(
        &mut self,
        mut hand_over: impl FnMut(&Rc<str>) -> Result<(), Refused>,
    ) -> Result<bool, Refused> {
        let mut expired_any = false;
        while self.heap.peek().is_some_and(|Reverse(due)| due.0 <= self.now_ms) {
            let Some(Reverse((_, arming, task))) = self.heap.peek() else {
                break;
            };
            if self.pending.get(task) == Some(arming) {
                hand_over(task)?;
                self.pending.remove(task);
                expired_any = true;
            }
            self.heap.pop();
        }
        Ok(expired_any)
    }

    pub fn shut_down(&mut self) {
        self.closed = true;
        self.heap.clear();
        self.pending.clear();
    }

    pub fn size(&self) -> usize {
        self.pending.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR_MS: i64 = 3_600_000;

    #[test]
    fn a_cancelled_task_is_not_kept_until_it_is_due() {
        let mut timer = HeapTimer::new(1, 0);
        let tasks: Vec<Rc<str>> = (0..10_000).map(|number| number.to_string().into()).collect();
        tasks.iter().for_each(|task| timer.add(task, HOUR_MS).unwrap());
        tasks.iter().for_each(|task| timer.cancel(task));
        assert_eq!((timer.heap.len(), timer.size()), (0, 0));
    }

    #[test]
    fn a_task_that_is_moved_is_kept_once() {
        let mut timer = HeapTimer::new(1, 0);
        let task = Rc::from("task");
        (0..10_000).for_each(|_| timer.add(&task, HOUR_MS).unwrap());
        assert!(timer.heap.len() <= 2);
    }
}
