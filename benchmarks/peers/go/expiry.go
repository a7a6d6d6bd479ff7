package main

import (
	"fmt"
	"time"
)

// addAndRun adds timers and waits on the real clock until each has run.
func addAndRun(asked request) (answer, error) {
	sizes, err := asked.sizes(0)
	if err != nil {
		return answer{}, err
	}
	if sizes.pending != 0 {
		return answer{}, fmt.Errorf("%q is 0 here", "pending")
	}
	delays := sizes.draws.delays(sizes.operations, nearSpan)
	total := newLedger(sizes.operations)
	collectGarbage()

	detail := map[string]any{}
	start := now()
	for _, delay := range delays {
		add(delay, total)
	}
	adding := start.cost(sizes.operations, nil)
	if err := total.wait(time.Minute); err != nil {
		return answer{}, err
	}
	cost := start.cost(sizes.operations, detail)

	// No one thread runs the tasks.
	cost.ThreadCPUNs = nil
	detail["add_cpu_ns"] = *adding.ThreadCPUNs
	return cost, total.checkAfter(20 * time.Millisecond)
}

// checkAfter gives a task that would run again the time to do so.
func (total *ledger) checkAfter(pause time.Duration) error {
	time.Sleep(pause)
	return total.check()
}
