// SPDX-License-Identifier: CC0-1.0

package adapters

import (
	_ "embed"
	"runtime"
	"strings"
	"time"

	"github.com/RussellLuo/timingwheel"
)

// timer is what the adapter needs of a timer.
type timer interface {
	// after calls the function when the time has passed; what it returns calls that off.
	after(delay time.Duration, call func()) (stop func())
	shutdown()
}

//go:embed go.mod
var requirements string // a test has no build information that would name them

type subject struct {
	name    string
	module  string // empty: the standard library
	source  string
	profile message
	start   func(tick time.Duration, wheelSize int64) timer
}

// features are those of both timers. The clock cannot move without them, so that there is no
// "elapse"; and a task runs at its own instant, not at the end of an advance, so that what it would
// add is due at another time than the suite expects: no "script_add". A panic ends the program.
var features = []string{"cancel", "readd", "change_delay", "script_cancel"}

var subjects = map[string]subject{
	"time": {
		name:   "time.AfterFunc",
		source: "https://github.com/golang/go",
		profile: message{
			"rounding":     "exact",       // no ticks
			"executor":     "thread",      // a goroutine for each; those of one instant rest before the next
			"larger_delay": "not_offered", // a Duration ends at 292 years, the bubble's clock before
			"features":     features,
		},
		start: func(time.Duration, int64) timer { return runtimeTimers{} },
	},
	"timingwheel": {
		name:   "RussellLuo/timingwheel",
		module: "github.com/RussellLuo/timingwheel",
		source: "https://github.com/RussellLuo/timingwheel",
		profile: message{
			"rounding":     "down",        // a bucket expires with the start of its tick
			"executor":     "thread",      // as above
			"structure":    "any",         // what is due when it is added runs at once: its goroutine pops by itself
			"larger_delay": "not_offered", // as above
			"features":     features,
		},
		start: func(tick time.Duration, wheelSize int64) timer {
			wheel := timingwheel.NewTimingWheel(tick, wheelSize)
			wheel.Start()
			return wheelTimers{wheel}
		},
	},
}

type runtimeTimers struct{}

func (runtimeTimers) after(delay time.Duration, call func()) func() {
	timer := time.AfterFunc(delay, call)
	return func() { timer.Stop() }
}

func (runtimeTimers) shutdown() {}

type wheelTimers struct{ wheel *timingwheel.TimingWheel }

func (it wheelTimers) after(delay time.Duration, call func()) func() {
	timer := it.wheel.AfterFunc(delay, call)
	return func() { timer.Stop() }
}

func (it wheelTimers) shutdown() { it.wheel.Stop() }

func (it subject) implementation() message {
	version := runtime.Version()
	if it.module != "" {
		_, after, _ := strings.Cut(requirements, it.module+" ")
		version, _, _ = strings.Cut(after, "\n")
	}
	return message{
		"name": it.name, "version": version, "language": "Go", "runtime": runtime.Version(),
		"source": it.source, "issues": it.source + "/issues",
	}
}
