package main

import (
	"fmt"
	"time"
)

// The pending timers are given so long to be added before the loop begins.
const (
	leadForAll     = 200 * time.Millisecond
	leadForEach    = 5 * time.Microsecond
	middle         = time.Second
	lateRunsWithin = 10 * time.Second
	delayTableSize = 1 << 16
)

// longestPause adds a timer and cancels it until the time is up, and says how far apart two pairs have ended.
func longestPause(kind peer, asked request) (answer, error) {
	sizes, err := asked.sizes(0)
	if err != nil {
		return answer{}, err
	}
	length := time.Duration(sizes.operations) * time.Millisecond
	if length < middle || length > 10*time.Minute {
		return answer{}, fmt.Errorf("%q is the milliseconds of the loop: 1000 to 600000", "operations")
	}
	offsets := sizes.draws.delays(sizes.pending, middleSpan)
	delays := sizes.draws.delays(delayTableSize, farSpan)
	due, behind := newLedger(sizes.pending), newLedger(0)
	found := &gaps{}
	timers, err := kind.begin(sizes.pending, farSpan)
	if err != nil {
		return answer{}, err
	}
	defer timers.stop()
	collectGarbage()

	begin := time.Now().Add(leadForAll + time.Duration(sizes.pending)*leadForEach)
	middleBegins := begin.Add((length - middle) / 2)
	next := make([]time.Duration, 1)
	for _, offset := range offsets {
		next[0] = time.Until(middleBegins.Add(offset))
		timers.fill(next, due)
	}
	if time.Now().After(begin) {
		return answer{}, fmt.Errorf("adding %d timers took longer than was planned for", sizes.pending)
	}
	time.Sleep(time.Until(begin))

	cost := pairsUntil(begin.Add(length), timers, delays, behind, found)
	cost.Operations = sizes.operations
	if sizes.pending > 0 {
		if err := due.wait(lateRunsWithin); err != nil {
			return answer{}, err
		}
	}
	if err := nothingRan(timers, int(found.count), 0, behind); err != nil {
		return answer{}, err
	}
	return cost, due.check()
}

// pairsUntil adds and cancels until the end, and notes each gap between the ends of two pairs.
func pairsUntil(end time.Time, timers timers, delays []time.Duration, total *ledger, found *gaps) answer {
	start := now()
	before := start.wall
	for pair := 0; before.Before(end); pair++ {
		place := pair % delayTableSize
		timers.pairs(delays[place:place+1], total)
		after := time.Now()
		found.note(after.Sub(before))
		before = after
	}
	return start.cost(0, map[string]any{
		"pairs":   found.count,
		"max_ms":  milliseconds(found.longest),
		"p999_ms": milliseconds(found.exceededByOneIn(1000)),
	})
}

func milliseconds(duration time.Duration) float64 {
	return float64(duration) / float64(time.Millisecond)
}
