// SPDX-License-Identifier: CC0-1.0
package main

import (
	"sync"
	"time"
)

const (
	grace  = 50 * time.Millisecond
	mostOf = 30 * time.Second
)

// An otherThread makes the calls of a step one by one, while a callback stands still.
type otherThread struct {
	lock sync.Mutex
	last chan struct{} // closed when the last call has returned
}

// call comes back when the call has returned, or is seen to wait for what its caller holds.
func (o *otherThread) call(call func()) {
	done := make(chan struct{})
	o.lock.Lock()
	before := o.last
	o.last = done
	o.lock.Unlock()
	go func() {
		defer close(done)
		if before != nil {
			<-before
		}
		call()
	}()
	if before == nil || isClosed(before) { // one that is behind another waits as that does
		within(done, grace)
	}
}

// endStep waits until every call has returned, also those that they asked for.
func (o *otherThread) endStep() {
	for last := o.latest(); last != nil; last = o.latest() {
		if !within(last, mostOf) {
			panic("a call does not return: the goroutines wait for each other")
		}
		o.lock.Lock()
		if o.last == last {
			o.last = nil
		}
		o.lock.Unlock()
	}
}

func (o *otherThread) latest() chan struct{} {
	o.lock.Lock()
	defer o.lock.Unlock()
	return o.last
}

func isClosed(done chan struct{}) bool {
	select {
	case <-done:
		return true
	default:
		return false
	}
}

func within(done chan struct{}, most time.Duration) bool {
	select {
	case <-done:
		return true
	case <-time.After(most):
		return false
	}
}
