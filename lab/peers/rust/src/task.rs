//! What a timer runs: a fresh object for each add, which counts how often it has run.

use hierarchical_hash_wheel_timer::wheels::cancellable::CancellableTimerEntry;
use std::cell::Cell;

/// The sums over all tasks of a request.
#[derive(Debug, Default)]
pub struct Ledger {
    runs: Cell<usize>,
    repeated: Cell<usize>,
}

#[derive(Debug)]
pub struct Task<'ledger> {
    id: u64,
    runs: Cell<u32>,
    ledger: &'ledger Ledger,
}

impl Ledger {
    /// That `operations` tasks have run, each once; else a sentence.
    pub fn check(&self, operations: usize) -> Result<(), String> {
        match (self.runs.get(), self.repeated.get()) {
            (runs, 0) if runs == operations => Ok(()),
            (runs, repeated) => Err(format!(
                "{operations} tasks were to run once each: {runs} runs, {repeated} of them repeated"
            )),
        }
    }
}

impl<'ledger> Task<'ledger> {
    pub fn new(id: u64, ledger: &'ledger Ledger) -> Task<'ledger> {
        Task {
            id,
            runs: Cell::new(0),
            ledger,
        }
    }

    pub fn run(&self) {
        self.runs.set(self.runs.get() + 1);
        self.ledger.runs.set(self.ledger.runs.get() + 1);
        if self.runs.get() > 1 {
            self.ledger.repeated.set(self.ledger.repeated.get() + 1);
        }
    }
}

impl CancellableTimerEntry for Task<'_> {
    type Id = u64;

    fn id(&self) -> &u64 {
        &self.id
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ledger_accepts_one_run_of_each_task() {
        let ledger = Ledger::default();
        Task::new(0, &ledger).run();
        Task::new(1, &ledger).run();
        assert_eq!(ledger.check(2), Ok(()));
    }

    #[test]
    fn a_ledger_refuses_a_missing_run() {
        let ledger = Ledger::default();
        Task::new(0, &ledger).run();
        assert!(ledger.check(2).is_err());
    }

    #[test]
    fn a_ledger_refuses_a_task_that_ran_for_another() {
        let ledger = Ledger::default();
        let task = Task::new(0, &ledger);
        task.run();
        task.run();
        assert!(ledger.check(2).is_err());
    }
}
