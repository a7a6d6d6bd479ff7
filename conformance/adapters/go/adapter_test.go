// SPDX-License-Identifier: CC0-1.0

// Package adapters puts Go's timers behind the adapter protocol, on the clock of a synctest bubble.
//
// A bubble needs a test, so that the program is one: build it with `go test -c`. Each instance has a
// bubble of its own. Its clock stands still while anything runs, and goes on to the next timer, or
// to the end of the adapter's sleep, when all goroutines in it have come to rest.
package adapters

import (
	"bufio"
	"encoding/json"
	"flag"
	"os"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

var subjectName = flag.String("subject", "", "which timer to serve")

type message map[string]any

type request struct {
	Request       string
	ID            int64
	Configuration struct {
		TickMS    int64 `json:"tick_ms"`
		WheelSize int64 `json:"wheel_size"`
		StartMS   int64 `json:"start_ms"`
	}
	Operation struct {
		Op      string
		Task    string
		DelayMS int64 `json:"delay_ms"`
		ToMS    int64 `json:"to_ms"`
		Script  []struct{ Do, Task string }
	}
}

var lines = bufio.NewReader(os.Stdin)

// next reads a request; the program ends with the input, or where it is told to stop.
func next() request {
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			os.Exit(0)
		}
		if len(line) < 2 {
			continue
		}
		asked := request{}
		asked.Configuration.TickMS, asked.Configuration.WheelSize = 1, 20
		if err := json.Unmarshal(line, &asked); err != nil {
			answer(0, message{"error": err.Error()})
			continue
		}
		if asked.Request == "stop" {
			os.Exit(0) // a test that returns would print that it has passed
		}
		return asked
	}
}

func answer(id int64, reply message) {
	reply["id"] = id
	line, err := json.Marshal(reply)
	if err != nil {
		panic(err)
	}
	os.Stdout.Write(append(line, '\n'))
}

func TestAdapter(t *testing.T) {
	chosen, known := subjects[*subjectName]
	if !known {
		t.Fatalf("there is no subject %q", *subjectName)
	}
	asked := next()
	for {
		switch asked.Request {
		case "new":
			synctest.Test(t, func(*testing.T) { asked = serve(chosen, asked) })
			continue
		case "end":
			answer(asked.ID, message{})
		default:
			answer(asked.ID, general(chosen, asked))
		}
		asked = next()
	}
}

// general is the reply to what has nothing to do with an instance.
func general(chosen subject, asked request) message {
	if asked.Request != "hello" {
		return message{"unsupported": "there is no request " + asked.Request + " here"}
	}
	return message{
		"protocol": 1, "implementation": chosen.implementation(),
		"components": message{"timer": chosen.profile},
	}
}

// instance is one timer: its tasks by name, and what ran since the last reply.
type instance struct {
	timer   timer
	nowMS   int64
	mutex   sync.Mutex // guards what follows: tasks run in goroutines of their own
	stops   map[string]func()
	scripts map[string][]string
	events  []message
}

// serve answers the requests to one instance; it returns the first request that is not for it.
func serve(chosen subject, asked request) request {
	it := &instance{stops: map[string]func(){}, scripts: map[string][]string{}}
	it.start(chosen, asked)
	defer it.end()
	answer(asked.ID, message{})
	for {
		asked = next()
		switch asked.Request {
		case "new", "end":
			return asked
		case "do":
			answer(asked.ID, it.do(asked))
		default:
			answer(asked.ID, general(chosen, asked))
		}
	}
}

// start makes the timer where its clock reads a multiple of the tick, and lets it come to start_ms.
func (it *instance) start(chosen subject, asked request) {
	tickMS := asked.Configuration.TickMS
	time.Sleep(ms(tickMS - time.Now().UnixMilli()%tickMS))
	time.Sleep(ms(asked.Configuration.StartMS))
	it.nowMS = asked.Configuration.StartMS
	it.timer = chosen.start(ms(tickMS), asked.Configuration.WheelSize)
}

func (it *instance) end() {
	for _, stop := range it.stops {
		stop()
	}
	it.timer.shutdown()
}

func (it *instance) do(asked request) message {
	operation := asked.Operation
	switch operation.Op {
	case "add":
		it.add(operation.Task, operation.DelayMS, operation.Script)
	case "cancel":
		it.cancel(operation.Task)
	case "advance":
		passed := ms(operation.ToMS - it.nowMS)
		if clock, isFake := it.timer.(fakeClock); isFake {
			clock.advance(passed)
		} else {
			time.Sleep(passed)
		}
		it.nowMS = operation.ToMS
	default:
		return message{"unsupported": "there is no operation " + operation.Op}
	}
	synctest.Wait() // what has been started by now comes to rest
	it.mutex.Lock()
	defer it.mutex.Unlock()
	events := append([]message{}, it.events...)
	it.events = nil
	return message{"events": events}
}

func (it *instance) add(task string, delayMS int64, script []struct{ Do, Task string }) {
	it.cancel(task) // neither timer knows of adding again
	it.mutex.Lock()
	defer it.mutex.Unlock()
	it.scripts[task] = nil
	for _, action := range script {
		it.scripts[task] = append(it.scripts[task], action.Task) // to cancel is all they may do
	}
	it.stops[task] = it.timer.after(ms(delayMS), func() { it.run(task) })
}

func (it *instance) cancel(task string) {
	it.mutex.Lock()
	stop := it.stops[task]
	it.mutex.Unlock()
	if stop != nil {
		stop()
	}
}

func (it *instance) run(task string) {
	it.mutex.Lock()
	it.events = append(it.events, message{"kind": "ran", "task": task})
	script := it.scripts[task]
	it.mutex.Unlock()
	for _, other := range script {
		it.cancel(other)
	}
}

func ms(count int64) time.Duration { return time.Duration(count) * time.Millisecond }
