// SPDX-License-Identifier: CC0-1.0
package purgatory.peer;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParseException;
import com.google.gson.JsonParser;
import com.google.gson.JsonPrimitive;
import com.google.gson.Strictness;
import com.google.gson.stream.JsonReader;
import com.google.gson.stream.JsonToken;
import java.io.IOException;
import java.io.StringReader;

/** One request: its keys by type and range; what is missing or out of range is a {@link BadRequest}. */
public final class Request {

    /** More would not fit into one array. */
    private static final int MOST = Integer.MAX_VALUE - 8;

    private final JsonObject object;

    private Request(JsonObject object) {
        this.object = object;
    }

    static Request parse(String line) {
        try (JsonReader reader = new JsonReader(new StringReader(line))) {
            reader.setStrictness(Strictness.STRICT);
            JsonElement element = JsonParser.parseReader(reader);
            if (element instanceof JsonObject object && reader.peek() == JsonToken.END_DOCUMENT) {
                return new Request(object);
            }
        } catch (JsonParseException | IOException notJson) {
            throw new BadRequest("the line is not JSON");
        }
        throw new BadRequest("a request is one object");
    }

    String measure() {
        return text("measure");
    }

    public boolean has(String key) {
        return object.has(key);
    }

    public String text(String key) {
        JsonPrimitive value = primitive(key);
        if (!value.isString()) {
            throw new BadRequest("'" + key + "' must be a string");
        }
        return value.getAsString();
    }

    /** A count from {@code lowest} to what an array can hold. */
    public int count(String key, int lowest) {
        long value = integer(key);
        if (value < lowest || value > MOST) {
            throw new BadRequest("'" + key + "' must be from " + lowest + " to " + MOST);
        }
        return (int) value;
    }

    /** The seed: any 64 bits, written with or without a sign. */
    public SplitMix draws() {
        return new SplitMix(integer("seed"));
    }

    /** A number from 0; requests a second. */
    public double rate() {
        JsonPrimitive value = primitive("rate");
        if (!value.isNumber() || !(value.getAsDouble() >= 0 && value.getAsDouble() < 1e9)) {
            throw new BadRequest("'rate' must be a number from 0 to 1e9");
        }
        return value.getAsDouble();
    }

    private long integer(String key) {
        JsonPrimitive value = primitive(key);
        if (!value.isNumber()) {
            throw new BadRequest("'" + key + "' must be a number");
        }
        String digits = value.getAsString();
        try {
            return digits.startsWith("-") ? Long.parseLong(digits) : Long.parseUnsignedLong(digits);
        } catch (NumberFormatException notALong) {
            throw new BadRequest("'" + key + "' must be an integer of 64 bits");
        }
    }

    private JsonPrimitive primitive(String key) {
        if (object.get(key) instanceof JsonPrimitive value) {
            return value;
        }
        throw new BadRequest("'" + key + "' is missing");
    }
}
