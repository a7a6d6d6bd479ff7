// SPDX-License-Identifier: CC0-1.0
//! A naive purgatory: put yours in its place. It knows nothing of the protocol.

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering::SeqCst};
use std::sync::{Arc, Mutex};

/// Something that can be completed once: by an event, or else by its time-out.
pub trait DelayedOperation {
    fn delay_ms(&self) -> i64;
    /// Where it is noted that the operation is completed.
    fn completed(&self) -> &AtomicBool;
    /// Completes it with `force_complete` if it can be, and says whether it did.
    fn try_complete(self: &Arc<Self>) -> bool;
    /// Called once, whoever completes the operation.
    fn on_complete(&self);
    /// Called after `on_complete` if it was the time-out.
    fn on_expiration(&self);
}

#[derive(Debug)]
pub enum Refused {
    Closed,
    NoKeys,
    ExecutorIsFull,
}

struct Armed<O> {
    due_tick: i64,
    number: u64,
    operation: Arc<O>,
}

/// Operations under keys; one that is completed elsewhere leaves stale entries.
///
/// Any thread may call it: nothing is locked while a callback runs, which may come back here.
pub struct Purgatory<O: DelayedOperation> {
    tick_ms: i64,
    pub now_ms: AtomicI64, // a clock that somebody else moves
    purge_interval: usize,
    time_outs: bool,
    armed: Mutex<Vec<Armed<O>>>,
    armings: AtomicU64,
    lists: Mutex<HashMap<String, Vec<Arc<O>>>>,
    queue: Mutex<VecDeque<Arc<O>>>, // the executor's: expired, not yet run
    pub closed: AtomicBool,
}

impl<O: DelayedOperation> Purgatory<O> {
    pub fn new(tick_ms: i64, start_ms: i64, purge_interval: usize, time_outs: bool) -> Self {
        Purgatory {
            tick_ms,
            now_ms: AtomicI64::new(start_ms),
            purge_interval,
            time_outs,
            armed: Mutex::new(Vec::new()),
            armings: AtomicU64::new(0),
            lists: Mutex::new(HashMap::new()),
            queue: Mutex::new(VecDeque::new()),
            closed: AtomicBool::new(false),
        }
    }

    /// Completes it; false if somebody else already has.
    pub fn force_complete(&self, operation: &Arc<O>) -> bool {
        if operation.completed().swap(true, SeqCst) {
            return false;
        }
        self.disarm(operation);
        operation.on_complete();
        true
    }

    pub fn try_complete_else_watch(
        &self,
        operation: &Arc<O>,
        keys: &[String],
    ) -> Result<bool, Refused> {
        if self.closed.load(SeqCst) {
            return Err(Refused::Closed);
        }
        if keys.is_empty() {
            return Err(Refused::NoKeys);
        }
        if operation.completed().load(SeqCst) {
            return Ok(false);
        }
        let answer = operation.try_complete();
        if answer || operation.completed().load(SeqCst) {
            return Ok(answer);
        }
        for key in keys {
            let mut lists = self.lists.lock().unwrap();
            lists.entry(key.clone()).or_default().push(operation.clone());
        }
        if self.time_outs {
            self.arm(operation);
        }
        Ok(operation.try_complete())
    }

    pub fn check_and_complete(&self, key: &str) -> usize {
        let waiting = self.lists.lock().unwrap().get(key).cloned().unwrap_or_default();
        let mut completed = 0;
        for operation in waiting {
            if !operation.completed().load(SeqCst) && operation.try_complete() {
                completed += 1;
            }
            if operation.completed().load(SeqCst) {
                self.drop_entry(key, &operation); // those passed before stay
            }
        }
        completed
    }

    pub fn cancel_for_key(&self, key: &str) -> Vec<Arc<O>> {
        let cancelled = self.lists.lock().unwrap().remove(key).unwrap_or_default();
        for operation in &cancelled {
            let lists = self.lists.lock().unwrap();
            if !lists.values().flatten().any(|each| Arc::ptr_eq(each, operation)) {
                self.disarm(operation);
            }
        }
        cancelled
    }

    /// Hands over what is due to the executor, and answers it; `run_one` runs it.
    ///
    /// Where the executor is full it stays in the timer, and the next advance hands it over.
    pub fn advance(&self, is_full: bool) -> Result<Vec<Arc<O>>, Refused> {
        let mut armed = self.armed.lock().unwrap();
        if self.closed.load(SeqCst) {
            return Ok(Vec::new());
        }
        armed.sort_by_key(|each| (each.due_tick, each.number));
        let first_later = armed.partition_point(|each| each.due_tick <= self.now_ms.load(SeqCst));
        if is_full && first_later > 0 {
            return Err(Refused::ExecutorIsFull);
        }
        let due: Vec<_> = armed.drain(..first_later).map(|each| each.operation).collect();
        self.queue.lock().unwrap().extend(due.iter().cloned());
        Ok(due)
    }

