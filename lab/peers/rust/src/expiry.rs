//! Timers that are added and then run by the thread that leads the clock.

use crate::cost::Start;
use crate::draws::SplitMix64;
use crate::request::Request;
use crate::task::Ledger;
use crate::timer_wheel::{Wheel, add};
use hierarchical_hash_wheel_timer::wheels::Skip;
use serde_json::{Value, json};
use std::time::Duration;

/// Adds all timers, then leads the clock to the end; every task runs once.
pub fn add_and_run(request: &Request) -> Result<Value, String> {
    if request.pending()? != 0 {
        return Err("\"pending\" is 0 here".into());
    }
    let operations = request.operations()?;
    let delays = SplitMix64::new(request.seed()?).delays(operations);
    let last_ms = last_of(&delays);
    let ledger = Ledger::default();
    let mut wheel = Wheel::new();

    let start = Start::after_cleaning();
    for (id, delay) in (0..).zip(&delays) {
        add(&mut wheel, id, *delay, &ledger)?;
    }
    let adding = start.cost();
    let led_ms = lead_to_the_end(&mut wheel);
    let cost = start.cost();

    ledger.check(operations)?;
    if led_ms != last_ms {
        return Err(format!(
            "the last timer was due at {last_ms} ms, and ran at {led_ms} ms"
        ));
    }
    Ok(cost.answer(operations, json!({ "add_cpu_ns": adding.thread_cpu_ns })))
}

fn last_of(delays: &[Duration]) -> u128 {
    delays.iter().map(Duration::as_millis).max().unwrap_or(0)
}

/// Runs what falls due until nothing is left, skipping what the wheel knows to be empty; returns the time reached.
fn lead_to_the_end(wheel: &mut Wheel<'_>) -> u128 {
    let mut now_ms = 0;
    loop {
        match wheel.can_skip() {
            Skip::Empty => return now_ms,
            Skip::Millis(empty_ms) => {
                wheel.skip(empty_ms);
                now_ms += u128::from(empty_ms);
            }
            Skip::None => {}
        }
        for task in wheel.tick() {
            task.run();
        }
        now_ms += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clock_is_led_to_the_last_timer_and_no_further() {
        let ledger = Ledger::default();
        let mut wheel = Wheel::new();
        for (id, delay_ms) in [1, 255, 256, 257, 59_999, 60_000].into_iter().enumerate() {
            add(
                &mut wheel,
                id as u64,
                Duration::from_millis(delay_ms),
                &ledger,
            )
            .unwrap();
        }
        assert_eq!(lead_to_the_end(&mut wheel), 60_000);
        assert_eq!(ledger.check(6), Ok(()));
    }

    #[test]
    fn a_cancelled_timer_is_missed_by_the_ledger() {
        let ledger = Ledger::default();
        let mut wheel = Wheel::new();
        for id in 0..2 {
            add(&mut wheel, id, Duration::from_millis(5), &ledger).unwrap();
        }
        wheel.cancel(&1).unwrap();
        lead_to_the_end(&mut wheel);
        assert!(ledger.check(2).is_err());
    }
}
