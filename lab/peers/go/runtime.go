package main

import (
	"fmt"
	"runtime"
	"time"
)

var runtimePeer = peer{
	argument: "runtime",
	version:  runtime.Version,
	inCaller: true,
	begin: func(room int, _ span) (timers, error) {
		return &runtimeTimers{kept: make([]*time.Timer, 0, room)}, nil
	},
}

// runtimeTimers are Go's own.
type runtimeTimers struct {
	kept      []*time.Timer
	cancelled int
}

// addRuntime starts a timer for a fresh task.
func addRuntime(delay time.Duration, total *ledger) *time.Timer {
	return time.AfterFunc(delay, (&task{total: total}).run)
}

func (timers *runtimeTimers) fill(delays []time.Duration, total *ledger) {
	for _, delay := range delays {
		timers.kept = append(timers.kept, addRuntime(delay, total))
	}
}

func (timers *runtimeTimers) start(delays []time.Duration, total *ledger) {
	for _, delay := range delays {
		addRuntime(delay, total)
	}
}

func (timers *runtimeTimers) pairs(delays []time.Duration, total *ledger) {
	cancelled := 0
	for _, delay := range delays {
		if addRuntime(delay, total).Stop() {
			cancelled++
		}
	}
	timers.cancelled += cancelled
}

func (timers *runtimeTimers) replace(victims []int32, delays []time.Duration, total *ledger) {
	kept, cancelled := timers.kept, 0
	for index, victim := range victims {
		if kept[victim].Stop() {
			cancelled++
		}
		kept[victim] = addRuntime(delays[index], total)
	}
	timers.cancelled += cancelled
}

func (timers *runtimeTimers) settle() {}

func (timers *runtimeTimers) check(cancels, _ int) error {
	if timers.cancelled != cancels {
		return fmt.Errorf("%d of %d cancels found no pending timer", cancels-timers.cancelled, cancels)
	}
	return nil
}

func (timers *runtimeTimers) stop() {
	for _, timer := range timers.kept {
		timer.Stop()
	}
}
