// SPDX-License-Identifier: CC0-1.0
package main

import (
	"os"
	"slices"
	"sync"
)

// With --stepped what has expired waits until the runner has it run.
var stepped = slices.Contains(os.Args[1:], "--stepped")

var noting sync.Mutex // two goroutines may note, and try, at once

// A scripted task or operation follows a script: yours calls these from its callbacks.
type scripted struct {
	name      string
	script    script
	satisfied bool
	meanwhile func(call func()) // has another goroutine make a call
}

// ran is what a task does.
func (s *scripted) ran() {
	s.note("ran", nil)
	s.act(s.script.Actions)
}

// tried is a try: it completes the operation where the script says so.
func (s *scripted) tried(complete func() bool) bool {
	s.note("tried", nil)
	completes, actions := s.next()
	s.act(actions)
	return completes && complete()
}

// next is the answer of a try, which is settled before its actions, and these.
func (s *scripted) next() (completes bool, actions []action) {
	noting.Lock()
	defer noting.Unlock()
	answer := "wait"
	if len(s.script.Tries) > 0 {
		answer = s.script.Tries[0]
	}
	if len(s.script.Tries) > 1 { // the last answer stands for all later ones
		s.script.Tries = s.script.Tries[1:]
	}
	if len(s.script.OnTry) > 0 {
		actions, s.script.OnTry = s.script.OnTry[0], s.script.OnTry[1:]
	}
	return s.satisfied || answer == "complete", actions
}

func (s *scripted) satisfy() {
	noting.Lock()
	defer noting.Unlock()
	s.satisfied = true
}

func (s *scripted) completed() {
	s.note("completed", nil)
	s.act(s.script.OnComplete)
}

func (s *scripted) timedOut() {
	s.note("timed_out", nil)
	s.act(s.script.OnExpiration)
}

func (s *scripted) act(actions []action) {
	for _, each := range actions {
		if each.Call != nil {
			s.meanwhile(func() { s.act([]action{*each.Call}) })
			continue
		}
		if _, err := guarded(operation{Op: each.Do, action: each}); err != nil { // it does not end the script
			s.note("rejected", err)
		}
	}
}

func (s *scripted) note(kind string, err error) {
	noted := event{Kind: kind, Task: s.name}
	if err != nil {
		noted.Reason = reason(err)
	}
	noting.Lock()
	defer noting.Unlock()
	events = append(events, noted)
}
