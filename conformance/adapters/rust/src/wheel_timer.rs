// SPDX-License-Identifier: CC0-1.0
//! The ring of `wheel_timer`: a tick hands over a slot and goes on to the next.

use ::wheel_timer::WheelTimer;
use serde_json::{Value, json};

use crate::timer::{Kind, Timer};

/// The slots of the ring, and so the longest delay; a tick stands for a millisecond.
const SLOTS: usize = 1 << 16;

pub const KIND: Kind = Kind {
    word: "wheel-timer",
    name: "wheel_timer",
    package: "wheel_timer",
    source: "https://github.com/BarkingMouseStudio/wheel-timer-rs",
    profile: || {
        json!({
            "rounding": "exact", // it counts ticks
            "already_due": "next_tick", // what is due now lies in the slot of the next tick
            "negative_delay": "not_offered", // a number of ticks has no sign
            "largest_delay_ms": SLOTS, // documented: the ring's size is the largest interval
            "larger_delay": "not_offered",
            "features": [], // what was scheduled cannot be called off
            "observables": ["size"],
        })
    },
    make: || {
        Box::new(Ring {
            timer: WheelTimer::new(SLOTS),
            ran: vec![],
        })
    },
};

struct Ring {
    timer: WheelTimer<String>,
    ran: Vec<String>,
}

impl Timer for Ring {
    fn add(&mut self, task: &str, delay_ms: u64) {
        // The slot at hand is that of the next tick, which is one millisecond away.
        let ticks = usize::try_from(delay_ms.saturating_sub(1)).expect("a delay fits the ring");
        self.timer.schedule(ticks, task.to_string());
    }

    fn cancel(&mut self, _: &str) {
        unreachable!("it is not declared");
    }

    fn advance(&mut self, by_ms: u64) {
        for _ in 0..by_ms {
            self.ran.extend(self.timer.tick());
        }
    }

    fn ran(&mut self) -> Vec<String> {
        std::mem::take(&mut self.ran)
    }

    fn observed(&self) -> Value {
        json!({"size": self.timer.size()})
    }
}
