// SPDX-License-Identifier: CC0-1.0
#ifndef TESTS_H
#define TESTS_H

#include <stdbool.h>

// Says how a test went: it is a function that answers whether what its name says holds.
#define TEST(name) tested(#name, name())
void tested(const char *name, bool holds);

void test_naive_timer(void); // only: timer
void test_naive_purgatory(void); // only: purgatory
void test_naive_memory_pool(void); // only: memory_pool

#endif
