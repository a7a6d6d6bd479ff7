// SPDX-License-Identifier: CC0-1.0
package main

import (
	"container/heap"
	"errors"
	"slices"
)

// A naive timer on a heap: put yours in its place. It knows nothing of the protocol.

const largestDelayMs = 1<<31 - 1 // a profile promises this limit if it names no other

var (
	errTooLarge    = errors.New("the delay is too large")
	errTimerClosed = errors.New("the timer is shut down")
)

type task struct {
	name string
	run  func()
}

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
	closed        bool
}

func newHeapTimer(tickMs, startMs int64) *heapTimer {
	return &heapTimer{tickMs: tickMs, nowMs: startMs, pending: map[*task]int{}}
}

func (t *heapTimer) add(task *task, delayMs int64) error {
	if t.closed {
		return errTimerClosed
	}
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

// sweep rebuilds the heap when more than half is stale: stale entries would stay until due.
func (t *heapTimer) sweep() {
	if len(t.heap) > 2*len(t.pending) {
		t.heap = slices.DeleteFunc(t.heap, func(a arming) bool { return t.pending[a.task] != a.number })
		heap.Init(&t.heap)
	}
}

// advance hands over what is due to an executor; what that refuses by an error stays here.
func (t *heapTimer) advance(handOver func(*task) error) (expiredAny bool, err error) {
	for len(t.heap) > 0 && t.heap[0].dueTick <= t.nowMs {
		if due := t.heap[0]; t.pending[due.task] == due.number {
			if err := handOver(due.task); err != nil {
				return expiredAny, err
			}
			delete(t.pending, due.task)
			expiredAny = true
		}
		heap.Pop(&t.heap)
	}
	return expiredAny, nil
}

func (t *heapTimer) shutDown() {
	t.closed, t.heap = true, nil
	clear(t.pending)
}
