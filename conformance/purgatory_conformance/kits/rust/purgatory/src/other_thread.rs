// SPDX-License-Identifier: CC0-1.0
//! The other thread of a step: calls are made one by one while a callback stands still.

use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::Duration;

const GRACE: Duration = Duration::from_millis(50);
const MOST: Duration = Duration::from_secs(30);

#[derive(Default)]
pub struct OtherThread {
    last: Mutex<Option<Arc<Return>>>,
}

/// Whether a call has returned.
#[derive(Default)]
struct Return {
    returned: Mutex<bool>,
    changed: Condvar,
}

impl Return {
    fn within(&self, most: Duration) -> bool {
        let returned = self.returned.lock().unwrap();
        *self.changed.wait_timeout_while(returned, most, |is| !*is).unwrap().0
    }
}

impl OtherThread {
    /// Comes back when the call has returned, or is seen to wait for what its caller holds.
    pub fn call(&self, call: impl FnOnce() + Send + 'static) {
        let own = Arc::<Return>::default();
        let before = self.last.lock().unwrap().replace(own.clone());
        let is_behind = before.as_ref().is_some_and(|each| !each.within(Duration::ZERO));
        let called = own.clone();
        thread::spawn(move || {
            if let Some(before) = before {
                before.within(MOST);
            }
            call();
            *called.returned.lock().unwrap() = true;
            called.changed.notify_all();
        });
        if !is_behind {
            own.within(GRACE);
        }
    }

    /// Waits until every call has returned, also those that they asked for.
    pub fn end_step(&self) {
        loop {
            let Some(last) = self.last.lock().unwrap().clone() else {
                return;
            };
            assert!(last.within(MOST), "a call does not return: the threads wait for each other");
            let mut present = self.last.lock().unwrap();
            if present.as_ref().is_some_and(|each| Arc::ptr_eq(each, &last)) {
                *present = None;
            }
        }
    }
}
