package main

import (
	"fmt"
)

// hot adds a timer and cancels it, again and again, with others behind it.
func hot(asked request) (answer, error) {
	sizes, err := asked.sizes(0)
	if err != nil {
		return answer{}, err
	}
	pendingDelays := sizes.draws.delays(sizes.pending, farSpan)
	delays := sizes.draws.delays(sizes.operations, farSpan)
	total := newLedger(0)
	timers := fill(pendingDelays, total)
	defer stopAll(timers)
	collectGarbage()

	cancelled := 0
	start := now()
	for _, delay := range delays {
		if add(delay, total).Stop() {
			cancelled++
		}
	}
	cost := start.cost(sizes.operations, map[string]any{})
	return cost, nothingRan(cancelled, sizes.operations, total)
}

// firstInFirstOut cancels the timer that was added first of all that are pending, and adds a fresh one.
func firstInFirstOut(asked request) (answer, error) {
	sizes, err := asked.sizes(1)
	if err != nil {
		return answer{}, err
	}
	victims := make([]int32, sizes.operations)
	for index := range victims {
		victims[index] = int32(index % sizes.pending)
	}
	return replace(sizes, victims)
}

// randomVictims cancels a timer drawn at random, and adds a fresh one in its place.
func randomVictims(asked request) (answer, error) {
	sizes, err := asked.sizes(1)
	if err != nil {
		return answer{}, err
	}
	return replace(sizes, sizes.draws.victims(sizes.operations, sizes.pending))
}

// replace cancels the timer in the place of each victim, and adds a fresh one there.
func replace(sizes sizes, victims []int32) (answer, error) {
	pendingDelays := sizes.draws.delays(sizes.pending, farSpan)
	delays := sizes.draws.delays(len(victims), farSpan)
	total := newLedger(0)
	timers := fill(pendingDelays, total)
	defer stopAll(timers)
	collectGarbage()

	cancelled := 0
	start := now()
	for index, victim := range victims {
		if timers[victim].Stop() {
			cancelled++
		}
		timers[victim] = add(delays[index], total)
	}
	cost := start.cost(len(victims), map[string]any{})
	return cost, nothingRan(cancelled, len(victims), total)
}

// nothingRan is an error unless each cancel took a pending timer away and no task has run.
func nothingRan(cancelled, operations int, total *ledger) error {
	if cancelled != operations {
		return fmt.Errorf("%d of %d cancels found no pending timer", operations-cancelled, operations)
	}
	return total.check()
}
