// SPDX-License-Identifier: CC0-1.0
package main

import (
	"os"
	"slices"
	"testing"
	"testing/synctest"
)

// With --virtual the adapter runs in a bubble, in which time passes at once: see testing/synctest.

var virtual = slices.Contains(os.Args[1:], "--virtual")

func init() {
	if virtual {
		run = inBubble
		os.Args = os.Args[:1] // the others are not for the package testing
	}
}

func inBubble(loop func()) {
	match := func(_, _ string) (bool, error) { return true, nil }
	bubble := func(t *testing.T) {
		synctest.Test(t, func(*testing.T) {
			loop()
			os.Exit(0) // the package testing would say how the test went
		})
	}
	testing.Main(match, []testing.InternalTest{{Name: "adapter", F: bubble}}, nil, nil)
}
