package main

import (
	"fmt"
	"time"
)

// againWithin is how long is waited for a task that would run again.
const againWithin = 20 * time.Millisecond

// addAndRun adds timers and waits on the real clock until each has run.
func addAndRun(kind peer, asked request) (answer, error) {
	sizes, err := asked.sizes(0)
	if err != nil {
		return answer{}, err
	}
	if sizes.pending != 0 {
		return answer{}, fmt.Errorf("%q is 0 here", "pending")
	}
	delays := sizes.draws.delays(sizes.operations, nearSpan)
	total := newLedger(sizes.operations)
	timers, err := kind.begin(0, nearSpan)
	if err != nil {
		return answer{}, err
	}
	defer timers.stop()
	collectGarbage()

	detail := map[string]any{}
	start := now()
	timers.start(delays, total)
	adding := start.cost(sizes.operations, nil)
	if err := total.wait(time.Minute); err != nil {
		return answer{}, err
	}
	cost := start.cost(sizes.operations, detail)

	// No one thread runs the tasks.
	cost.ThreadCPUNs = nil
	detail["add_cpu_ns"] = adding.ProcessCPUNs
	if kind.inCaller {
		detail["add_cpu_ns"] = *adding.ThreadCPUNs
	}
	if err := timers.check(0, 0); err != nil {
		return answer{}, err
	}
	return cost, total.checkAfter(againWithin)
}

// checkAfter gives a task that would run again the time to do so.
func (total *ledger) checkAfter(pause time.Duration) error {
	time.Sleep(pause)
	return total.check()
}
