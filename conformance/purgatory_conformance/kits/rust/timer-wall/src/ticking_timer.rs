// SPDX-License-Identifier: CC0-1.0
//! A naive timer on `tokio::time`: put yours in its place. It knows nothing of the protocol.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::task::JoinHandle;
use tokio::time::{sleep_until, Instant};

/// A profile promises this limit if it names no other.
const LARGEST_DELAY_MS: i64 = i32::MAX as i64;

/// A delay that is too large.
#[derive(Debug)]
pub struct TooLarge;

/// Each task's arming by its number, so that an earlier one is told from it.
type Pending = Arc<Mutex<HashMap<String, (u64, JoinHandle<()>)>>>;

/// Each task sleeps in an asynchronous task of its own; it is used inside a runtime.
pub struct TickingTimer {
    pending: Pending,
    run: Arc<dyn Fn(&str) + Send + Sync>,
    armings: AtomicU64,
}

impl TickingTimer {
    pub fn new(run: impl Fn(&str) + Send + Sync + 'static) -> Self {
        TickingTimer { pending: Pending::default(), run: Arc::new(run), armings: AtomicU64::new(0) }
    }

    pub fn add(&self, task: &str, delay_ms: i64) -> Result<(), TooLarge> {
        if delay_ms > LARGEST_DELAY_MS {
            return Err(TooLarge);
        }
        let number = self.armings.fetch_add(1, Ordering::Relaxed);
        let due = Instant::now() + Duration::from_millis(delay_ms.max(0) as u64);
        let (name, shared, run) = (task.to_string(), self.pending.clone(), self.run.clone());
        let mut pending = self.pending.lock().unwrap(); // the task finds itself there
        let armed = tokio::spawn(async move {
            sleep_until(due).await;
            let mut pending = shared.lock().unwrap();
            if pending.get(&name).is_some_and(|(latest, _)| *latest == number) {
                pending.remove(&name); // it was neither cancelled nor moved meanwhile
                drop(pending);
                run(&name);
            }
        });
        if let Some((_, earlier)) = pending.insert(task.to_string(), (number, armed)) {
            earlier.abort();
        }
        Ok(())
    }

    pub fn cancel(&self, task: &str) {
        if let Some((_, armed)) = self.pending.lock().unwrap().remove(task) {
            armed.abort(); // an unknown task is no error
        }
    }

    pub fn size(&self) -> usize {
        self.pending.lock().unwrap().len()
    }
}
