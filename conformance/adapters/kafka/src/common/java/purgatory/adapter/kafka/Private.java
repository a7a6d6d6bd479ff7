// SPDX-License-Identifier: CC0-1.0
package purgatory.adapter.kafka;

import java.lang.reflect.Field;
import java.lang.reflect.Method;

/** Access by name to what the released classes keep to themselves. */
final class Private {

    static final String OTHER_RELEASE = "this release is built otherwise";

    private Private() {
    }

    static Class<?> type(String name) {
        try {
            return Class.forName(name);
        } catch (ClassNotFoundException failure) {
            throw new IllegalStateException(OTHER_RELEASE, failure);
        }
    }

    static Field field(Class<?> owner, String name) {
        try {
            Field field = owner.getDeclaredField(name);
            field.setAccessible(true);
            return field;
        } catch (NoSuchFieldException failure) {
            throw new IllegalStateException(OTHER_RELEASE, failure);
        }
    }

    static Object read(Object owner, String name) {
        return read(owner, field(owner.getClass(), name));
    }

    static Object read(Object owner, Field field) {
        try {
            return field.get(owner);
        } catch (IllegalAccessException failure) {
            throw new IllegalStateException(failure);
        }
    }

    static void write(Object owner, String name, Object value) {
        try {
            field(owner.getClass(), name).set(owner, value);
        } catch (IllegalAccessException failure) {
            throw new IllegalStateException(failure);
        }
    }

    /** Calls a public method of a class that is not; found by its name alone. */
    static Object call(Object owner, String name, Object... arguments) {
        for (Method method : owner.getClass().getMethods()) {
            if (method.getName().equals(name)) {
                try {
                    method.setAccessible(true);
                    return method.invoke(owner, arguments);
                } catch (ReflectiveOperationException failure) {
                    throw new IllegalStateException(failure);
                }
            }
        }
        throw new IllegalStateException(OTHER_RELEASE);
    }
}
