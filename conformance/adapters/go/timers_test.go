// SPDX-License-Identifier: CC0-1.0

package adapters

import (
	_ "embed"
	"runtime"
	"strings"
	"time"

	"github.com/RussellLuo/timingwheel"
	"github.com/benbjohnson/clock"
	"github.com/go-co-op/gocron/v2"
	"github.com/jonboulle/clockwork"
	"github.com/robfig/cron/v3"
)

// timer is what the adapter needs of a timer.
type timer interface {
	// after calls the function when the time has passed; what it returns calls that off.
	after(delay time.Duration, call func()) (stop func())
	shutdown()
}

// fakeClock is a timer that has a clock of its own, which stands still inside the bubble.
type fakeClock interface {
	advance(by time.Duration)
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

// features are those of all timers. The clock cannot move without them, so that there is no
// "elapse"; and a task runs at its own instant, not at the end of an advance, so that what it would
// add is due at another time than the suite expects: no "script_add". A panic ends the program.
var features = []string{"cancel", "readd", "change_delay", "script_cancel"}

// featuresOfThreads lack what tasks do to each other: those of one instant run in any order.
var featuresOfThreads = []string{"cancel", "readd", "change_delay"}

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
	"benbjohnson-clock": {
		name:   "benbjohnson/clock, Mock",
		module: "github.com/benbjohnson/clock",
		source: "https://github.com/benbjohnson/clock",
		profile: message{
			"rounding":     "exact",       // no ticks
			"executor":     "thread",      // a goroutine for each; the next timer waits a millisecond
			"larger_delay": "not_offered", // a Duration ends at 292 years
			"features":     features,
		},
		start: func(time.Duration, int64) timer { return mockTimers{clock.NewMock()} },
	},
	"clockwork": {
		name:   "jonboulle/clockwork, FakeClock",
		module: "github.com/jonboulle/clockwork",
		source: "https://github.com/jonboulle/clockwork",
		profile: message{
			"rounding":     "exact",       // no ticks
			"executor":     "threads",     // a goroutine for each, which nobody waits for
			"larger_delay": "not_offered", // a Duration ends at 292 years
			"features":     featuresOfThreads,
		},
		start: func(time.Duration, int64) timer {
			return fakeTimers{clockwork.NewFakeClock()}
		},
	},
	"robfig-cron": {
		name:   "robfig/cron, schedules of one time",
		module: "github.com/robfig/cron/v3",
		source: "https://github.com/robfig/cron",
		profile: message{
			"rounding":       "exact",       // a schedule names any time
			"executor":       "threads",     // a goroutine for each job
			"negative_delay": "not_offered", // documented: the next time is later than the given one
			"larger_delay":   "not_offered", // a Duration ends at 292 years
			"features":       featuresOfThreads,
		},
		start: func(time.Duration, int64) timer {
			jobs := cronJobs{cron.New()}
			jobs.cron.Start()
			return jobs
		},
	},
	"gocron": {
		name:   "go-co-op/gocron, one-time jobs",
		module: "github.com/go-co-op/gocron/v2",
		source: "https://github.com/go-co-op/gocron",
		profile: message{
			"rounding":       "exact",       // a job names any time
			"executor":       "threads",     // a goroutine for each job
			"negative_delay": "not_offered", // documented: the time must be in the future
			"larger_delay":   "not_offered", // a Duration ends at 292 years
			"features":       featuresOfThreads,
		},
		start: func(time.Duration, int64) timer {
			scheduler, err := gocron.NewScheduler()
			if err != nil {
				panic(err)
			}
			scheduler.Start()
			return gocronJobs{scheduler}
		},
	},
}

type mockTimers struct{ clock *clock.Mock }

func (it mockTimers) after(delay time.Duration, call func()) func() {
	timer := it.clock.AfterFunc(delay, call)
	return func() { timer.Stop() }
}

func (it mockTimers) advance(by time.Duration) { it.clock.Add(by) }

func (mockTimers) shutdown() {}

type fakeTimers struct{ clock *clockwork.FakeClock }

func (it fakeTimers) after(delay time.Duration, call func()) func() {
	timer := it.clock.AfterFunc(delay, call)
	return func() { timer.Stop() }
}

func (it fakeTimers) advance(by time.Duration) { it.clock.Advance(by) }

func (fakeTimers) shutdown() {}

type cronJobs struct{ cron *cron.Cron }

// once is a schedule of one time: asked at or after it, there is no next one.
type once struct {
	at   time.Time
	told *bool
}

func (it once) Next(time.Time) time.Time {
	if *it.told {
		return time.Time{}
	}
	*it.told = true
	return it.at
}

func (it cronJobs) after(delay time.Duration, call func()) func() {
	job := it.cron.Schedule(once{time.Now().Add(delay), new(bool)}, cron.FuncJob(call))
	return func() { it.cron.Remove(job) }
}

func (it cronJobs) shutdown() { it.cron.Stop() }

type gocronJobs struct{ scheduler gocron.Scheduler }

func (it gocronJobs) after(delay time.Duration, call func()) func() {
	at := gocron.OneTimeJobStartDateTime(time.Now().Add(delay))
	if delay == 0 {
		at = gocron.OneTimeJobStartImmediately()
	}
	job, err := it.scheduler.NewJob(gocron.OneTimeJob(at), gocron.NewTask(call))
	if err != nil {
		panic(err)
	}
	return func() { _ = it.scheduler.RemoveJob(job.ID()) } // an error where it has run
}

func (it gocronJobs) shutdown() { _ = it.scheduler.Shutdown() }

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
