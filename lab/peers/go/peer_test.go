package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestMain lets this test program be the fresh process that measures memory.
func TestMain(m *testing.M) {
	if slices.Contains(os.Args, onceArgument) {
		main()
		return
	}
	m.Run()
}

// forEachPeer runs a test with each kind of timers.
func forEachPeer(t *testing.T, test func(*testing.T, peer)) {
	for name, kind := range peers {
		t.Run(name, func(t *testing.T) { test(t, kind) })
	}
}

func TestEveryOfferedMeasureIsAnswered(t *testing.T) {
	forEachPeer(t, everyOfferedMeasureIsAnswered)
}

func everyOfferedMeasureIsAnswered(t *testing.T, kind peer) {
	for _, measure := range kind.introduction().Measures {
		pending, operations := 100, 300
		switch measure {
		case "expire/system":
			pending = 0
		case "pause":
			operations = 1000
		}
		line := fmt.Sprintf(`{"measure":%q,"pending":%d,"operations":%d,"seed":7}`, measure, pending, operations)
		reply := kind.reply([]byte(line))
		given, ok := reply.(answer)
		if !ok {
			t.Fatalf("%s: %v", measure, reply)
		}
		if measure == "memory/timer" {
			operations = pending
		}
		if given.Operations != operations || given.WallNs <= 0 {
			t.Errorf("%s: %+v", measure, given)
		}
		if told := given.ThreadCPUNs != nil; told != (kind.inCaller && measure != "expire/system") {
			t.Errorf("%s: processor time of a thread: %v", measure, told)
		}
	}
	if len(kind.introduction().Measures) != len(measures) {
		t.Error("what is offered is not what can be answered")
	}
}

func TestPeersSayWhatTheyAre(t *testing.T) {
	forEachPeer(t, func(t *testing.T, kind peer) {
		said := kind.introduction()
		if said.Peer != "go-"+kind.argument || !strings.ContainsAny(said.Version, "0123456789") {
			t.Errorf("%+v", said)
		}
	})
}

func TestArgumentsChooseThePeer(t *testing.T) {
	for _, arguments := range [][]string{{"wheel"}, {"wheel", onceArgument}} {
		if kind, _, err := chosen(arguments); err != nil || kind.argument != "wheel" {
			t.Errorf("%v: %v", arguments, err)
		}
	}
	for _, arguments := range [][]string{nil, {"other"}, {onceArgument}, {"wheel", "runtime"}} {
		if _, _, err := chosen(arguments); err == nil {
			t.Errorf("%v", arguments)
		}
	}
}

func TestWhatCannotBeAnsweredIsAnError(t *testing.T) {
	forEachPeer(t, whatCannotBeAnsweredIsAnError)
}

func whatCannotBeAnsweredIsAnError(t *testing.T, kind peer) {
	for _, line := range []string{
		"\n",
		"no JSON",
		"[1]",
		"null",
		`{"pending":1,"operations":1,"seed":7}`,
		`{"measure":null,"pending":1,"operations":1,"seed":7}`,
		`{"measure":"hot/virtual","pending":1,"operations":1,"seed":7}`,
		`{"measure":"hot/system","operations":1,"seed":7}`,
		`{"measure":"hot/system","pending":1,"operations":1}`,
		`{"measure":"hot/system","pending":-1,"operations":1,"seed":7}`,
		`{"measure":"hot/system","pending":1,"operations":0,"seed":7}`,
		`{"measure":"fifo/system","pending":0,"operations":1,"seed":7}`,
		`{"measure":"expire/system","pending":1,"operations":1,"seed":7}`,
		`{"measure":"memory/timer","pending":0,"seed":7}`,
		`{"measure":"pause","pending":1,"operations":999,"seed":7}`,
	} {
		reply := kind.reply([]byte(line))
		if given, ok := reply.(refusal); !ok || given.Error == "" {
			t.Errorf("%q: %+v", line, reply)
		}
	}
}

