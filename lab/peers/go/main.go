// Command peer answers requests, one JSON object a line, with what the work has cost.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
)

type hello struct {
	Peer     string   `json:"peer"`
	Version  string   `json:"version"`
	Runtime  string   `json:"runtime"`
	Measures []string `json:"measures"`
}

type refusal struct {
	Error string `json:"error"`
}

var measures = map[string]func(peer, request) (answer, error){
	"hot/system":    hot,
	"fifo/system":   firstInFirstOut,
	"random/system": randomVictims,
	"expire/system": addAndRun,
	"memory/timer":  inFreshProcess,
	"pause":         longestPause,
}

func main() {
	kind, answerAll, err := chosen(os.Args[1:])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	if kind.inCaller {
		// What is measured runs here, so that the processor time of one thread is its own.
		runtime.LockOSThread()
	}
	if err := answerAll(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// chosen says which timers the arguments ask for, and how requests are answered.
func chosen(arguments []string) (peer, func(io.Reader, io.Writer) error, error) {
	if len(arguments) > 0 {
		kind, known := peers[arguments[0]]
		switch {
		case known && len(arguments) == 1:
			return kind, kind.serve, nil
		case known && slices.Equal(arguments[1:], []string{onceArgument}):
			return kind, kind.answerOnce, nil
		}
	}
	return peer{}, nil, errors.New("usage: peer runtime | wheel")
}

func (kind peer) introduction() hello {
	return hello{
		Peer:    "go-" + kind.argument,
		Version: kind.version(),
		Runtime: fmt.Sprintf("%s, GOMAXPROCS %d", runtime.Version(), runtime.GOMAXPROCS(0)),
		Measures: []string{
			"hot/system", "fifo/system", "random/system", "expire/system", "memory/timer", "pause",
		},
	}
}

// serve answers each line until the input ends; a line that cannot be answered does not end it.
func (kind peer) serve(input io.Reader, output io.Writer) error {
	encoder := json.NewEncoder(output)
	if err := encoder.Encode(kind.introduction()); err != nil {
		return err
	}
	lines := bufio.NewReader(input)
	for {
		line, readError := lines.ReadBytes('\n')
		if len(line) > 0 {
			if err := encoder.Encode(kind.reply(line)); err != nil {
				return err
			}
		}
		if errors.Is(readError, io.EOF) {
			return nil
		}
		if readError != nil {
			return readError
		}
	}
}

func (kind peer) reply(line []byte) any {
	asked, err := parseRequest(line)
	if err != nil {
		return refusal{err.Error()}
	}
	measure, offered := measures[asked.measure]
	if !offered {
		return refusal{fmt.Sprintf("the measure %q is not offered", asked.measure)}
	}
	given, err := measure(kind, asked)
	if err != nil {
		return refusal{err.Error()}
	}
	return kind.told(given)
}
