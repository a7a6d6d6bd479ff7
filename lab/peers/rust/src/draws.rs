//! The inputs: drawn from splitmix64 before the clock of a measurement starts.

use std::time::Duration;

pub const LOWEST_DELAY_MS: u32 = 1;
pub const HIGHEST_DELAY_MS: u32 = 60_000;

pub struct SplitMix64 {
    state: u64,
}

impl SplitMix64 {
    pub fn new(seed: u64) -> SplitMix64 {
        SplitMix64 { state: seed }
    }

    fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let once = (self.state ^ (self.state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let twice = (once ^ (once >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        twice ^ (twice >> 31)
    }

    fn below(&mut self, span: u64) -> u64 {
        (self.next() >> 33) % span
    }

    /// `count` delays of 1 to 60,000 ms.
    pub fn delays(&mut self, count: usize) -> Vec<Duration> {
        let span = u64::from(HIGHEST_DELAY_MS - LOWEST_DELAY_MS + 1);
        (0..count)
            .map(|_| Duration::from_millis(u64::from(LOWEST_DELAY_MS) + self.below(span)))
            .collect()
    }

    /// `count` places among `pending`.
    pub fn victims(&mut self, count: usize, pending: usize) -> Vec<u32> {
        (0..count)
            .map(|_| self.below(pending as u64) as u32)
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_generator_gives_the_published_numbers() {
        let mut draws = SplitMix64::new(1_234_567);
        assert_eq!(draws.next(), 6_457_827_717_110_365_317);
        assert_eq!(draws.next(), 3_203_168_211_198_807_973);
    }

    #[test]
    fn delays_and_victims_stay_in_their_spans() {
        let mut draws = SplitMix64::new(7);
        let delays = draws.delays(100_000);
        assert!(
            delays
                .iter()
                .all(|delay| (1..=60_000).contains(&delay.as_millis()))
        );
        assert!(draws.victims(1000, 3).iter().all(|victim| *victim < 3));
    }
}