    /// Runs what has waited longest for the executor; false where nothing waits.
    pub fn run_one(&self) -> bool {
        let Some(first) = self.queue.lock().unwrap().pop_front() else {
            return false;
        };
        if self.force_complete(&first) {
            first.on_expiration();
        }
        true
    }

    pub fn purge_if_due(&self) {
        if self.stale_entries() > self.purge_interval {
            let mut lists = self.lists.lock().unwrap();
            lists.values_mut().for_each(|list| list.retain(|each| !each.completed().load(SeqCst)));
            lists.retain(|_, list| !list.is_empty());
        }
    }

    pub fn entries(&self) -> usize {
        self.lists.lock().unwrap().values().map(Vec::len).sum()
    }

    pub fn keys(&self) -> usize {
        self.lists.lock().unwrap().len()
    }

    pub fn queued(&self) -> usize {
        self.queue.lock().unwrap().len()
    }

    pub fn timer_size(&self) -> usize {
        self.armed.lock().unwrap().len()
    }

    pub fn stale_entries(&self) -> usize {
        self.lists
            .lock()
            .unwrap()
            .values()
            .flatten()
            .filter(|each| each.completed().load(SeqCst))
            .count()
    }

    fn arm(&self, operation: &Arc<O>) {
        self.disarm(operation); // it is moved, if it was armed before
        let expiry_ms = self.now_ms.load(SeqCst) + operation.delay_ms();
        let due_tick = expiry_ms - expiry_ms.rem_euclid(self.tick_ms);
        let number = self.armings.fetch_add(1, SeqCst);
        let mut armed = self.armed.lock().unwrap();
        if !operation.completed().load(SeqCst) {
            armed.push(Armed { due_tick, number, operation: operation.clone() });
        }
    }

    fn disarm(&self, operation: &Arc<O>) {
        self.armed.lock().unwrap().retain(|each| !Arc::ptr_eq(&each.operation, operation));
    }

    fn drop_entry(&self, key: &str, operation: &Arc<O>) {
        let mut lists = self.lists.lock().unwrap();
        let Some(list) = lists.get_mut(key) else {
            return;
        };
        if let Some(at) = list.iter().position(|each| Arc::ptr_eq(each, operation)) {
            list.remove(at);
        }
        if list.is_empty() {
            lists.remove(key);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Weak;

    struct Waiting {
        purgatory: Weak<Purgatory<Waiting>>,
        completed: AtomicBool,
        ready: AtomicBool,
    }

    impl DelayedOperation for Waiting {
        fn delay_ms(&self) -> i64 {
            3_600_000
        }
        fn completed(&self) -> &AtomicBool {
            &self.completed
        }
        fn try_complete(self: &Arc<Self>) -> bool {
            self.ready.load(SeqCst) && self.purgatory.upgrade().unwrap().force_complete(self)
        }
        fn on_complete(&self) {}
        fn on_expiration(&self) {}
    }

    type Setting = (Arc<Purgatory<Waiting>>, Vec<Arc<Waiting>>);

    /// Ten thousand that wait for an hour, under each of the keys.
    fn ten_thousand(keys: &[&str]) -> Setting {
        let purgatory = Arc::new(Purgatory::new(1, 0, 100, true));
        let keys: Vec<String> = keys.iter().map(|key| key.to_string()).collect();
        let wait = |_| {
            let (completed, ready) = (AtomicBool::new(false), AtomicBool::new(false));
            let made =
                Arc::new(Waiting { purgatory: Arc::downgrade(&purgatory), completed, ready });
            purgatory.try_complete_else_watch(&made, &keys).unwrap();
            made
        };
        let waiting = (0..10_000).map(wait).collect();
        (purgatory, waiting)
    }

    fn assert_nothing_is_kept((purgatory, waiting): Setting) {
        purgatory.purge_if_due();
        assert_eq!((purgatory.timer_size(), purgatory.keys()), (0, 0));
        assert!(waiting.iter().all(|operation| Arc::strong_count(operation) == 1));
    }

    #[test]
    fn a_completed_operation_is_not_kept_until_its_time_out() {
        let (purgatory, waiting) = ten_thousand(&["a", "b"]);
        assert!(waiting.iter().all(|operation| purgatory.force_complete(operation)));
        assert_nothing_is_kept((purgatory, waiting));
    }

    #[test]
    fn a_check_leaves_the_entries_under_other_keys_to_the_purge() {
        let (purgatory, waiting) = ten_thousand(&["a", "b"]);
        waiting.iter().for_each(|operation| operation.ready.store(true, SeqCst));
        assert_eq!(purgatory.check_and_complete("a"), 10_000);
        assert_eq!(purgatory.stale_entries(), 10_000);
        assert_nothing_is_kept((purgatory, waiting));
    }

    #[test]
    fn a_cancelled_operation_is_not_kept_until_its_time_out() {
        let (purgatory, waiting) = ten_thousand(&["a"]);
        assert_eq!(purgatory.cancel_for_key("a").len(), 10_000);
        assert_nothing_is_kept((purgatory, waiting));
    }
}
