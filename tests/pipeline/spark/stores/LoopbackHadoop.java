import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hdfs.MiniDFSCluster;
import org.apache.hadoop.yarn.conf.YarnConfiguration;
import org.apache.hadoop.yarn.server.MiniYARNCluster;

/** HDFS and YARN, each with two nodes, on loopback, until the standard input ends.
 *
 * <p>The one argument is a folder for data, and for the settings of clients in {@code conf}. The
 * address of the files, and that of the name node's web server, go to standard output. */
public final class LoopbackHadoop {
    private static final int NODES = 2;

    public static void main(String[] arguments) throws Exception {
        Path folder = Path.of(arguments[0]);
        Configuration files = new Configuration();
        files.set(MiniDFSCluster.HDFS_MINIDFS_BASEDIR, folder.resolve("hdfs").toString());
        try (MiniDFSCluster store =
                        new MiniDFSCluster.Builder(files).numDataNodes(NODES).build();
                MiniYARNCluster machines = new MiniYARNCluster("loopback", NODES, 1, 1)) {
            store.waitActive();
            machines.init(settings(store.getURI().toString()));
            machines.start();
            Configuration clients = machines.getConfig();
            clients.unset("net.topology.node.switch.mapping.impl"); // a class of the tests
            Path conf = Files.createDirectory(folder.resolve("conf"));
            for (String name : new String[] {"core-site.xml", "yarn-site.xml"}) {
                try (OutputStream site = Files.newOutputStream(conf.resolve(name))) {
                    clients.writeXml(site);
                }
            }
            System.out.println(store.getURI() + " " + store.getHttpUri(0));
            while (System.in.read() >= 0) {}
        }
    }

    private static Configuration settings(String files) {
        Configuration settings = new YarnConfiguration();
        settings.set("fs.defaultFS", files);
        settings.set("yarn.scheduler.capacity.root.queues", "default");
        settings.set("yarn.scheduler.capacity.root.default.capacity", "100");
        settings.set("yarn.scheduler.capacity.maximum-am-resource-percent", "1");
        settings.set("yarn.scheduler.minimum-allocation-mb", "256");
        settings.set("yarn.nodemanager.vmem-check-enabled", "false");
        settings.set(
                "yarn.nodemanager.disk-health-checker"
                        + ".max-disk-utilization-per-disk-percentage",
                "100"); // what else is on the disk is no concern of a test
        return settings;
    }
}
