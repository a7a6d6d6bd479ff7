// SPDX-License-Identifier: CC0-1.0
package main

// A scripted operation follows a script: an operation of yours calls these from its callbacks.
type scripted struct {
	name      string
	script    script
	satisfied bool
	do        func(action) error // carries out an action
}

// tried is a try: it completes the operation where the script says so.
func (s *scripted) tried(complete func() bool) bool {
	s.note("tried", nil)
	answer := "wait"
	if len(s.script.Tries) > 0 {
		answer = s.script.Tries[0]
	}
	if len(s.script.Tries) > 1 { // the last answer stands for all later ones
		s.script.Tries = s.script.Tries[1:]
	}
	completes := s.satisfied || answer == "complete" // settled before the actions
	if len(s.script.OnTry) > 0 {
		actions := s.script.OnTry[0]
		s.script.OnTry = s.script.OnTry[1:]
		s.act(actions)
	}
	return completes && complete()
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
		if err := s.do(each); err != nil { // it does not end the script
			s.note("rejected", err)
		}
	}
}

func (s *scripted) note(kind string, err error) {
	noted := event{Kind: kind, Task: s.name}
	if err != nil {
		noted.Reason = reason(err)
	}
	events = append(events, noted)
}
