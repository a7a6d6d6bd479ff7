// SPDX-License-Identifier: CC0-1.0
// The tests: those of your implementation, and the suite.
#include "tests.h"

#include <stdio.h>
#include <stdlib.h>

static int failures;

void tested(const char *name, bool holds)
{
    printf("test %s ... %s\n", name, holds ? "ok" : "FAILED");
    fflush(stdout);
    failures += !holds;
}

// The verdict is that of "purgatory check"; a failure shows its report.
static bool every_rule_holds(void)
{
    if (system("command -v purgatory >/dev/null")) {
        puts("there is no command 'purgatory' on the PATH: README.md says how to install it");
        return false;
    }
    return !system("purgatory check --suite quick --seed 1");
}

int main(void)
{
    test_naive_timer(); // only: timer
    test_naive_purgatory(); // only: purgatory
    test_naive_memory_pool(); // only: memory_pool
    TEST(every_rule_holds);
    return failures > 0;
}
