package main

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"syscall"
	"time"
)

// resourceUsageThread asks getrusage for the calling thread; package syscall has no name for it.
const resourceUsageThread = 1

// answer says what the measured part has cost.
type answer struct {
	Operations   int            `json:"operations"`
	ThreadCPUNs  *int64         `json:"thread_cpu_ns"`
	ProcessCPUNs int64          `json:"process_cpu_ns"`
	WallNs       int64          `json:"wall_ns"`
	Detail       map[string]any `json:"detail"`
}

// moment holds the three clocks; the difference of two is a cost.
//
// The process is always read before the thread: Linux brings the count of the running thread up to date for the
// former only, and the latter alone may lag by a scheduler tick, milliseconds.
type moment struct {
	threadCPU  time.Duration
	processCPU time.Duration
	wall       time.Time
}

// collectGarbage begins from nothing: what earlier requests have left is gone.
func collectGarbage() {
	runtime.GC()
	debug.FreeOSMemory()
}

func now() moment {
	process := processorTime(syscall.RUSAGE_SELF)
	thread := processorTime(resourceUsageThread)
	return moment{thread, process, time.Now()}
}

func (start moment) cost(operations int, detail map[string]any) answer {
	wall := time.Since(start.wall)
	process := processorTime(syscall.RUSAGE_SELF) - start.processCPU
	thread := int64(processorTime(resourceUsageThread) - start.threadCPU)
	return answer{operations, &thread, int64(process), int64(wall), detail}
}

func processorTime(of int) time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(of, &usage); err != nil {
		panic(fmt.Sprintf("getrusage: %v", err))
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
