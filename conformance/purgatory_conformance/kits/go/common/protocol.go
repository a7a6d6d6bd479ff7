// SPDX-License-Identifier: CC0-1.0
package main

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
	PurgeInterval:  1000,
	TimeOuts:       true,
	SizeBytes:      100,
	MaxSingleBytes: 40,
}

type operation struct {
	action                // the fields that an action has as well
	Op             string `json:"op"`
	Task           string `json:"task"`
	ToMs           int64  `json:"to_ms"`
	ForMs          int64  `json:"for_ms"`
	Script         script `json:"script"`
	Buffer         string `json:"buffer"`
	Form           string `json:"form"`
	SizeBytes      int64  `json:"size_bytes"`
	MaxSingleBytes int64  `json:"max_single_bytes"`
	Fail           bool   `json:"fail"`
	Value          byte   `json:"value"`
}

// A script says what an operation under test does when it is tried or completed.
type script struct {
	Tries        []string   `json:"tries"`
	OnTry        [][]action `json:"on_try"`
	OnComplete   []action   `json:"on_complete"`
	OnExpiration []action   `json:"on_expiration"`
}

type action struct {
	Do        string   `json:"do"`
	Operation string   `json:"operation"`
	Key       string   `json:"key"`
	Keys      []string `json:"keys"`
	DelayMs   int64    `json:"delay_ms"`
}
