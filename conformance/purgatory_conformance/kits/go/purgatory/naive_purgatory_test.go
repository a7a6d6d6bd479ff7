// SPDX-License-Identifier: CC0-1.0
package main

import "testing"

// tenThousand waits for an hour, under each of the keys.
func tenThousand(keys ...string) (*purgatory, []*delayedOperation) {
	timer := &timeOuts{tickMs: 1, armed: map[*delayedOperation]timeOut{}}
	p := &purgatory{timer: timer, purgeInterval: 100, lists: map[string][]*delayedOperation{}}
	waiting := make([]*delayedOperation, 10_000)
	for i := range waiting {
		waiting[i] = &delayedOperation{delayMs: 3_600_000, onComplete: func() {}}
		waiting[i].tryComplete = func() bool { return false }
		_, _ = p.tryCompleteElseWatch(waiting[i], keys)
	}
	return p, waiting
}

func keepsNothing(t *testing.T, p *purgatory) {
	t.Helper()
	p.purgeIfDue()
	if len(p.timer.armed) != 0 || len(p.lists) != 0 {
		t.Fatalf("%d are in the timer, %d keys have lists", len(p.timer.armed), len(p.lists))
	}
}

func TestACompletedOperationIsNotKeptUntilItsTimeOut(t *testing.T) {
	p, waiting := tenThousand("a", "b")
	for _, o := range waiting {
		o.forceComplete()
	}
	keepsNothing(t, p)
}

func TestACheckLeavesTheEntriesUnderOtherKeysToThePurge(t *testing.T) {
	p, waiting := tenThousand("a", "b")
	for _, o := range waiting {
		o.tryComplete = o.forceComplete
	}
	if completed := p.checkAndComplete("a"); completed != 10_000 || p.staleEntries() != 10_000 {
		t.Fatalf("%d were completed, %d entries are stale", completed, p.staleEntries())
	}
	keepsNothing(t, p)
}

func TestACancelledOperationIsNotKeptUntilItsTimeOut(t *testing.T) {
	p, _ := tenThousand("a")
	p.cancelForKey("a")
	keepsNothing(t, p)
}
