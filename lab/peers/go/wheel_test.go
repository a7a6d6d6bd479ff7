package main

import (
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// wheelOf holds so many timers that fall due in a minute.
func wheelOf(t *testing.T, kept int) (*wheelTimers, *ledger) {
	t.Helper()
	made, err := newWheel(kept, farSpan)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(made.stop)
	total := newLedger(0)
	made.fill(far(kept), total)
	return made.(*wheelTimers), total
}

func far(count int) []time.Duration {
	return (&splitMix64{7}).delays(count, farSpan)
}

func refused(t *testing.T, err error, words string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), words) {
		t.Errorf("%v, not: %s", err, words)
	}
}

func TestAWheelHoldsWhatWasKeptAndNothingElse(t *testing.T) {
	wheel, total := wheelOf(t, 100)
	wheel.pairs(far(50), total)
	wheel.replace([]int32{0, 99, 0}, far(3), total)
	if err := nothingRan(wheel, 53, 100, total); err != nil {
		t.Error(err)
	}
}

func TestAWheelThatLostATimerIsRefused(t *testing.T) {
	wheel, total := wheelOf(t, 100)
	wheel.cancel(wheel.kept[3])
	// It would be waited for longer than a test may take.
	wheel.leftWithin = time.Millisecond
	refused(t, nothingRan(wheel, 0, 100, total), "100 tasks were to run once each: 99 runs")
}

func TestACancelThatTookNothingAwayIsRefused(t *testing.T) {
	wheel, total := wheelOf(t, 100)
	wheel.start(far(1), total)
	refused(t, nothingRan(wheel, 1, 100, total), "0 tasks were to run once each: 1 runs")
}

func TestACancelThatTookAnotherAwayIsRefused(t *testing.T) {
	wheel, total := wheelOf(t, 100)
	wheel.start(far(1), total)
	wheel.cancel(wheel.kept[3])
	wheel.leftWithin = time.Millisecond
	refused(t, nothingRan(wheel, 1, 100, total), "100 tasks were to run once each: 99 runs")
}

func TestATimerThatRanInsteadOfBeingKeptIsRefused(t *testing.T) {
	wheel, total := wheelOf(t, 100)
	wheel.kept[3].run()
	refused(t, nothingRan(wheel, 0, 100, total), "were to run once each")
}

func TestATimerThatIsLeftWhereAllShouldHaveRunIsRefused(t *testing.T) {
	wheel, total := wheelOf(t, 0)
	wheel.start(far(1), total)
	refused(t, nothingRan(wheel, 0, 0, total), "0 tasks were to run once each: 1 runs")
}

func TestAnOperationThatTheWheelRefusesIsAnError(t *testing.T) {
	wheel, total := wheelOf(t, 0)
	wheel.start([]time.Duration{0}, total)
	refused(t, nothingRan(wheel, 0, 0, total), "the wheel has refused an operation")
}

func TestSettlingWaitsForWhatWasAskedBefore(t *testing.T) {
	wheel, _ := wheelOf(t, 20)
	var done atomic.Int64
	slow := func(_, _ any) {
		time.Sleep(20 * time.Millisecond)
		done.Add(1)
	}
	if err := wheel.wheel.Drain(slow); err != nil {
		t.Fatal(err)
	}
	wheel.settle()
	// Its eight workers may be busy with the last ones.
	if done.Load() < 12 {
		t.Errorf("%d were drained", done.Load())
	}
}
