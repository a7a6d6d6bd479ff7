// SPDX-License-Identifier: CC0-1.0
package purgatory.peer.kafka;

import java.util.List;
import purgatory.peer.BadRequest;
import purgatory.peer.Request;
import purgatory.peer.SplitMix;

/** When requests come, how long each takes until it can be completed, and its keys. */
final class RequestPlan {

    private static final double MS = 1e6;
    private static final double SECOND = 1e9;
    /** The standard normal distribution has three quarters of its mass below this. */
    private static final double UPPER_QUARTILE = 0.6744897501960817;

    private final float[] intervalsNs;
    private final float[] timesNs;
    private final KeyChoice keys;

    RequestPlan(Request request) {
        int operations = request.count("operations", 1);
        double rate = request.rate();
        Spread spread = Spread.named(request.text("case"));
        SplitMix draws = request.draws();
        intervalsNs = new float[rate == 0 ? 0 : operations];
        timesNs = new float[operations];
        for (int i = 0; i < operations; i++) {
            if (rate > 0) {
                intervalsNs[i] = (float) (draws.exponential() * SECOND / rate);
            }
            timesNs[i] = (float) (spread.draw(draws) * MS);
        }
        keys = new KeyChoice(request.count("keys", KeyChoice.EACH), operations, draws);
    }

    /** Log-normal: half are within the first time, three quarters within the second (ms). */
    private record Spread(double medianMs, double upperQuartileMs) {

        static Spread named(String name) {
            return switch (name) {
                case "low" -> new Spread(20, 60);
                case "high" -> new Spread(200, 400);
                default -> throw new BadRequest("'case' must be low or high");
            };
        }

        double draw(SplitMix draws) {
            double sigma = Math.log(upperQuartileMs / medianMs) / UPPER_QUARTILE;
            return medianMs * Math.exp(sigma * draws.normal());
        }
    }

    int requests() {
        return timesNs.length;
    }

    /** Time from the request before, 0 where they come as fast as it goes. */
    double intervalNs(int request) {
        return intervalsNs.length == 0 ? 0 : intervalsNs[request];
    }

    long timeNs(int request) {
        return (long) timesNs[request];
    }

    List<Key> keys(int request) {
        return keys.of(request);
    }
}
