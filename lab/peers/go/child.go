package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
)

// onceArgument makes this program answer one request about memory, without a hello, and end.
const onceArgument = "memory-once"

// inFreshProcess asks a new process of this program the same thing, once.
//
// The run-time system never shrinks its table of timers: a later request would find room that it should pay for.
func inFreshProcess(kind peer, asked request) (answer, error) {
	program, err := os.Executable()
	if err != nil {
		return answer{}, err
	}
	line, err := json.Marshal(asked.keys)
	if err != nil {
		return answer{}, err
	}
	child := exec.Command(program, kind.argument, onceArgument)
	child.Stdin = bytes.NewReader(line)
	child.Stderr = os.Stderr
	output, err := child.Output()
	if err != nil {
		return answer{}, fmt.Errorf("the fresh process failed: %w", err)
	}
	return answerOf(output)
}

func answerOf(output []byte) (answer, error) {
	var given struct {
		answer
		refusal
	}
	if err := json.Unmarshal(output, &given); err != nil {
		return answer{}, fmt.Errorf("the fresh process answered no JSON: %w", err)
	}
	if given.Error != "" {
		return answer{}, errors.New(given.Error)
	}
	return given.answer, nil
}

// answerOnce is what the fresh process does.
func (kind peer) answerOnce(input io.Reader, output io.Writer) error {
	line, err := io.ReadAll(input)
	if err != nil {
		return err
	}
	asked, err := parseRequest(line)
	if err != nil {
		return err
	}
	given, err := bytesPerTimer(kind, asked)
	if err != nil {
		return json.NewEncoder(output).Encode(refusal{err.Error()})
	}
	return json.NewEncoder(output).Encode(given)
}
