// SPDX-License-Identifier: CC0-1.0
package purgatory.peer.netty;

import io.netty.util.Version;
import java.util.LinkedHashMap;
import java.util.Map;
import purgatory.peer.Measure;
import purgatory.peer.Pause;
import purgatory.peer.Peer;
import purgatory.peer.TimerMeasures;
import purgatory.peer.TimerMemory;

/** Netty: its hashed wheel timer, whose clock no caller can lead. */
public final class NettyPeer {

    private NettyPeer() {
    }

    public static Peer make() {
        Map<String, Measure> measures = new LinkedHashMap<>();
        TimerMeasures.putSystem(measures, NettyTimer::new);
        measures.put("memory/timer", new TimerMemory<>(NettyTimer::new));
        measures.put("pause", new Pause<>(NettyTimer::new));
        String version = Version.identify().get("netty-common").artifactVersion();
        return new Peer("netty", version, measures);
    }
}
