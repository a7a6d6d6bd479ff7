package main

import (
	"fmt"
	"math/rand"
	"os"
	"strconv"
	"sync"
	"time"
)

// Three goroutines use the timers of the Go library; arguments: the file, and what the trace adds
// to each delay.
func main() {
	lieMs, err := strconv.Atoi(os.Args[2])
	if err != nil {
		panic(err)
	}
	trace, err := NewTrace(os.Args[1], "go", Fields{"component": "timer"}, 1000)
	if err != nil {
		panic(err)
	}
	var group sync.WaitGroup
	for number := 0; number < 3; number++ {
		group.Add(1)
		go func(number int) {
			defer group.Done()
			work(trace, number, lieMs)
		}(number)
	}
	group.Wait()
	time.Sleep(100 * time.Millisecond)
	if err := trace.Close(); err != nil {
		panic(err)
	}
}

func work(trace *Trace, number, lieMs int) {
	random := rand.New(rand.NewSource(int64(number)))
	thread := fmt.Sprintf("worker \"%d\"", number)
	for count := 0; count < 100; count++ {
		task, delayMs := fmt.Sprintf("%d-%d", number, count), random.Intn(50)
		var added *time.Timer
		if lieMs == 0 {
			added = Add(trace, thread, task, delayMs)
		} else {
			trace.Call(thread, Fields{"op": "add", "task": task, "delay_ms": delayMs + lieMs})
			ran := func() { trace.Event("timer "+task, "ran", task) }
			added = time.AfterFunc(time.Duration(delayMs)*time.Millisecond, ran)
			trace.Returned(thread, nil)
		}
		if random.Intn(10) < 3 {
			Cancel(trace, thread, task, added)
		}
	}
}
