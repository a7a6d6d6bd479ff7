import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.RecordsToDelete;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/** Makes, fills and truncates a topic: SERVER create|keyed|spread|cut|delete TOPIC ARGUMENT... */
public final class Topics {

    private static final Pattern RUN = Pattern.compile("\"run\":\"([^\"]*)\"");

    public static void main(String[] given) throws Exception {
        Map<String, Object> server = Map.of("bootstrap.servers", given[0]);
        String topic = given[2];
        try (Admin admin = Admin.create(server)) {
            switch (given[1]) {
                case "create" -> admin.createTopics(
                        List.of(new NewTopic(topic, Integer.parseInt(given[3]), (short) 1)))
                        .all().get();
                case "cut" -> admin.deleteRecords(Map.of(
                        new TopicPartition(topic, Integer.parseInt(given[3])),
                        RecordsToDelete.beforeOffset(Long.parseLong(given[4])))).all().get();
                case "delete" -> admin.deleteTopics(List.of(topic)).all().get();
                default -> write(server, topic, given[1].equals("keyed"), Path.of(given[3]));
            }
        }
    }

    /** Writes each line of a file: with its run as the key, or to one partition after the other. */
    private static void write(Map<String, Object> server, String topic, boolean keyed, Path file)
            throws Exception {
        ByteArraySerializer bytes = new ByteArraySerializer();
        try (KafkaProducer<byte[], byte[]> producer = new KafkaProducer<>(server, bytes, bytes)) {
            int partitions = producer.partitionsFor(topic).size();
            int number = 0;
            for (String line : Files.readAllLines(file)) {
                Matcher run = RUN.matcher(line);
                byte[] key = keyed && run.find() ? encoded(run.group(1)) : null;
                Integer partition = keyed ? null : number % partitions;
                producer.send(new ProducerRecord<>(topic, partition, key, encoded(line)));
                number++;
            }
        }
    }

    private static byte[] encoded(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }
}
