// SPDX-License-Identifier: CC0-1.0
package main

import (
	"strconv"
	"testing"
)

func TestACancelledTaskIsNotKeptUntilItIsDue(t *testing.T) {
	timer := newHeapTimer(1, 0)
	for number := range 10_000 {
		_ = timer.add(strconv.Itoa(number), 3_600_000)
	}
	for number := range 10_000 {
		timer.cancel(strconv.Itoa(number))
	}
	if len(timer.heap) != 0 || len(timer.pending) != 0 {
		t.Fatalf("%d are in the heap, %d pending", len(timer.heap), len(timer.pending))
	}
}

func TestATaskThatIsMovedIsKeptOnce(t *testing.T) {
	timer := newHeapTimer(1, 0)
	for range 10_000 {
		_ = timer.add("task", 3_600_000)
	}
	if len(timer.heap) > 2 {
		t.Fatalf("%d are in the heap", len(timer.heap))
	}
}
