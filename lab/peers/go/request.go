package main

import (
	"encoding/json"
	"fmt"
	"strconv"
)

// mostTimers is more than fits into the memory of a usual machine.
const mostTimers = 50_000_000

// request is one line of the input, whose keys are asked for by name.
type request struct {
	measure string
	keys    map[string]json.RawMessage
}

func parseRequest(line []byte) (request, error) {
	var keys map[string]json.RawMessage
	if err := json.Unmarshal(line, &keys); err != nil {
		return request{}, fmt.Errorf("the line is not a JSON object: %w", err)
	}
	var measure *string
	if err := json.Unmarshal(orNull(keys["measure"]), &measure); err != nil || measure == nil {
		return request{}, fmt.Errorf("the key %q is missing or not a string", "measure")
	}
	return request{*measure, keys}, nil
}

func orNull(value json.RawMessage) json.RawMessage {
	if value == nil {
		return json.RawMessage("null")
	}
	return value
}

func (asked request) wholeNumber(key string) (uint64, error) {
	number, err := strconv.ParseUint(string(asked.keys[key]), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("the key %q is missing or not a whole number", key)
	}
	return number, nil
}

func (asked request) count(key string, lowest uint64) (int, error) {
	number, err := asked.wholeNumber(key)
	if err != nil {
		return 0, err
	}
	if number < lowest || number > mostTimers {
		return 0, fmt.Errorf("%q is %d to %d here", key, lowest, mostTimers)
	}
	return int(number), nil
}

// sizes are the keys that nearly every measure needs.
type sizes struct {
	pending    int
	operations int
	draws      *splitMix64
}

func (asked request) sizes(lowestPending uint64) (sizes, error) {
	pending, err := asked.count("pending", lowestPending)
	if err != nil {
		return sizes{}, err
	}
	operations, err := asked.count("operations", 1)
	if err != nil {
		return sizes{}, err
	}
	draws, err := asked.draws()
	return sizes{pending, operations, draws}, err
}

func (asked request) draws() (*splitMix64, error) {
	seed, err := asked.wholeNumber("seed")
	return &splitMix64{seed}, err
}
