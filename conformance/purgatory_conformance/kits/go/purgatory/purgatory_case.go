// SPDX-License-Identifier: CC0-1.0
package main

import "sync"

// The purgatory behind the protocol: each step becomes a call. Change names until it calls yours.

// What is not declared here is neither asked for nor compared.
var purgatoryProfile = map[string]any{
	"accounting":        "exact",
	"check_drops":       "as_passed",
	"executor":          "inline",
	"release_cancelled": "at_once",
	"features": []string{
		"force", "cancel_for_key", "rewatch", "duplicate_keys", "elapse", "shutdown", "no_time_outs",
		"script_watch", "script_check", "script_cancel_for_key", "script_force", "script_try",
		"script_meanwhile", "script_crosswise", "reachable",
	},
	"observables": []string{
		"entries", "keys", "stale_entries", "timer_size", "queued", "pending", "estimate",
		"callback_timer_size",
	},
}

func init() {
	components["purgatory"] = component{purgatoryProfile, newPurgatoryCase}
	reasons[errClosed] = "closed"
	reasons[errNoKeys] = "invalid_argument"
	reasons[errFull] = "refused"
	if stepped {
		purgatoryProfile["executor"] = "stepped"
		purgatoryProfile["features"] = append(purgatoryProfile["features"].([]string), "refuse")
	}
}

// A purgatoryCase has a purgatory, and the operations that it was told of.
type purgatoryCase struct {
	timer      *timeOuts
	purgatory  *purgatory
	operations map[string]*scriptedOperation
	dropped    dropped[scriptedOperation]
	naming     sync.Mutex
	others     otherThread
	seen       *int // the timer's size, as the last onComplete of a step began
}

type scriptedOperation struct {
	delayedOperation
	scripted
}

func newPurgatoryCase(asked configuration) testCase {
	c := &purgatoryCase{
		operations: map[string]*scriptedOperation{}, dropped: dropped[scriptedOperation]{},
	}
	c.timer = &timeOuts{
		tickMs: asked.TickMs, nowMs: asked.StartMs, armed: map[*delayedOperation]timeOut{},
	}
	c.purgatory = &purgatory{
		purgeInterval: asked.PurgeInterval, lists: map[string][]*delayedOperation{},
	}
	if asked.TimeOuts {
		c.purgatory.timer = c.timer
	}
	return c
}

// named is the operation of a name; the step that introduces the name gives the script.
func (c *purgatoryCase) named(name string, delayMs int64, asked script) *scriptedOperation {
	c.naming.Lock()
	defer c.naming.Unlock()
	if c.operations[name] == nil {
		o := &scriptedOperation{scripted: scripted{name: name, script: asked, meanwhile: c.others.call}}
		o.delayMs = delayMs
		o.tryComplete = func() bool { return o.tried(o.forceComplete) }
		o.onExpiration = o.timedOut
		o.onComplete = func() {
			size := c.timer.size()
			c.seen = &size
			o.scripted.completed()
		}
		c.operations[name] = o
	}
	return c.operations[name]
}

func (c *purgatoryCase) nameOf(o *delayedOperation) string {
	for name, known := range c.operations {
		if &known.delayedOperation == o {
			return name
		}
	}
	for name, left := range c.dropped {
		if known := left.Value(); known != nil && &known.delayedOperation == o {
			return name
		}
	}
	return ""
}

// call does what a step, or an action of a callback, asks for.
func (c *purgatoryCase) call(asked operation) (any, error) {
	switch asked.Op {
	case "watch":
		o := c.named(asked.Operation, asked.DelayMs, asked.Script)
		return c.purgatory.tryCompleteElseWatch(&o.delayedOperation, asked.Keys)
	case "check":
		return c.purgatory.checkAndComplete(asked.Key), nil
	case "cancel_for_key":
		names := []string{}
		for _, cancelled := range c.purgatory.cancelForKey(asked.Key) {
			names = append(names, c.nameOf(cancelled))
		}
		return names, nil
	case "force":
		return c.named(asked.Operation, 0, script{}).forceComplete(), nil
	case "satisfy":
		c.named(asked.Operation, 0, script{}).satisfy()
	case "elapse":
		c.timer.nowMs = *asked.ToMs
	case "advance":
		c.timer.nowMs = *asked.ToMs
		c.purgatory.refuses = asked.Refuse
		return nil, c.advance()
	case "run_one":
		c.purgatory.runOne()
	case "reachable":
		return c.dropped.isReachable(c.operations, asked.Task), nil
	case "shutdown":
		c.purgatory.shutDown()
	default:
		return nil, errUnsupported
	}
	return nil, nil
}

func (c *purgatoryCase) advance() error {
	due, err := c.purgatory.advance()
	for _, o := range due {
		if stepped {
			events = append(events, event{Kind: "expired", Task: c.nameOf(o)})
		}
	}
	for !stepped && c.purgatory.runOne() {
	}
	if err == nil {
		c.purgatory.purgeIfDue()
	}
	return err
}

// settle waits for what another goroutine still does in this step.
func (c *purgatoryCase) settle() { c.others.endStep() }

func (c *purgatoryCase) observed() map[string]any {
	queued, stale, seen := len(c.purgatory.queue), c.purgatory.staleEntries(), c.seen
	pending := c.timer.size() + queued
	c.seen = nil
	return map[string]any{
		"entries":       c.purgatory.entries(),
		"keys":          len(c.purgatory.lists),
		"stale_entries": stale,
		"timer_size":    c.timer.size(),
		"queued":        queued,
		"pending":       pending,
		"estimate":      pending + stale,

		"callback_timer_size": seen,
	}
}
