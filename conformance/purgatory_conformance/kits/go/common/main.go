// SPDX-License-Identifier: CC0-1.0

// An adapter: it reads a request of the runner, has it carried out, and writes the reply.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
)

// Every component that is offered: what it declares, and how an instance is made.
var components = map[string]component{}

// Each error by which the implementation refuses, as a word of the protocol.
var reasons = map[error]string{errUnknownName: "unknown_name"}

type component struct {
	profile map[string]any
	create  func(configuration) testCase
}

// A testCase is an instance that is made, asked step by step, and dropped.
type testCase interface {
	call(operation) (result any, err error) // the result is nil where there is none
	observed() map[string]any               // reads the declared observables
}

// An event of a step, in the order in which it happened.
type event struct {
	Kind   string `json:"kind"`
	Task   string `json:"task"`
	Reason string `json:"reason,omitempty"`
	AtMs   *int64 `json:"at_ms,omitempty"`
}

type reply struct {
	ID             int64          `json:"id"`
	Protocol       int            `json:"protocol,omitempty"`
	Implementation map[string]any `json:"implementation,omitempty"`
	Components     map[string]any `json:"components,omitempty"`
	Result         any            `json:"result,omitempty"`
	Rejected       string         `json:"rejected,omitempty"`
	Detail         string         `json:"detail,omitempty"`
	Events         []event        `json:"events,omitempty"`
	Observed       map[string]any `json:"observed,omitempty"`
	Unsupported    string         `json:"unsupported,omitempty"`
	Error          string         `json:"error,omitempty"`
	CalledMs       *int64         `json:"called_ms,omitempty"`
	ReturnedMs     *int64         `json:"returned_ms,omitempty"`
}

var (
	errUnsupported = errors.New("there is no such operation here")
	errUnknownName = errors.New("the name stands for nothing")
	current        testCase
	events         []event // of the step that is being carried out
)

func answer(line []byte) (r reply, stop bool) {
	defer func() {
		if failure := recover(); failure != nil { // the adapter itself failed; the runner will say so
			r.Error = fmt.Sprint(failure)
		}
	}()
	asked := request{Configuration: standard}
	if err := json.Unmarshal(line, &asked); err != nil {
		return reply{ID: asked.ID, Error: err.Error()}, false
	}
	r.ID = asked.ID // it is 0 where the request cannot be read
	switch asked.Request {
	case "hello":
		r.Protocol, r.Components = 1, map[string]any{}
		r.Implementation = map[string]any{"name": "naive implementation", "version": "1", "language": "Go"}
		for name, offered := range components {
			r.Components[name] = offered.profile
		}
	case "new": // it also replaces an instance that was never ended
		current = components[asked.Component].create(asked.Configuration)
	case "do":
		carryOut(asked.Operation, &r)
	case "end": // nothing is left to release here
	case "stop":
		return r, true
	default:
		r.Unsupported = "there is no request " + asked.Request + " here"
	}
	return r, false
}

func carryOut(asked operation, r *reply) {
	events = nil
	clock, moves := current.(interface{ nowMs() *int64 }) // a clock that moves by itself
	if moves {
		r.CalledMs = clock.nowMs()
	}
	result, err := guarded(asked)
	if others, waits := current.(interface{ settle() }); waits { // for other goroutines
		others.settle()
	}
	if moves {
		r.ReturnedMs = clock.nowMs()
	}
	if errors.Is(err, errUnsupported) {
		r.Unsupported = "there is no operation " + asked.Op + " here"
		return
	}
	if err != nil {
		r.Rejected, r.Detail = reason(err), err.Error()
	} else {
		r.Result = result
	}
	r.Events, r.Observed = events, current.observed()
}

// guarded makes an error of a panic: that of a script, or one that nobody planned.
func guarded(asked operation) (result any, err error) {
	defer func() {
		if thrown := recover(); thrown != nil {
			result, err = nil, fmt.Errorf("panic: %v", thrown)
			if planned, isError := thrown.(error); isError {
				err = planned
			}
		}
	}()
	return current.call(asked)
}

// reason is the protocol's word for a refusal; "internal" for an error that nobody planned.
func reason(err error) string {
	for refused, word := range reasons {
		if errors.Is(err, refused) {
			return word
		}
	}
	return "internal"
}

func serve() {
	lines, replies := bufio.NewScanner(os.Stdin), json.NewEncoder(os.Stdout)
	lines.Buffer(nil, 1<<26)
	for lines.Scan() { // until "stop" or the end of input
		if len(bytes.TrimSpace(lines.Bytes())) == 0 {
			continue
		}
		r, stop := answer(lines.Bytes())
		if stop {
			return
		}
		if replies.Encode(r) != nil {
			return
		}
	}
}

// run may be replaced by something that runs the loop on another clock.
var run = func(loop func()) { loop() }

func main() { run(serve) }
