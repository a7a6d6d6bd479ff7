// SPDX-License-Identifier: CC0-1.0
package adapter;

/** The clock that a timer reads and waits on: the real one, or one that the runner moves. */
interface Ticks {
    long nowMs();

    /** Waits on a monitor that the caller holds, at most so long; it may return early. */
    void await(Object monitor, long ms) throws InterruptedException;

    /** The real clock; it never goes back. */
    Ticks REAL = new Ticks() {
        @Override
        public long nowMs() {
            return System.nanoTime() / 1_000_000;
        }

        @Override
        public void await(Object monitor, long ms) throws InterruptedException {
            monitor.wait(ms);
        }
    };

    /** A clock that stands still until it is moved. Who waits on it is idle. */
    final class Virtual implements Ticks {
        private volatile long nowMs;
        private boolean idle;

        Virtual(long startMs) {
            nowMs = startMs;
        }

        @Override
        public long nowMs() {
            return nowMs;
        }

        @Override
        public void await(Object monitor, long ms) throws InterruptedException {
            idle = true;
            monitor.notifyAll();
            monitor.wait();
        }

        void moveTo(long toMs) {
            nowMs = toMs;
        }

        /** Wakes the thread that waits on the monitor, and returns when it waits again. */
        void settle(Object monitor) throws InterruptedException {
            synchronized (monitor) {
                idle = false;
                monitor.notifyAll();
                while (!idle) {
                    monitor.wait();
                }
            }
        }
    }
}
