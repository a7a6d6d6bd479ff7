package main

// hot adds a timer and cancels it, again and again, with others behind it.
func hot(kind peer, asked request) (answer, error) {
	sizes, err := asked.sizes(0)
	if err != nil {
		return answer{}, err
	}
	pendingDelays := sizes.draws.delays(sizes.pending, farSpan)
	delays := sizes.draws.delays(sizes.operations, farSpan)
	total := newLedger(0)
	timers, err := kind.begin(sizes.pending, farSpan)
	if err != nil {
		return answer{}, err
	}
	defer timers.stop()
	timers.fill(pendingDelays, total)
	timers.settle()
	collectGarbage()

	start := now()
	timers.pairs(delays, total)
	timers.settle()
	cost := start.cost(sizes.operations, map[string]any{})
	return cost, nothingRan(timers, sizes.operations, sizes.pending, total)
}

// firstInFirstOut cancels the timer that was added first of all that are pending, and adds a fresh one.
func firstInFirstOut(kind peer, asked request) (answer, error) {
	sizes, err := asked.sizes(1)
	if err != nil {
		return answer{}, err
	}
	victims := make([]int32, sizes.operations)
	for index := range victims {
		victims[index] = int32(index % sizes.pending)
	}
	return replace(kind, sizes, victims)
}

// randomVictims cancels a timer drawn at random, and adds a fresh one in its place.
func randomVictims(kind peer, asked request) (answer, error) {
	sizes, err := asked.sizes(1)
	if err != nil {
		return answer{}, err
	}
	return replace(kind, sizes, sizes.draws.victims(sizes.operations, sizes.pending))
}

// replace cancels the timer in the place of each victim, and adds a fresh one there.
func replace(kind peer, sizes sizes, victims []int32) (answer, error) {
	pendingDelays := sizes.draws.delays(sizes.pending, farSpan)
	delays := sizes.draws.delays(len(victims), farSpan)
	total := newLedger(0)
	timers, err := kind.begin(sizes.pending, farSpan)
	if err != nil {
		return answer{}, err
	}
	defer timers.stop()
	timers.fill(pendingDelays, total)
	timers.settle()
	collectGarbage()

	start := now()
	timers.replace(victims, delays, total)
	timers.settle()
	cost := start.cost(len(victims), map[string]any{})
	return cost, nothingRan(timers, len(victims), sizes.pending, total)
}

// nothingRan is an error unless each cancel took a pending timer away and no task has run.
func nothingRan(timers timers, cancels, pending int, total *ledger) error {
	if err := timers.check(cancels, pending); err != nil {
		return err
	}
	return total.check()
}
