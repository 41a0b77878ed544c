package org.tierlab.rubbos.site;

import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Random;
import java.util.zip.CRC32;
import java.util.zip.Deflater;
import java.util.zip.DeflaterOutputStream;

/**
 * A logo of exactly the published size. It is made, not stored: seeded noise over a gradient, 8-bit
 * grey, and a private chunk that fills the file up. Written by hand because a JRE without a display
 * may lack the fonts and libraries of java.awt.
 */
final class Logo {
    /** Bytes of the published application's one image. */
    static final int SIZE = 9_724;

    private static final int WIDTH = 120;
    private static final int HEIGHT = 60;
    private static final long SEED = 1;
    private static final byte[] SIGNATURE = {(byte) 0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};

    /** Length, type and checksum of a chunk. */
    private static final int CHUNK_FRAME = 12;

    private Logo() {}

    static byte[] png() throws IOException {
        Random random = new Random(SEED);
        byte[] pixels = compressed(pixels(random));
        ByteArrayOutputStream file = new ByteArrayOutputStream(SIZE);
        file.write(SIGNATURE);
        chunk(file, "IHDR", header());
        int filling = SIZE - file.size() - CHUNK_FRAME - (CHUNK_FRAME + pixels.length) - CHUNK_FRAME;
        byte[] noise = new byte[filling];
        random.nextBytes(noise);
        chunk(file, "tiLb", noise);
        chunk(file, "IDAT", pixels);
        chunk(file, "IEND", new byte[0]);
        return file.toByteArray();
    }

    private static byte[] header() throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (DataOutputStream out = new DataOutputStream(bytes)) {
            out.writeInt(WIDTH);
            out.writeInt(HEIGHT);
            out.write(new byte[] {8, 0, 0, 0, 0});
        }
        return bytes.toByteArray();
    }

    /** Rows of grey values, each behind its filter byte 0. */
    private static byte[] pixels(Random random) {
        byte[] rows = new byte[HEIGHT * (WIDTH + 1)];
        for (int y = 0; y < HEIGHT; y++) {
            for (int x = 0; x < WIDTH; x++) {
                rows[y * (WIDTH + 1) + 1 + x] = (byte) (64 + x + random.nextInt(16));
            }
        }
        return rows;
    }

    private static byte[] compressed(byte[] rows) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (DeflaterOutputStream out =
                new DeflaterOutputStream(bytes, new Deflater(Deflater.BEST_COMPRESSION))) {
            out.write(rows);
        }
        return bytes.toByteArray();
    }

    private static void chunk(ByteArrayOutputStream file, String type, byte[] data) throws IOException {
        CRC32 checksum = new CRC32();
        checksum.update(type.getBytes(StandardCharsets.US_ASCII));
        checksum.update(data);
        DataOutputStream out = new DataOutputStream(file);
        out.writeInt(data.length);
        out.writeBytes(type);
        out.write(data);
        out.writeInt((int) checksum.getValue());
    }
}
