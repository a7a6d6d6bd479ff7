// SPDX-License-Identifier: CC0-1.0
package main

import "testing"

func TestACancelledTaskIsNotKeptUntilItIsDue(t *testing.T) {
	timer := newHeapTimer(1, 0)
	tasks := make([]task, 10_000)
	for i := range tasks {
		_ = timer.add(&tasks[i], 3_600_000)
	}
	for i := range tasks {
		timer.cancel(&tasks[i])
	}
	if len(timer.heap) != 0 || len(timer.pending) != 0 {
		t.Fatalf("%d are in the heap, %d pending", len(timer.heap), len(timer.pending))
	}
}

func TestATaskThatIsMovedIsKeptOnce(t *testing.T) {
	timer := newHeapTimer(1, 0)
	moved := &task{name: "moved"}
	for range 10_000 {
		_ = timer.add(moved, 3_600_000)
	}
	if len(timer.heap) > 2 {
		t.Fatalf("%d are in the heap", len(timer.heap))
	}
}
