//! Add and cancel on the wheel, whose clock stands still meanwhile.

use crate::cost::Start;
use crate::draws::SplitMix64;
use crate::request::Request;
use crate::task::{Ledger, Task};
use hierarchical_hash_wheel_timer::wheels::cancellable::QuadWheelWithOverflow;
use serde_json::{Value, json};
use std::rc::Rc;
use std::time::Duration;

pub type Wheel<'ledger> = QuadWheelWithOverflow<Task<'ledger>>;

/// Adds a fresh task under `id`, to run after `delay`.
pub fn add<'ledger>(
    wheel: &mut Wheel<'ledger>,
    id: u64,
    delay: Duration,
    ledger: &'ledger Ledger,
) -> Result<(), String> {
    wheel
        .insert_ref_with_delay(Rc::new(Task::new(id, ledger)), delay)
        .map_err(|_| format!("the wheel refused timer {id} with a delay of {delay:?}"))
}

fn cancel(wheel: &mut Wheel<'_>, id: u64) -> Result<(), String> {
    wheel
        .cancel(&id)
        .map_err(|_| format!("timer {id} was pending and could not be cancelled"))
}

fn fill<'ledger>(
    wheel: &mut Wheel<'ledger>,
    delays: &[Duration],
    ledger: &'ledger Ledger,
) -> Result<(), String> {
    (0..)
        .zip(delays)
        .try_for_each(|(id, delay)| add(wheel, id, *delay, ledger))
}

/// Adds a timer and cancels it, again and again, with others behind it.
pub fn hot(request: &Request) -> Result<Value, String> {
    let (pending, operations) = (request.pending()?, request.operations()?);
    let mut draws = SplitMix64::new(request.seed()?);
    let pending_delays = draws.delays(pending);
    let delays = draws.delays(operations);
    let ledger = Ledger::default();
    let mut wheel = Wheel::new();
    fill(&mut wheel, &pending_delays, &ledger)?;

    let start = Start::after_cleaning();
    for (id, delay) in (pending as u64..).zip(&delays) {
        add(&mut wheel, id, *delay, &ledger)?;
        cancel(&mut wheel, id)?;
    }
    let cost = start.cost();

    ledger.check(0)?;
    Ok(cost.answer(operations, json!({})))
}

/// Cancels the timer that was added first of all that are pending, and adds a fresh one.
pub fn first_in_first_out(request: &Request) -> Result<Value, String> {
    let (pending, operations) = (request.at_least_one_pending()?, request.operations()?);
    let victims: Vec<u32> = (0..operations)
        .map(|operation| (operation % pending) as u32)
        .collect();
    replace(request, SplitMix64::new(request.seed()?), &victims)
}

/// Cancels a timer drawn at random, and adds a fresh one in its place.
pub fn random_victims(request: &Request) -> Result<Value, String> {
    let (pending, operations) = (request.at_least_one_pending()?, request.operations()?);
    let mut draws = SplitMix64::new(request.seed()?);
    let victims = draws.victims(operations, pending);
    replace(request, draws, &victims)
}

/// Cancels the timer in the place of each victim, and adds a fresh one there.
fn replace(request: &Request, mut draws: SplitMix64, victims: &[u32]) -> Result<Value, String> {
    let pending = request.pending()?;
    let pending_delays = draws.delays(pending);
    let delays = draws.delays(victims.len());
    let mut places: Vec<u64> = (0..pending as u64).collect();
    let ledger = Ledger::default();
    let mut wheel = Wheel::new();
    fill(&mut wheel, &pending_delays, &ledger)?;

    let start = Start::after_cleaning();
    for (id, (victim, delay)) in (pending as u64..).zip(victims.iter().zip(&delays)) {
        let place = &mut places[*victim as usize];
        cancel(&mut wheel, *place)?;
        add(&mut wheel, id, *delay, &ledger)?;
        *place = id;
    }
    let cost = start.cost();

    ledger.check(0)?;
    Ok(cost.answer(victims.len(), json!({})))
}
