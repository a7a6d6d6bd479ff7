// SPDX-License-Identifier: CC0-1.0
package purgatory.adapter.timers;

import static java.util.Map.entry;

import java.util.Map;
import java.util.function.Consumer;
import java.util.function.LongSupplier;

/**
 * One of the timers: what it is called, where it comes from, what it declares, how it is made, and
 * the clock that it reads itself, in ms rounded down.
 */
record Subject(
        String name, String source, Map<String, Object> profile, Maker maker, LongSupplier clock) {
    private static final String JETTY = "https://github.com/jetty/jetty.project";
    private static final String NETTY = "https://github.com/netty/netty";
    private static final String VERTX = "https://github.com/eclipse-vertx/vert.x";

    private static final Map<String, Subject> BY_WORD = Map.ofEntries(
            entry("agrona", new Subject(
                    "Agrona DeadlineTimerWheel", "https://github.com/aeron-io/agrona",
                    AgronaTimer.PROFILE,
                    (asked, ran) -> new AgronaTimer(asked.wheelSize(), asked.startMs(), ran))),
            entry("dubbo", new Subject(
                    "Apache Dubbo HashedWheelTimer", "https://github.com/apache/dubbo",
                    HashedWheel.PROFILE, wheel("dubbo"))),
            entry("executor", new Subject(
                    "ScheduledThreadPoolExecutor", "https://github.com/openjdk/jdk",
                    ExecutorTimer.PROFILE,
                    (asked, ran) -> new ExecutorTimer(ran))),
            entry("jetty", new Subject(
                    "Jetty ScheduledExecutorScheduler", JETTY, JettyTimer.PROFILE,
                    (asked, ran) -> JettyTimer.onAnExecutor(ran))),
            entry("jetty-timer", new Subject(
                    "Jetty TimerScheduler", JETTY, JettyTimer.PROFILE,
                    (asked, ran) -> JettyTimer.onATimer(ran),
                    System::currentTimeMillis)), // that of java.util.Timer
            entry("jraft", new Subject(
                    "SOFAJRaft HashedWheelTimer", "https://github.com/sofastack/sofa-jraft",
                    HashedWheel.PROFILE, wheel("jraft"))),
            entry("netty", new Subject(
                    "Netty HashedWheelTimer", NETTY, HashedWheel.PROFILE, wheel("netty"))),
            entry("netty-size", new Subject(
                    "Netty HashedWheelTimer", NETTY, HashedWheel.PROFILE_WITH_SIZE,
                    wheel("netty"))),
            entry("pekko", new Subject(
                    "Pekko LightArrayRevolverScheduler", "https://github.com/apache/pekko",
                    PekkoTimer.PROFILE,
                    (asked, ran) -> new PekkoTimer(asked.wheelSize(), asked.startMs(), ran))),
            entry("vertx", new Subject(
                    "Vert.x setTimer", VERTX, VertxTimer.PROFILE,
                    (asked, ran) -> new VertxTimer(VertxTimer.SMALLEST_DELAY_MS, ran))),
            entry("vertx-zero", new Subject(
                    "Vert.x setTimer", VERTX, VertxTimer.PROFILE,
                    (asked, ran) -> new VertxTimer(0, ran))));

    private Subject(String name, String source, Map<String, Object> profile, Maker maker) {
        this(name, source, profile, maker, () -> Math.floorDiv(System.nanoTime(), 1_000_000L));
    }

    static Subject named(String word) {
        Subject found = BY_WORD.get(word);
        if (found == null) {
            throw new IllegalArgumentException("there is no timer '" + word + "' here");
        }
        return found;
    }

    boolean onRealClock() {
        return "wall".equals(profile.get("clock"));
    }

    private static Maker wheel(String word) {
        return (asked, ran) -> new HashedWheel(
                HashedWheel.named(word, asked.tickMs(), asked.wheelSize()), ran);
    }

    /** The configuration of an instance. */
    record Asked(long tickMs, int wheelSize, long startMs) {
    }

    /** Makes an instance that tells of each task that runs. */
    interface Maker {
        Timer make(Asked asked, Consumer<String> ran);
    }
}
