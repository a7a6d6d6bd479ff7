// SPDX-License-Identifier: CC0-1.0
package main

import "errors"

// The timer behind the protocol: each step becomes a call. Change names until it calls yours.

// What is not declared here is neither asked for nor compared.
var timerProfile = map[string]any{
	"executor": "inline",
	"features": []string{
		"cancel", "readd", "change_delay", "elapse", "shutdown", "script_add", "script_cancel",
		"script_advance", "reachable",
	},
	"observables": []string{"size", "queued", "advance_result"},
}

// The executor takes nothing, as one whose queue is full.
var errExecutorIsFull = errors.New("the executor takes nothing")

func init() {
	components["timer"] = component{timerProfile, newTimerCase}
	reasons[errTooLarge] = "too_large"
	reasons[errTimerClosed] = "closed"
	reasons[errExecutorIsFull] = "refused"
	if stepped {
		timerProfile["executor"] = "stepped"
		timerProfile["features"] = append(timerProfile["features"].([]string), "refuse")
	}
}

// A timerCase has a timer, the tasks that it was told of, and their executor.
type timerCase struct {
	timer   *heapTimer
	tasks   map[string]*scriptedTask
	dropped dropped[scriptedTask]
	queue   []*task // expired, not yet run
	refuses bool    // whether the executor does
}

type scriptedTask struct {
	task
	scripted
}

func newTimerCase(asked configuration) testCase {
	return &timerCase{ // a wheel takes asked.WheelSize, too
		timer:   newHeapTimer(asked.TickMs, asked.StartMs),
		tasks:   map[string]*scriptedTask{},
		dropped: dropped[scriptedTask]{},
	}
}

func (c *timerCase) named(name string) *scriptedTask {
	if c.tasks[name] == nil {
		t := &scriptedTask{scripted: scripted{name: name}}
		t.task = task{name, t.ran}
		c.tasks[name] = t
	}
	return c.tasks[name]
}

// call does what a step, or an action of a task, asks for.
func (c *timerCase) call(asked operation) (any, error) {
	switch asked.Op {
	case "add":
		return nil, c.add(c.named(asked.Task), asked)
	case "cancel":
		c.timer.cancel(&c.named(asked.Task).task)
	case "reachable":
		return c.dropped.isReachable(c.tasks, asked.Task), nil
	case "elapse":
		c.timer.nowMs = *asked.ToMs
	case "advance":
		if asked.ToMs != nil { // that of a script has no reading: the clock keeps its own
			c.timer.nowMs = *asked.ToMs
		}
		c.refuses = asked.Refuse
		expiredAny, err := c.timer.advance(c.handOver)
		for !stepped && len(c.queue) > 0 {
			c.runOne()
		}
		return expiredAny, err
	case "run_one":
		c.runOne()
	case "shutdown":
		c.timer.shutDown()
	default:
		return nil, errUnsupported
	}
	return nil, nil
}

func (c *timerCase) add(t *scriptedTask, asked operation) error {
	former := t.script
	if asked.Do == "" { // the script of a step replaces it, and none is an empty one
		t.script = asked.Script
	}
	err := c.timer.add(&t.task, asked.DelayMs)
	if err != nil { // nothing has changed
		t.script = former
	}
	return err
}

func (c *timerCase) handOver(due *task) error {
	if c.refuses {
		return errExecutorIsFull
	}
	c.queue = append(c.queue, due)
	if stepped {
		events = append(events, event{Kind: "expired", Task: due.name})
	}
	return nil
}

func (c *timerCase) runOne() {
	if len(c.queue) > 0 {
		first := c.queue[0]
		c.queue[0] = nil // or the array keeps it
		c.queue = c.queue[1:]
		first.run()
	}
}

func (c *timerCase) observed() map[string]any {
	return map[string]any{"size": len(c.timer.pending), "queued": len(c.queue)}
}
