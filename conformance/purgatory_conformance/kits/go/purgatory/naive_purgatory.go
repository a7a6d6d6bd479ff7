// SPDX-License-Identifier: CC0-1.0
package main

import (
	"cmp"
	"errors"
	"slices"
)

// A naive purgatory: put yours in its place. It knows nothing of the protocol.

var (
	errClosed = errors.New("the purgatory is shut down")
	errNoKeys = errors.New("an operation needs a key to be watched under")
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
	if o.completed {
		return false
	}
	o.completed = true
	if o.timer != nil {
		delete(o.timer.armed, o)
	}
	o.onComplete()
	return true
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

// advance takes out what is due at the clock's present reading.
func (t *timeOuts) advance() (due []*delayedOperation) {
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
	for _, o := range due {
		delete(t.armed, o)
	}
	return due
}

// A purgatory has operations under keys; one that is completed elsewhere leaves stale entries.
type purgatory struct {
	timer         *timeOuts // nothing times out where it is nil
	purgeInterval int
	lists         map[string][]*delayedOperation
	closed        bool
}

func (p *purgatory) tryCompleteElseWatch(o *delayedOperation, keys []string) (bool, error) {
	if p.closed {
		return false, errClosed
	}
	if len(keys) == 0 {
		return false, errNoKeys
	}
	if o.completed {
		return false, nil
	}
	if done := o.tryComplete(); done || o.completed {
		return done, nil
	}
	for _, key := range keys {
		p.lists[key] = append(p.lists[key], o)
	}
	if p.timer != nil && !o.completed {
		p.timer.add(o)
	}
	return o.tryComplete(), nil
}

func (p *purgatory) checkAndComplete(key string) (completed int) {
	for _, o := range slices.Clone(p.lists[key]) {
		if !o.completed && o.tryComplete() {
			completed++
		}
		if o.completed { // only the entry that is met goes now, not those passed before
			if at := slices.Index(p.lists[key], o); at >= 0 { // a callback may have taken it already
				p.keep(key, slices.Delete(p.lists[key], at, at+1))
			}
		}
	}
	return completed
}

func (p *purgatory) cancelForKey(key string) []*delayedOperation {
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

// advance completes what is due, and purges if there are too many stale entries.
func (p *purgatory) advance() {
	if p.closed {
		return
	}
	if p.timer != nil {
		for _, o := range p.timer.advance() {
			if o.forceComplete() {
				o.onExpiration()
			}
		}
	}
	if p.staleEntries() > p.purgeInterval {
		for key, list := range p.lists {
			p.keep(key, slices.DeleteFunc(list, func(o *delayedOperation) bool { return o.completed }))
		}
	}
}

// keep makes the list that of the key; an empty one is dropped.
func (p *purgatory) keep(key string, list []*delayedOperation) {
	p.lists[key] = list
	if len(list) == 0 {
		delete(p.lists, key)
	}
}

func (p *purgatory) entries() (count int) {
	for _, list := range p.lists {
		count += len(list)
	}
	return count
}

func (p *purgatory) staleEntries() (count int) {
	for _, list := range p.lists {
		for _, o := range list {
			if o.completed {
				count++
			}
		}
	}
	return count
}
