// SPDX-License-Identifier: CC0-1.0
package main

import (
	"sync"
	"testing/synctest"
	"time"
)

// The timer behind the protocol: each step becomes a call. Change names until it calls yours.
//
// On the real clock time passes in "wait". In a bubble the runner moves the clock of the same timer.

// What is not declared here is neither asked for nor compared.
var timerProfile = map[string]any{
	"rounding":    "exact",
	"executor":    "threads",
	"clock":       "wall",
	"features":    []string{"cancel", "readd", "change_delay"},
	"observables": []string{"size"},
}

func init() {
	components["timer"] = component{timerProfile, newTimerCase}
	reasons[errTooLarge] = "too_large"
	if virtual {
		timerProfile["clock"] = "manual"
	}
}

type timerCase struct {
	timer   *tickingTimer
	began   time.Time
	startMs int64
	lock    sync.Mutex
	ran     []event
}

func newTimerCase(asked configuration) testCase {
	if former, is := current.(*timerCase); is {
		former.timer.stop()
	}
	c := &timerCase{began: time.Now(), startMs: asked.StartMs}
	c.timer = &tickingTimer{pending: map[string]*time.Timer{}, run: func(task string) {
		c.lock.Lock()
		defer c.lock.Unlock()
		c.ran = append(c.ran, event{Kind: "ran", Task: task, AtMs: c.nowMs()})
	}}
	return c
}

// nowMs is nil where the runner moves the clock.
func (c *timerCase) nowMs() *int64 {
	if virtual {
		return nil
	}
	reading := time.Since(c.began).Milliseconds()
	return &reading
}

func (c *timerCase) call(asked operation) (any, error) {
	var err error
	switch asked.Op {
	case "add":
		err = c.timer.add(asked.Task, asked.DelayMs)
	case "cancel":
		c.timer.cancel(asked.Task)
	case "wait":
		time.Sleep(time.Duration(asked.ForMs) * time.Millisecond)
	case "advance":
		then := c.began.Add(time.Duration(*asked.ToMs-c.startMs) * time.Millisecond)
		time.Sleep(time.Until(then))
	default:
		return nil, errUnsupported
	}
	if virtual {
		synctest.Wait() // until nothing is left to do at this time
	}
	c.lock.Lock()
	defer c.lock.Unlock()
	events, c.ran = c.ran, nil
	return nil, err
}

func (c *timerCase) observed() map[string]any {
	return map[string]any{"size": c.timer.size()}
}