func TestMemoryIsTheSameWhateverWasAskedBefore(t *testing.T) {
	forEachPeer(t, memoryIsTheSameWhateverWasAskedBefore)
}

func memoryIsTheSameWhateverWasAskedBefore(t *testing.T, kind peer) {
	line := []byte(`{"measure":"memory/timer","pending":20000,"seed":7}`)
	bytesEach := func() float64 { return kind.reply(line).(answer).Detail["bytes"].(float64) }
	before := bytesEach()
	kind.reply([]byte(`{"measure":"hot/system","pending":200000,"operations":1,"seed":7}`))
	if after := bytesEach(); after < before-5 || after > before+5 {
		t.Errorf("%f, then %f bytes a timer", before, after)
	}
}

func TestAFreshProcessPassesItsErrorOn(t *testing.T) {
	_, err := answerOf([]byte(`{"error":"a sentence"}`))
	if err == nil || err.Error() != "a sentence" {
		t.Error(err)
	}
}

func TestServingGoesOnAfterAnErrorAndEndsWithTheInput(t *testing.T) {
	var output bytes.Buffer
	input := "no JSON\n{}\n" + `{"measure":"hot/system","pending":1,"operations":5,"seed":7}`
	if err := runtimePeer.serve(strings.NewReader(input), &output); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(output.String()), "\n")
	if len(lines) != 4 {
		t.Fatalf("%d lines", len(lines))
	}
	var last answer
	if err := json.Unmarshal([]byte(lines[3]), &last); err != nil || last.Operations != 5 {
		t.Errorf("%s: %v", lines[3], err)
	}
}

func TestTheGeneratorGivesThePublishedNumbers(t *testing.T) {
	draws := splitMix64{1_234_567}
	if first, second := draws.next(), draws.next(); first != 6457827717110365317 || second != 3203168211198807973 {
		t.Errorf("%d, %d", first, second)
	}
}

func TestALedgerAcceptsOneRunOfEachTask(t *testing.T) {
	total := newLedger(2)
	(&task{total: total}).run()
	(&task{total: total}).run()
	if err := total.wait(time.Second); err != nil {
		t.Error(err)
	}
	if err := total.check(); err != nil {
		t.Error(err)
	}
}

func TestALedgerRefusesAMissingRun(t *testing.T) {
	total := newLedger(2)
	(&task{total: total}).run()
	if err := total.wait(time.Millisecond); err == nil {
		t.Error("a task is missing")
	}
}

func TestALedgerRefusesATaskThatRanForAnother(t *testing.T) {
	total := newLedger(2)
	twice := &task{total: total}
	twice.run()
	twice.run()
	if err := total.check(); err == nil {
		t.Error("a task ran twice, the other not at all")
	}
}

func TestACancelThatFoundNothingIsAnError(t *testing.T) {
	if err := nothingRan(&runtimeTimers{cancelled: 4}, 5, 0, newLedger(0)); err == nil {
		t.Error("one cancel of five failed")
	}
}

func TestClassesOfGapsAreNarrowAndWithoutHoles(t *testing.T) {
	for class := 1; class < 5000; class++ {
		lowest, highest := upperEnd(class-1)+1, upperEnd(class)
		if classOf(lowest) != class || classOf(highest) != class {
			t.Fatalf("class %d: %d to %d", class, lowest, highest)
		}
		if (highest-lowest)*100 > lowest {
			t.Fatalf("class %d is wide: %d to %d", class, lowest, highest)
		}
	}
}

func TestTheGapThatOneInAThousandExceeds(t *testing.T) {
	found := &gaps{}
	for gap := 1; gap <= 2000; gap++ {
		found.note(time.Duration(gap) * time.Microsecond)
	}
	exceeded := found.exceededByOneIn(1000)
	if exceeded < 1998*time.Microsecond || exceeded > 2000*time.Microsecond || found.longest != 2*time.Millisecond {
		t.Errorf("%v, longest %v", exceeded, found.longest)
	}
}
