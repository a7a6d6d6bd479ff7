//! How much memory a pending timer holds.

use crate::cost::{Start, return_freed_memory};
use crate::draws::SplitMix64;
use crate::request::Request;
use crate::task::Ledger;
use crate::timer_wheel::{Wheel, add};
use serde_json::{Value, json};
use std::fs;

/// Adds `pending` timers and answers by how much the resident set has grown.
pub fn bytes_per_timer(request: &Request) -> Result<Value, String> {
    let pending = request.at_least_one_pending()?;
    let delays = SplitMix64::new(request.seed()?).delays(pending);
    let ledger = Ledger::default();
    return_freed_memory();
    let before = resident_bytes()?;

    let start = Start::after_cleaning();
    let mut wheel = Wheel::new();
    for (id, delay) in (0..).zip(&delays) {
        add(&mut wheel, id, *delay, &ledger)?;
    }
    let cost = start.cost();

    let grown = resident_bytes()? as f64 - before as f64;
    ledger.check(0)?;
    drop(wheel);
    let detail = json!({
        "bytes": grown / pending as f64,
        "how": "growth of the resident set, without handles that a caller would keep",
    });
    Ok(cost.answer(pending, detail))
}

/// The resident set, added up page by page: the kernel's running count is only near.
fn resident_bytes() -> Result<u64, String> {
    let path = "/proc/self/smaps_rollup";
    let text = fs::read_to_string(path).map_err(|fault| format!("{path}: {fault}"))?;
    text.lines()
        .find_map(|line| {
            line.strip_prefix("Rss:")?
                .strip_suffix("kB")?
                .trim()
                .parse::<u64>()
                .ok()
        })
        .map(|kibibytes| kibibytes * 1024)
        .ok_or_else(|| format!("{path} has no resident set"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::hint::black_box;

    fn grown_by_64_mebibytes() -> i64 {
        let before = resident_bytes().unwrap() as i64;
        let block = black_box(vec![1_u8; 64 << 20]);
        let grown = resident_bytes().unwrap() as i64 - before;
        assert_eq!(block.last(), Some(&1));
        grown
    }

    /// Other tests run in the same process; one that fails takes 30 MiB for the words about it.
    #[test]
    fn the_resident_set_grows_by_what_is_written() {
        let expected = 60 << 20..80 << 20;
        let seen: Vec<i64> = (0..5).map(|_| grown_by_64_mebibytes()).collect();
        assert!(
            seen.iter().any(|grown| expected.contains(grown)),
            "{seen:?}"
        );
    }
}
