// SPDX-License-Identifier: CC0-1.0
package main

import "encoding/json"

// The messages of the runner. What they mean is written in the adapter protocol.

type request struct {
	Request       string        `json:"request"`
	ID            int64         `json:"id"`
	Component     string        `json:"component"`
	Configuration configuration `json:"configuration"`
	Operation     operation     `json:"operation"`
}

type configuration struct {
	TickMs         int64 `json:"tick_ms"`
	WheelSize      int   `json:"wheel_size"`
	StartMs        int64 `json:"start_ms"`
	PurgeInterval  int   `json:"purge_interval"`
	TimeOuts       bool  `json:"time_outs"`
	SizeBytes      int64 `json:"size_bytes"`
	MaxSingleBytes int64 `json:"max_single_bytes"`
	Strict         bool  `json:"strict"`
	Unbounded      bool  `json:"unbounded"`
}

// What a field of a configuration is where it is absent, if that is not zero.
var standard = configuration{
	TickMs:         1,
	WheelSize:      20,
	PurgeInterval:  1000,
	TimeOuts:       true,
	SizeBytes:      100,
	MaxSingleBytes: 40,
}

type operation struct {
	action                // the fields that an action has as well
	Op             string `json:"op"`
	ToMs           *int64 `json:"to_ms"` // none in an action
	Refuse         bool   `json:"refuse"`
	ForMs          int64  `json:"for_ms"`
	Script         script `json:"script"`
	Buffer         string `json:"buffer"`
	Form           string `json:"form"`
	SizeBytes      int64  `json:"size_bytes"`
	MaxSingleBytes int64  `json:"max_single_bytes"`
	Fail           bool   `json:"fail"`
	Value          byte   `json:"value"`
}

// A script says what a task does when it runs, or an operation when it is tried or completed.
type script struct {
	Actions      []action   `json:"-"` // of a task
	Tries        []string   `json:"tries"`
	OnTry        [][]action `json:"on_try"`
	OnComplete   []action   `json:"on_complete"`
	OnExpiration []action   `json:"on_expiration"`
}

type action struct {
	Do        string   `json:"do"`
	Task      string   `json:"task"`
	Operation string   `json:"operation"`
	Key       string   `json:"key"`
	Keys      []string `json:"keys"`
	DelayMs   int64    `json:"delay_ms"`
	Call      *action  `json:"call"` // of "meanwhile"
}

// UnmarshalJSON reads the script of an operation, or that of a task, which is a list of actions.
func (s *script) UnmarshalJSON(text []byte) error {
	if text[0] == '[' {
		return json.Unmarshal(text, &s.Actions)
	}
	type callbacks script
	return json.Unmarshal(text, (*callbacks)(s))
}
