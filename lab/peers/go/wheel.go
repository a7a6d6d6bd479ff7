package main

import (
	"fmt"
	"runtime/debug"
	"time"

	"github.com/zeromicro/go-zero/core/collection"
)

const (
	wheelModule = "github.com/zeromicro/go-zero"
	wheelTick   = time.Millisecond
)

var wheelPeer = peer{
	argument: "wheel",
	version:  wheelVersion,
	begin:    newWheel,
}

// wheelTimers are those of go-zero's timing wheel, whose operations are done by a goroutine of its own.
type wheelTimers struct {
	wheel   *collection.TimingWheel
	kept    []*task
	refused error
	// leftWithin is how long is waited for what is drained at the end.
	leftWithin time.Duration
}

// newWheel makes one turn of the wheel longer than the longest delay, so that no timer is passed over.
func newWheel(room int, delays span) (timers, error) {
	wheel, err := collection.NewTimingWheel(wheelTick, int(delays.highest)+1, runTask)
	if err != nil {
		return nil, fmt.Errorf("the wheel cannot be made: %w", err)
	}
	return &wheelTimers{wheel: wheel, kept: make([]*task, 0, room), leftWithin: time.Minute}, nil
}

func runTask(_, value any) {
	value.(*task).run()
}

// add sets a timer for a fresh task, which is its key, too.
func (timers *wheelTimers) add(delay time.Duration, total *ledger) *task {
	fresh := &task{total: total}
	if err := timers.wheel.SetTimer(fresh, fresh, delay); err != nil {
		timers.refused = err
	}
	return fresh
}

func (timers *wheelTimers) cancel(key any) {
	if err := timers.wheel.RemoveTimer(key); err != nil {
		timers.refused = err
	}
}

func (timers *wheelTimers) fill(delays []time.Duration, total *ledger) {
	for _, delay := range delays {
		timers.kept = append(timers.kept, timers.add(delay, total))
	}
}

func (timers *wheelTimers) start(delays []time.Duration, total *ledger) {
	for _, delay := range delays {
		timers.add(delay, total)
	}
}

func (timers *wheelTimers) pairs(delays []time.Duration, total *ledger) {
	for _, delay := range delays {
		timers.cancel(timers.add(delay, total))
	}
}

func (timers *wheelTimers) replace(victims []int32, delays []time.Duration, total *ledger) {
	for index, victim := range victims {
		timers.cancel(timers.kept[victim])
		timers.kept[victim] = timers.add(delays[index], total)
	}
}

// settle cancels what was never added: the wheel takes that up only after it has done all that was asked before.
func (timers *wheelTimers) settle() {
	type nothing struct{}
	timers.cancel(nothing{})
}

// check drains the wheel, because a cancel does not tell whether it found its timer.
//
// What is drained runs. The kept tasks are counted anew; any other that was still there is counted where a run
// of it was always counted.
func (timers *wheelTimers) check(_, pending int) error {
	left := newLedger(pending)
	for _, each := range timers.kept {
		each.total = left
	}
	if err := timers.wheel.Drain(runTask); err != nil {
		return err
	}
	timers.settle()
	if timers.refused != nil {
		return fmt.Errorf("the wheel has refused an operation: %w", timers.refused)
	}
	if pending > 0 {
		if err := left.wait(timers.leftWithin); err != nil {
			return fmt.Errorf("drained at the end: %w", err)
		}
	}
	if err := left.checkAfter(againWithin); err != nil {
		return fmt.Errorf("drained at the end: %w", err)
	}
	return nil
}

func (timers *wheelTimers) stop() {
	timers.wheel.Stop()
}

// wheelVersion is what this program was built with.
func wheelVersion() string {
	if built, ok := debug.ReadBuildInfo(); ok {
		for _, module := range built.Deps {
			if module.Path == wheelModule {
				return module.Version
			}
		}
	}
	return "unknown"
}
