// SPDX-License-Identifier: CC0-1.0
package main

import (
	"errors"
	"sync"
	"time"
)

// A naive timer on the real clock: put yours in its place. It knows nothing of the protocol.

const largestDelayMs = 1<<31 - 1 // a profile promises this limit if it names no other

var errTooLarge = errors.New("the delay is too large")

// A tickingTimer runs each task in a goroutine of its own.
type tickingTimer struct {
	lock    sync.Mutex
	pending map[string]*time.Timer
	run     func(task string)
}

func (t *tickingTimer) add(task string, delayMs int64) error {
	if delayMs > largestDelayMs {
		return errTooLarge
	}
	t.lock.Lock()
	defer t.lock.Unlock()
	if earlier := t.pending[task]; earlier != nil {
		earlier.Stop()
	}
	var armed *time.Timer
	armed = time.AfterFunc(time.Duration(delayMs)*time.Millisecond, func() {
		t.lock.Lock()
		defer t.lock.Unlock()
		if t.pending[task] == armed { // it was neither cancelled nor moved meanwhile
			delete(t.pending, task)
			t.run(task)
		}
	})
	t.pending[task] = armed
	return nil
}

func (t *tickingTimer) cancel(task string) { // an unknown task is no error
	t.lock.Lock()
	defer t.lock.Unlock()
	if armed := t.pending[task]; armed != nil {
		armed.Stop()
		delete(t.pending, task)
	}
}

// stop lets nothing run any more; a time.Timer that nobody stops is kept until it is due.
func (t *tickingTimer) stop() {
	t.lock.Lock()
	defer t.lock.Unlock()
	for _, armed := range t.pending {
		armed.Stop()
	}
	clear(t.pending)
}

func (t *tickingTimer) size() int {
	t.lock.Lock()
	defer t.lock.Unlock()
	return len(t.pending)
}
