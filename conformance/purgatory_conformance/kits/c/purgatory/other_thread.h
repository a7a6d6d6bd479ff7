// SPDX-License-Identifier: CC0-1.0
// The other thread of a step: it makes calls one by one while a callback stands still.
#ifndef OTHER_THREAD_H
#define OTHER_THREAD_H

// Makes a call; comes back when it has returned, or does not return for 50 ms: then it waits for
// what its caller holds.
void other_thread_call(void (*call)(void *), void *argument);

// Waits until every call has returned: the step is at its end.
void other_thread_end_step(void);

#endif
