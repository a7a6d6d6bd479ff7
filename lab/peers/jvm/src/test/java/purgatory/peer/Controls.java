// SPDX-License-Identifier: CC0-1.0
package purgatory.peer;

import java.util.LinkedHashMap;
import java.util.Map;
import purgatory.peer.DefectiveTimer.Defect;
import purgatory.peer.kafka.KafkaControls;

/** Shows of each check of the peers that it can fail, and of each input that it is what was agreed. */
public final class Controls {

    private static final String REQUEST =
            "{\"measure\":\"%s\",\"pending\":%d,\"operations\":40,\"seed\":7}";

    private int failures;

    private Controls() {
    }

    public static void main(String[] arguments) {
        Controls controls = new Controls();
        controls.timers();
        controls.inputs();
        controls.figures();
        controls.heap();
        controls.requests();
        KafkaControls.run(controls);
        System.exit(controls.failures == 0 ? 0 : 1);
    }

    /** What may throw. */
    @FunctionalInterface
    public interface Action {
        void run() throws Exception;
    }

    /** The action must throw an exception of the type. */
    public void refused(String what, Class<? extends Throwable> type, Action action) {
        try {
            action.run();
        } catch (Throwable thrown) {
            note(type.isInstance(thrown), what + " is refused: " + thrown.getMessage());
            return;
        }
        note(false, what + " is refused");
    }

    /** The action must end without an exception. */
    public void accepted(String what, Action action) {
        try {
            action.run();
        } catch (Throwable thrown) {
            note(false, what + " is accepted: " + thrown);
            return;
        }
        note(true, what + " is accepted");
    }

    private void equal(String what, Object expected, Object found) {
        note(expected.equals(found), what + " is " + expected + ": found " + found);
    }

    private void note(boolean holds, String sentence) {
        failures += holds ? 0 : 1;
        System.out.println((holds ? "holds  " : "FAILS  ") + sentence);
    }

    private void timers() {
        for (String measure : new String[] {"hot", "fifo", "random", "expire"}) {
            accepted(measure + " of a timer that does nothing wrong",
                    () -> take(measure, Defect.NONE));
        }
        timerRefused("hot", Defect.RUNS_AT_ONCE);
        timerRefused("hot", Defect.IGNORES_CANCEL);
        timerRefused("fifo", Defect.IGNORES_CANCEL);
        timerRefused("random", Defect.IGNORES_CANCEL);
        timerRefused("random", Defect.RUNS_AT_ONCE);
        timerRefused("expire", Defect.LOSES_A_TASK);
        timerRefused("expire", Defect.RUNS_A_TASK_TWICE);
        refused("memory of a timer that keeps no tasks", CheckFailed.class,
                () -> new TimerMemory<>(largestMs -> new DefectiveTimer(Defect.LOSES_A_TASK))
                        .take(request("memory/timer", 5)));
    }

    private void timerRefused(String measure, Defect defect) {
        refused(measure + " of a timer with " + defect, CheckFailed.class,
                () -> take(measure, defect));
    }

    private static Answer take(String measure, Defect defect) throws Exception {
        Map<String, Measure> measures = new LinkedHashMap<>();
        TimerMeasures.putVirtual(measures, largestMs -> new DefectiveTimer(defect));
        String name = measure + "/virtual";
        return measures.get(name).take(request(name, 5));
    }

    private static Request request(String measure, int pending) {
        return Request.parse(REQUEST.formatted(measure, pending));
    }

    private void inputs() {
        SplitMix zero = new SplitMix(0);
        equal("the first number of seed 0", 0xE220A8397B1DCDAFL, zero.next());
        equal("the second number of seed 0", 0x6E789E6AA1B965F4L, zero.next());
        SplitMix draws = new SplitMix(7);
        SplitMix same = new SplitMix(7);
        equal("a delay", (int) (1 + (same.next() >>> 33) % 60_000), Delays.VIRTUAL.draw(draws));
        double sum = 0;
        double squares = 0;
        double exponentials = 0;
        int count = 100_000;
        for (int i = 0; i < count; i++) {
            double normal = draws.normal();
            sum += normal;
            squares += normal * normal;
            exponentials += draws.exponential();
        }
        note(Math.abs(sum / count) < 0.02, "normal numbers have mean 0: " + sum / count);
        note(Math.abs(squares / count - 1) < 0.02, "and variance 1: " + squares / count);
        note(Math.abs(exponentials / count - 1) < 0.02,
                "exponential numbers have mean 1: " + exponentials / count);
    }

    private void figures() {
        long[] hundred = new long[100];
        Gaps gaps = new Gaps(10_000_000);
        for (int i = 0; i < hundred.length; i++) {
            hundred[i] = 100 - i;
            gaps.note(i < 99 ? 100 - i : 5_000_000);
        }
        Percentiles percentiles = new Percentiles(hundred, hundred.length);
        equal("the median of 1 to 100", 50L, percentiles.at(0.5));
        equal("its 99th percentile", 99L, percentiles.at(0.99));
        equal("the largest", 100L, percentiles.largest());
        equal("the median gap", 51L, gaps.at(0.5));
        equal("the longest gap", 5_000_000L, gaps.at(1));
        refused("a percentile of nothing", CheckFailed.class, () -> new Percentiles(hundred, 0));
    }

    private void heap() {
        accepted("a heap without what was let go of, although that has a finalizer", () -> {
            long before = Heap.usedBytes();
            long fillings = new Finalized().filling.length;
            long grown = Heap.usedBytes() - before;
            if (grown > fillings / 2) {
                throw new CheckFailed("it grew by " + grown + " bytes");
            }
        });
        refused("a heap that shrank while it was measured", CheckFailed.class,
                () -> Heap.grownSince(Long.MAX_VALUE / 2));
    }

    /** Is there until a thread of Java's has run what takes it a while. */
    private static final class Finalized {

        private final byte[] filling = new byte[16 << 20];

        @Override
        @SuppressWarnings({"deprecation", "removal"})
        protected void finalize() throws InterruptedException {
            Thread.sleep(20);
        }
    }

    private void requests() {
        badRequest("[1]");
        badRequest("nonsense");
        badRequest("{\"measure\":");
        badRequest("{} {}");
        refused("a missing key", BadRequest.class, () -> Request.parse("{}").count("pending", 0));
        refused("a count as a string", BadRequest.class,
                () -> Request.parse("{\"pending\":\"1\"}").count("pending", 0));
        refused("a negative count", BadRequest.class,
                () -> Request.parse("{\"pending\":-1}").count("pending", 0));
    }

    private void badRequest(String line) {
        refused(line, BadRequest.class, () -> Request.parse(line));
    }
}
