package main

import "runtime"

// bytesPerTimer says by how much the used heap grows for each pending timer.
func bytesPerTimer(kind peer, asked request) (answer, error) {
	pending, err := asked.count("pending", 1)
	if err != nil {
		return answer{}, err
	}
	draws, err := asked.draws()
	if err != nil {
		return answer{}, err
	}
	delays := draws.delays(pending, farSpan)
	total := newLedger(0)
	timers, err := kind.begin(pending, farSpan)
	if err != nil {
		return answer{}, err
	}
	defer timers.stop()
	collectGarbage()
	before := usedHeap()

	start := now()
	timers.fill(delays, total)
	timers.settle()
	cost := start.cost(pending, nil)

	collectGarbage()
	grown := float64(usedHeap()) - float64(before)
	runtime.KeepAlive(delays)
	cost.Detail = map[string]any{
		"bytes": grown / float64(pending),
		"how":   "growth of the used heap after a full collection, without handles that a caller would keep",
	}
	return cost, nothingRan(timers, 0, pending, total)
}

func usedHeap() uint64 {
	var statistics runtime.MemStats
	runtime.ReadMemStats(&statistics)
	return statistics.HeapAlloc
}
