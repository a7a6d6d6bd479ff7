package main

import (
	"runtime"
	"time"
)

// bytesPerTimer says by how much the used heap grows for each pending timer.
func bytesPerTimer(asked request) (answer, error) {
	pending, err := asked.count("pending", 1)
	if err != nil {
		return answer{}, err
	}
	draws, err := asked.draws()
	if err != nil {
		return answer{}, err
	}
	delays := draws.delays(pending, farSpan)
	timers := make([]*time.Timer, pending)
	total := newLedger(0)
	collectGarbage()
	before := usedHeap()

	start := now()
	for index, delay := range delays {
		timers[index] = add(delay, total)
	}
	cost := start.cost(pending, nil)

	collectGarbage()
	grown := float64(usedHeap()) - float64(before)
	runtime.KeepAlive(delays)
	stopAll(timers)
	cost.Detail = map[string]any{
		"bytes": grown / float64(pending),
		"how":   "growth of the used heap after a full collection, without handles that a caller would keep",
	}
	return cost, total.check()
}

func usedHeap() uint64 {
	var statistics runtime.MemStats
	runtime.ReadMemStats(&statistics)
	return statistics.HeapAlloc
}
