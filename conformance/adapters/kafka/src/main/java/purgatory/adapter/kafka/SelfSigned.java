// SPDX-License-Identifier: CC0-1.0
package purgatory.adapter.kafka;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;

/** A key and its self-signed certificate for the loopback address, made by the JDK's keytool. */
final class SelfSigned {

    static final String PASSWORD = "loopback";

    private static final String TYPE = "PKCS12";
    private static final long KEYTOOL_WITHIN_S = 60;

    private static SelfSigned shared;

    private final Path store;

    private SelfSigned(Path store) {
        this.store = store;
    }

    /** The one of this process; its files are deleted as the process ends. */
    static synchronized SelfSigned shared() throws IOException, InterruptedException {
        if (shared == null) {
            Path folder = Files.createTempDirectory("self-signed-");
            Path store = folder.resolve("loopback.p12");
            Path log = folder.resolve("keytool.log");
            // In the reverse of this order.
            for (Path each : new Path[] {folder, store, log}) {
                each.toFile().deleteOnExit();
            }
            make(store, log);
            shared = new SelfSigned(store);
        }
        return shared;
    }

    private static void make(Path store, Path log) throws IOException, InterruptedException {
        Process keytool = new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "keytool").toString(),
                "-genkeypair", "-alias", "loopback", "-keyalg", "EC", "-groupname", "secp256r1",
                "-dname", "CN=localhost", "-ext", "san=ip:127.0.0.1,dns:localhost",
                "-validity", "2", "-storetype", TYPE,
                "-keystore", store.toString(), "-storepass", PASSWORD,
                // Nothing here is secret, and every case under TLS derives the store's keys anew.
                "-J-Dkeystore.pkcs12.certPbeIterationCount=1",
                "-J-Dkeystore.pkcs12.keyPbeIterationCount=1",
                "-J-Dkeystore.pkcs12.macIterationCount=1")
                .redirectErrorStream(true)
                .redirectOutput(log.toFile())
                .start();
        if (!keytool.waitFor(KEYTOOL_WITHIN_S, TimeUnit.SECONDS)) {
            keytool.destroyForcibly();
            throw new IllegalStateException("keytool was not done in " + KEYTOOL_WITHIN_S + " s");
        }
        if (keytool.exitValue() != 0) {
            throw new IllegalStateException("keytool failed: " + Files.readString(log));
        }
    }

    /** What Kafka's configuration calls the store, for its server and for its clients. */
    Map<String, String> kafkaConfiguration() {
        return Map.of(
                "ssl.keystore.type", TYPE,
                "ssl.keystore.location", store.toString(),
                "ssl.keystore.password", PASSWORD,
                "ssl.key.password", PASSWORD,
                "ssl.truststore.type", TYPE,
                "ssl.truststore.location", store.toString(),
                "ssl.truststore.password", PASSWORD);
    }

    /** A client's context that trusts this certificate alone. */
    SSLContext clientContext() throws GeneralSecurityException, IOException {
        KeyStore whole = KeyStore.getInstance(TYPE);
        try (InputStream file = Files.newInputStream(store)) {
            whole.load(file, PASSWORD.toCharArray());
        }
        KeyStore trusted = KeyStore.getInstance(TYPE);
        trusted.load(null, null);
        trusted.setCertificateEntry("loopback", whole.getCertificate("loopback"));
        TrustManagerFactory trust =
                TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        trust.init(trusted);
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(null, trust.getTrustManagers(), null);
        return context;
    }
}
