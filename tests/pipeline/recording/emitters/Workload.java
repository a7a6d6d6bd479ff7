import java.util.Random;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/** Three threads use a timer of the Java library; arguments: the file, and what the trace adds to each delay. */
final class Workload {

    public static void main(String[] arguments) throws Exception {
        int lieMs = Integer.parseInt(arguments[1]);
        Trace trace = new Trace(arguments[0], "java", "{\"component\":\"timer\"}", 1000);
        ScheduledThreadPoolExecutor timer = new ScheduledThreadPoolExecutor(1);
        Around around = new Around(timer, trace);
        Thread[] workers = new Thread[3];
        for (int number = 0; number < workers.length; number++) {
            String name = "worker \"" + number + "\"";
            Random random = new Random(number);
            workers[number] = new Thread(() -> work(around, name, random, lieMs), name);
            workers[number].start();
        }
        for (Thread worker : workers) {
            worker.join();
        }
        timer.shutdown();
        timer.awaitTermination(10, TimeUnit.SECONDS);
        trace.close();
    }

    private static void work(Around around, String name, Random random, int lieMs) {
        for (int count = 0; count < 100; count++) {
            String task = name + " " + count;
            int delayMs = random.nextInt(50);
            Future<?> added;
            if (lieMs == 0) {
                added = around.add(task, delayMs);
            } else {
                around.trace().call("{\"op\":\"add\",\"task\":" + Trace.quoted(task) + ",\"delay_ms\":" + (delayMs + lieMs) + "}");
                added = around.timer().schedule(() -> around.trace().event("ran", task), delayMs, TimeUnit.MILLISECONDS);
                around.trace().returned("");
            }
            if (random.nextInt(10) < 3) {
                around.cancel(task, added);
            }
        }
    }
}
