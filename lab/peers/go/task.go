package main

import (
	"fmt"
	"sync/atomic"
	"time"
)

// ledger holds the sums over all tasks of a request.
type ledger struct {
	expected int64
	runs     atomic.Int64
	repeated atomic.Int64
	complete chan struct{}
}

// task is what a timer runs: a fresh one for each add, which counts how often it has run.
type task struct {
	runs  atomic.Int32
	total *ledger
}

func newLedger(expected int) *ledger {
	return &ledger{expected: int64(expected), complete: make(chan struct{})}
}

func (task *task) run() {
	if task.runs.Add(1) > 1 {
		task.total.repeated.Add(1)
	}
	if task.total.runs.Add(1) == task.total.expected {
		close(task.total.complete)
	}
}

// wait returns once as many tasks have run as were expected.
func (total *ledger) wait(longest time.Duration) error {
	select {
	case <-total.complete:
		return nil
	case <-time.After(longest):
		return total.check()
	}
}

// check is an error unless the expected tasks have run, each once.
func (total *ledger) check() error {
	runs, repeated := total.runs.Load(), total.repeated.Load()
	if runs == total.expected && repeated == 0 {
		return nil
	}
	return fmt.Errorf("%d tasks were to run once each: %d runs, %d of them repeated",
		total.expected, runs, repeated)
}
