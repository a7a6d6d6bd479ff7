// SPDX-License-Identifier: CC0-1.0
package main

import (
	"runtime"
	"weak"
)

// Objects that the runner has dropped: only somebody else may still hold them.
type dropped[T any] map[string]weak.Pointer[T]

// isReachable drops the object of a name, for good; does anybody else still hold it?
func (d dropped[T]) isReachable(named map[string]*T, name string) bool {
	if object, known := named[name]; known {
		d[name] = weak.Make(object)
		delete(named, name)
	}
	left := d[name]
	for tries := 0; tries < 3 && left.Value() != nil; tries++ {
		runtime.GC()
	}
	return left.Value() != nil
}
