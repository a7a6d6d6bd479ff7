// SPDX-License-Identifier: CC0-1.0
package main

import (
	"cmp"
	"errors"
	"slices"
	"sync"
)

// A naive purgatory: put yours in its place. It knows nothing of the protocol.
//
// Any goroutine may call it: there is one lock, which nobody holds while a callback runs.

var lock sync.Mutex

var (
	errClosed = errors.New("the purgatory is shut down")
	errNoKeys = errors.New("an operation needs a key to be watched under")
	errFull   = errors.New("the executor takes nothing, as one whose queue is full")
)

// A delayedOperation can be completed once: by an event, or else by its time-out.
type delayedOperation struct {
	delayMs      int64
	completed    bool
	timer        *timeOuts   // that it was armed in
	tryComplete  func() bool // completes it with forceComplete if it can be, and says whether it did
	onComplete   func()      // called once, whoever completes the operation
	onExpiration func()      // called after onComplete if it was the time-out
}

// forceComplete completes it; false if somebody else already has.
func (o *delayedOperation) forceComplete() bool {
	if !o.becomesCompleted() {
		return false
	}
	o.onComplete()
	return true
}

func (o *delayedOperation) becomesCompleted() bool {
	lock.Lock()
	defer lock.Unlock()
	if o.completed {
		return false
	}
	o.completed = true
	if o.timer != nil {
		delete(o.timer.armed, o)
	}
	return true
}

func (o *delayedOperation) isCompleted() bool {
	lock.Lock()
	defer lock.Unlock()
	return o.completed
}

// timeOuts has operations by the tick in which they are due, and a clock that somebody else moves.
type timeOuts struct {
	tickMs, nowMs int64
	armed         map[*delayedOperation]timeOut
	armings       int
}

type timeOut struct {
	dueTick int64
	number  int
}

func (t *timeOuts) add(o *delayedOperation) {
	t.armings++
	o.timer = t
	expiryMs := t.nowMs + o.delayMs
	remainder := ((expiryMs % t.tickMs) + t.tickMs) % t.tickMs
	t.armed[o] = timeOut{expiryMs - remainder, t.armings} // moves it, if it was armed before
}

func (t *timeOuts) size() int {
	lock.Lock()
	defer lock.Unlock()
	return len(t.armed)
}

// due is what is due at the clock's present reading.
func (t *timeOuts) due() (due []*delayedOperation) {
	for o, armed := range t.armed {
		if armed.dueTick <= t.nowMs {
			due = append(due, o)
		}
	}
	slices.SortFunc(due, func(a, b *delayedOperation) int {
		first, second := t.armed[a], t.armed[b]
		byTick := cmp.Compare(first.dueTick, second.dueTick)
		return cmp.Or(byTick, cmp.Compare(first.number, second.number))
	})
	return due
}

// A purgatory has operations under keys; one that is completed elsewhere leaves stale entries.
type purgatory struct {
	timer         *timeOuts // nothing times out where it is nil
	purgeInterval int
	lists         map[string][]*delayedOperation
	queue         []*delayedOperation // the executor's: expired, not yet run
	refuses       bool                // whether the executor does
	closed        bool
}

func (p *purgatory) tryCompleteElseWatch(o *delayedOperation, keys []string) (bool, error) {
	if p.isClosed() {
		return false, errClosed
	}
	if len(keys) == 0 {
		return false, errNoKeys
	}
	if o.isCompleted() {
		return false, nil
	}
	if done := o.tryComplete(); done || !p.watch(o, keys) {
		return done, nil
	}
	return o.tryComplete(), nil
}

// watch enters the operation into the lists and arms it; false if it is completed.
func (p *purgatory) watch(o *delayedOperation, keys []string) bool {
	lock.Lock()
	defer lock.Unlock()
	if o.completed {
		return false
	}
	for _, key := range keys {
		p.lists[key] = append(p.lists[key], o)
	}
	if p.timer != nil {
		p.timer.add(o)
	}
	return true
}

func (p *purgatory) checkAndComplete(key string) (completed int) {
	for _, o := range p.watched(key) {
		if !o.isCompleted() && o.tryComplete() {
			completed++
		}
		p.dropIfCompleted(key, o)
	}
	return completed
}

func (p *purgatory) watched(key string) []*delayedOperation {
	lock.Lock()
	defer lock.Unlock()
	return slices.Clone(p.lists[key])
}

// dropIfCompleted takes out the entry that is met, and not those passed before.
func (p *purgatory) dropIfCompleted(key string, o *delayedOperation) {
	lock.Lock()
	defer lock.Unlock()
	at := slices.Index(p.lists[key], o)
	if o.completed && at >= 0 { // a callback may have taken it already
		p.keep(key, slices.Delete(p.lists[key], at, at+1))
	}
}

func (p *purgatory) cancelForKey(key string) []*delayedOperation {
	lock.Lock()
	defer lock.Unlock()
	cancelled := p.lists[key]
	delete(p.lists, key)
	for _, o := range cancelled {
		watched := false
		for _, list := range p.lists {
			watched = watched || slices.Contains(list, o)
		}
		if !watched && p.timer != nil {
			delete(p.timer.armed, o)
		}
	}
	return cancelled
}

// advance hands over what is due to the executor; runOne runs it, purgeIfDue follows.
//
// What the executor refuses stays in the timer, and the next advance hands it over.
func (p *purgatory) advance() (due []*delayedOperation, err error) {
	lock.Lock()
	defer lock.Unlock()
	if p.closed || p.timer == nil {
		return nil, nil
	}
	due = p.timer.due()
	if p.refuses && len(due) > 0 {
		return nil, errFull
	}
	for _, o := range due {
		delete(p.timer.armed, o)
	}
	p.queue = append(p.queue, due...)
	return due, nil
}

// runOne runs what has waited longest for the executor; false where nothing waits.
func (p *purgatory) runOne() bool {
	first := p.next()
	if first != nil && first.forceComplete() {
		first.onExpiration()
	}
	return first != nil
}

func (p *purgatory) next() (first *delayedOperation) {
	lock.Lock()
	defer lock.Unlock()
	if len(p.queue) > 0 {
		first = p.queue[0]
		p.queue[0] = nil // or the array keeps it
		p.queue = p.queue[1:]
	}
	return first
}

func (p *purgatory) purgeIfDue() {
	if p.staleEntries() > p.purgeInterval {
		lock.Lock()
		defer lock.Unlock()
		for key, list := range p.lists {
			p.keep(key, slices.DeleteFunc(list, func(o *delayedOperation) bool { return o.completed }))
		}
	}
}

func (p *purgatory) shutDown() {
	lock.Lock()
	defer lock.Unlock()
	p.closed = true
}

func (p *purgatory) isClosed() bool {
	lock.Lock()
	defer lock.Unlock()
	return p.closed
}

// keep makes the list that of the key; an empty one is dropped.
func (p *purgatory) keep(key string, list []*delayedOperation) {
	p.lists[key] = list
	if len(list) == 0 {
		delete(p.lists, key)
	}
}

func (p *purgatory) entries() (count int) {
	lock.Lock()
	defer lock.Unlock()
	for _, list := range p.lists {
		count += len(list)
	}
	return count
}

func (p *purgatory) staleEntries() (count int) {
	lock.Lock()
	defer lock.Unlock()
	for _, list := range p.lists {
		for _, o := range list {
			if o.completed {
				count++
			}
		}
	}
	return count
}
