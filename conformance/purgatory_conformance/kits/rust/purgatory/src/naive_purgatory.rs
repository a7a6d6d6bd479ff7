// SPDX-License-Identifier: CC0-1.0
//! A naive purgatory: put yours in its place. It knows nothing of the protocol.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;

/// Something that can be completed once: by an event, or else by its time-out.
pub trait DelayedOperation {
    fn delay_ms(&self) -> i64;
    /// Where it is noted that the operation is completed.
    fn completed(&self) -> &Cell<bool>;
    /// Completes it with `force_complete` if it can be, and says whether it did.
    fn try_complete(self: &Rc<Self>) -> bool;
    /// Called once, whoever completes the operation.
    fn on_complete(&self);
    /// Called after `on_complete` if it was the time-out.
    fn on_expiration(&self);
}

#[derive(Debug)]
pub enum Refused {
    Closed,
    NoKeys,
}

struct Armed<O> {
    due_tick: i64,
    number: u64,
    operation: Rc<O>,
}

/// Operations under keys; one that is completed elsewhere leaves stale entries.
///
/// Nothing is borrowed while a callback runs, which may come back here.
pub struct Purgatory<O: DelayedOperation> {
    tick_ms: i64,
    pub now_ms: Cell<i64>, // a clock that somebody else moves
    purge_interval: usize,
    time_outs: bool,
    armed: RefCell<Vec<Armed<O>>>,
    armings: Cell<u64>,
    lists: RefCell<HashMap<String, Vec<Rc<O>>>>,
    pub closed: Cell<bool>,
}

impl<O: DelayedOperation> Purgatory<O> {
    pub fn new(tick_ms: i64, start_ms: i64, purge_interval: usize, time_outs: bool) -> Self {
        Purgatory {
            tick_ms,
            now_ms: Cell::new(start_ms),
            purge_interval,
            time_outs,
            armed: RefCell::new(Vec::new()),
            armings: Cell::new(0),
            lists: RefCell::new(HashMap::new()),
            closed: Cell::new(false),
        }
    }

    /// Completes it; false if somebody else already has.
    pub fn force_complete(&self, operation: &Rc<O>) -> bool {
        if operation.completed().replace(true) {
            return false;
        }
        self.disarm(operation);
        operation.on_complete();
        true
    }

    pub fn try_complete_else_watch(
        &self,
        operation: &Rc<O>,
        keys: &[String],
    ) -> Result<bool, Refused> {
        if self.closed.get() {
            return Err(Refused::Closed);
        }
        if keys.is_empty() {
            return Err(Refused::NoKeys);
        }
        if operation.completed().get() {
            return Ok(false);
        }
        let answer = operation.try_complete();
        if answer || operation.completed().get() {
            return Ok(answer);
        }
        for key in keys {
            let mut lists = self.lists.borrow_mut();
            lists.entry(key.clone()).or_default().push(operation.clone());
        }
        if self.time_outs {
            self.arm(operation);
        }
        Ok(operation.try_complete())
    }

    pub fn check_and_complete(&self, key: &str) -> usize {
        let waiting = self.lists.borrow().get(key).cloned().unwrap_or_default();
        let mut completed = 0;
        for operation in waiting {
            if !operation.completed().get() && operation.try_complete() {
                completed += 1;
            }
            if operation.completed().get() {
                self.drop_entry(key, &operation); // those passed before stay
            }
        }
        completed
    }

    pub fn cancel_for_key(&self, key: &str) -> Vec<Rc<O>> {
        let cancelled = self.lists.borrow_mut().remove(key).unwrap_or_default();
        for operation in &cancelled {
            let lists = self.lists.borrow();
            if !lists.values().flatten().any(|each| Rc::ptr_eq(each, operation)) {
                self.disarm(operation);
            }
        }
        cancelled
    }

    /// Completes what is due, and purges if there are too many stale entries.
    pub fn advance(&self) {
        if self.closed.get() {
            return;
        }
        let mut armed = self.armed.take();
        armed.sort_by_key(|each| (each.due_tick, each.number));
        let first_later = armed.partition_point(|each| each.due_tick <= self.now_ms.get());
        *self.armed.borrow_mut() = armed.split_off(first_later);
        for due in armed {
            if self.force_complete(&due.operation) {
                due.operation.on_expiration();
            }
        }
        if self.stale_entries() > self.purge_interval {
            let mut lists = self.lists.borrow_mut();
            lists.values_mut().for_each(|list| list.retain(|each| !each.completed().get()));
            lists.retain(|_, list| !list.is_empty());
        }
    }

    pub fn entries(&self) -> usize {
        self.lists.borrow().values().map(Vec::len).sum()
    }

    pub fn keys(&self) -> usize {
        self.lists.borrow().len()
    }

    pub fn pending(&self) -> usize {
        self.armed.borrow().len()
    }

    pub fn stale_entries(&self) -> usize {
        self.lists.borrow().values().flatten().filter(|each| each.completed().get()).count()
    }

    fn arm(&self, operation: &Rc<O>) {
        self.disarm(operation); // it is moved, if it was armed before
        let expiry_ms = self.now_ms.get() + operation.delay_ms();
        let due_tick = expiry_ms - expiry_ms.rem_euclid(self.tick_ms);
        let number = self.armings.replace(self.armings.get() + 1);
        self.armed.borrow_mut().push(Armed { due_tick, number, operation: operation.clone() });
    }

    fn disarm(&self, operation: &Rc<O>) {
        self.armed.borrow_mut().retain(|each| !Rc::ptr_eq(&each.operation, operation));
    }

    fn drop_entry(&self, key: &str, operation: &Rc<O>) {
        let mut lists = self.lists.borrow_mut();
        let Some(list) = lists.get_mut(key) else {
            return;
        };
        if let Some(at) = list.iter().position(|each| Rc::ptr_eq(each, operation)) {
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
    use std::rc::Weak;

    struct Waiting {
        purgatory: Weak<Purgatory<Waiting>>,
        completed: Cell<bool>,
        ready: Cell<bool>,
    }

    impl DelayedOperation for Waiting {
        fn delay_ms(&self) -> i64 {
            3_600_000
        }
        fn completed(&self) -> &Cell<bool> {
            &self.completed
        }
        fn try_complete(self: &Rc<Self>) -> bool {
            self.ready.get() && self.purgatory.upgrade().unwrap().force_complete(self)
        }
        fn on_complete(&self) {}
        fn on_expiration(&self) {}
    }

    type Setting = (Rc<Purgatory<Waiting>>, Vec<Rc<Waiting>>);

    /// Ten thousand that wait for an hour, under each of the keys.
    fn ten_thousand(keys: &[&str]) -> Setting {
        let purgatory = Rc::new(Purgatory::new(1, 0, 100, true));
        let keys: Vec<String> = keys.iter().map(|key| key.to_string()).collect();
        let wait = |_| {
            let (completed, ready) = (Cell::new(false), Cell::new(false));
            let made = Rc::new(Waiting { purgatory: Rc::downgrade(&purgatory), completed, ready });
            purgatory.try_complete_else_watch(&made, &keys).unwrap();
            made
        };
        let waiting = (0..10_000).map(wait).collect();
        (purgatory, waiting)
    }

    fn assert_nothing_is_kept((purgatory, waiting): Setting) {
        purgatory.advance();
        assert_eq!((purgatory.pending(), purgatory.keys()), (0, 0));
        assert!(waiting.iter().all(|operation| Rc::strong_count(operation) == 1));
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
        waiting.iter().for_each(|operation| operation.ready.set(true));
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
