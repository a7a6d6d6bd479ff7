// SPDX-License-Identifier: CC0-1.0
package purgatory.adapter.kafka;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;

/** The requests that a client has announced on its connection, and what it has sent of them. */
final class SentRequests {

    private static final int PERIOD = 251;

    private final List<Integer> sizes = new ArrayList<>();
    private final BitSet received = new BitSet();
    /** The bytes sent so far that belong to bodies, by their place in the stream. */
    private final BitSet ofBodies = new BitSet();
    private int sentBytes;
    private int sentOfLast;

    /** The first bytes of the next request. */
    byte[] announce(int sizeBytes, int bytes) {
        sizes.add(sizeBytes);
        sentOfLast = 0;
        return send(bytes);
    }

    /** Further bytes of the request that was announced last. */
    byte[] send(int bytes) {
        int number = sizes.size();
        byte[] size = ByteBuffer.allocate(Integer.BYTES).putInt(sizes.get(number - 1)).array();
        byte[] sent = new byte[bytes];
        for (int place = 0; place < bytes; place++) {
            int index = sentOfLast + place - Integer.BYTES;
            boolean ofBody = index >= 0;
            sent[place] = ofBody ? bodyByte(number, index) : size[sentOfLast + place];
            ofBodies.set(sentBytes + place, ofBody);
        }
        sentBytes += bytes;
        sentOfLast += bytes;
        return sent;
    }

    /** How many of the bytes sent last belong to bodies. */
    int bodyBytesOfLast(int bytes) {
        return ofBodies.get(sentBytes - bytes, sentBytes).cardinality();
    }

    /** The number of the first request, not received before, that has this body; 0 for none. */
    int numberOf(ByteBuffer body) {
        for (int number = 1; number <= sizes.size(); number++) {
            if (!received.get(number) && isBody(number, body)) {
                received.set(number);
                return number;
            }
        }
        return 0;
    }

    private boolean isBody(int number, ByteBuffer body) {
        if (body.remaining() != sizes.get(number - 1)) {
            return false;
        }
        for (int index = 0; index < body.remaining(); index++) {
            if (body.get(body.position() + index) != bodyByte(number, index)) {
                return false;
            }
        }
        return true;
    }

    private static byte bodyByte(int number, int index) {
        return (byte) ((number + index) % PERIOD);
    }
}
