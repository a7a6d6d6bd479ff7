// SPDX-License-Identifier: CC0-1.0
package purgatory.adapter.kafka;

import com.google.gson.JsonObject;
import java.util.List;

/** What a delayed operation does when it is called. */
record OperationScript(
        List<Answer> tries,
        List<CallbackAction> onComplete,
        List<CallbackAction> onExpiration,
        List<List<CallbackAction>> onTry) {

    enum Answer { WAIT, COMPLETE, THROW, THROW_SEVERE }

    static final OperationScript EMPTY =
            new OperationScript(List.of(), List.of(), List.of(), List.of());

    static OperationScript decode(JsonObject script) {
        return new OperationScript(
                Json.texts(script, "tries").stream().map(OperationScript::answer).toList(),
                CallbackAction.script(Json.array(script, "on_complete")),
                CallbackAction.script(Json.array(script, "on_expiration")),
                Json.array(script, "on_try").asList().stream()
                        .map(actions -> CallbackAction.script(actions.getAsJsonArray()))
                        .toList());
    }

    /** What a try does before it answers, by its number, from 0. */
    List<CallbackAction> actions(int number) {
        return number < onTry.size() ? onTry.get(number) : List.of();
    }

    /** The answer to a try by its number, from 0; the last one stands for all further tries. */
    Answer answer(int number) {
        return tries.isEmpty() ? Answer.WAIT : tries.get(Math.min(number, tries.size() - 1));
    }

    private static Answer answer(String word) {
        return switch (word) {
            case "wait" -> Answer.WAIT;
            case "complete" -> Answer.COMPLETE;
            case "throw" -> Answer.THROW;
            case "throw_severe" -> Answer.THROW_SEVERE;
            default -> throw new Unsupported("there is no answer '" + word + "' here");
        };
    }
}
