package main

import "time"

// timers are what is measured, fresh for each request.
//
// The methods are whole loops, so that no measured operation pays for the choice of the kind.
type timers interface {
	// fill adds a timer for each delay, and keeps what is needed to cancel it.
	fill(delays []time.Duration, total *ledger)
	// start adds a timer for each delay, and keeps nothing.
	start(delays []time.Duration, total *ledger)
	// pairs adds a timer and cancels it, for each delay.
	pairs(delays []time.Duration, total *ledger)
	// replace cancels the timer in the place of each victim, and adds a fresh one there.
	replace(victims []int32, delays []time.Duration, total *ledger)
	// settle returns once all that was asked for has been done.
	settle()
	// check is an error unless each of so many cancels took a pending timer away. It may count what is left for
	// that: so many of those that were kept are still pending, and no others. Nothing is asked for afterwards.
	check(cancels, pending int) error
	// stop ends all that is pending, so that the next request begins from nothing.
	stop()
}

// peer is a kind of timers that this program can measure.
type peer struct {
	// argument is how the program is told to measure it.
	argument string
	version  func() string
	// inCaller says whether a timer is added and cancelled by the thread of the caller alone, so that its
	// processor time tells something.
	inCaller bool
	// begin makes room to keep so many timers, for such delays.
	begin func(room int, delays span) (timers, error)
}

var peers = map[string]peer{
	runtimePeer.argument: runtimePeer,
	wheelPeer.argument:   wheelPeer,
}

// told leaves out the processor time of a thread that says nothing.
func (kind peer) told(given answer) answer {
	if !kind.inCaller {
		given.ThreadCPUNs = nil
	}
	return given
}
