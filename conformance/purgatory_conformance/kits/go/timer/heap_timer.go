// SPDX-License-Identifier: CC0-1.0
package main

import (
	"container/heap"
	"errors"
	"slices"
)

// A naive timer on a heap: put yours in its place. It knows nothing of the protocol.

const largestDelayMs = 1<<31 - 1 // what a profile that says nothing of it promises to accept

var errTooLarge = errors.New("the delay is too large")

type task struct{ name string }

type arming struct {
	dueTick int64
	number  int
	task    *task
}

type armings []arming

func (a armings) Len() int { return len(a) }
func (a armings) Less(i, j int) bool {
	return a[i].dueTick < a[j].dueTick || a[i].dueTick == a[j].dueTick && a[i].number < a[j].number
}
func (a armings) Swap(i, j int) { a[i], a[j] = a[j], a[i] }
func (a *armings) Push(x any)   { *a = append(*a, x.(arming)) }
func (a *armings) Pop() any {
	last := (*a)[len(*a)-1]
	(*a)[len(*a)-1] = arming{} // or the array keeps its task
	*a = (*a)[:len(*a)-1]
	return last
}

// A heapTimer has tasks by the tick in which they are due, and a clock that somebody else moves.
type heapTimer struct {
	tickMs, nowMs int64
	heap          armings
	pending       map[*task]int // the number of its arming; what else the heap holds is stale
	count         int
}

func newHeapTimer(tickMs, startMs int64) *heapTimer {
	return &heapTimer{tickMs: tickMs, nowMs: startMs, pending: map[*task]int{}}
}

func (t *heapTimer) add(task *task, delayMs int64) error {
	if delayMs > largestDelayMs {
		return errTooLarge
	}
	t.count++
	t.pending[task] = t.count // an earlier arming of the task becomes stale
	expiryMs := t.nowMs + delayMs
	remainder := ((expiryMs % t.tickMs) + t.tickMs) % t.tickMs
	heap.Push(&t.heap, arming{expiryMs - remainder, t.count, task}) // rounding "down", the default
	t.sweep()
	return nil
}

func (t *heapTimer) cancel(task *task) {
	delete(t.pending, task) // an unknown task is no error
	t.sweep()
}

// sweep rebuilds the heap when more than half of it is stale, which else stays until it is due.
func (t *heapTimer) sweep() {
	if len(t.heap) > 2*len(t.pending) {
		t.heap = slices.DeleteFunc(t.heap, func(a arming) bool { return t.pending[a.task] != a.number })
		heap.Init(&t.heap)
	}
}

func (t *heapTimer) advance(run func(*task)) (ranAny bool) {
	for len(t.heap) > 0 && t.heap[0].dueTick <= t.nowMs {
		due := heap.Pop(&t.heap).(arming)
		if t.pending[due.task] == due.number {
			delete(t.pending, due.task)
			run(due.task) // at once, in this goroutine: the executor "inline", the default
			ranAny = true
		}
	}
	return ranAny
}
