// SPDX-License-Identifier: CC0-1.0
package main

// The timer behind the protocol: each step becomes a call. Change names until it calls yours.

// What is not declared here is neither asked for nor compared.
var timerProfile = map[string]any{
	"features":    []string{"cancel", "readd", "change_delay", "elapse", "reachable"},
	"observables": []string{"size", "advance_result"},
}

func init() {
	components["timer"] = component{timerProfile, newTimerCase}
	reasons[errTooLarge] = "too_large"
}

type timerCase struct {
	timer   *heapTimer
	tasks   map[string]*task
	dropped dropped[task]
}

func newTimerCase(asked configuration) testCase {
	return &timerCase{newHeapTimer(asked.TickMs, asked.StartMs), map[string]*task{}, dropped[task]{}}
}

func (c *timerCase) named(name string) *task {
	if c.tasks[name] == nil {
		c.tasks[name] = &task{name}
	}
	return c.tasks[name]
}

func (c *timerCase) call(asked operation) (any, error) {
	switch asked.Op {
	case "add":
		return nil, c.timer.add(c.named(asked.Task), asked.DelayMs)
	case "cancel":
		c.timer.cancel(c.named(asked.Task))
	case "reachable":
		return c.dropped.isReachable(c.tasks, asked.Task), nil
	case "elapse":
		c.timer.nowMs = asked.ToMs
	case "advance":
		c.timer.nowMs = asked.ToMs
		return c.timer.advance(func(ran *task) {
			events = append(events, event{Kind: "ran", Task: ran.name})
		}), nil
	default:
		return nil, errUnsupported
	}
	return nil, nil
}

func (c *timerCase) observed() map[string]any {
	return map[string]any{"size": len(c.timer.pending)}
}
