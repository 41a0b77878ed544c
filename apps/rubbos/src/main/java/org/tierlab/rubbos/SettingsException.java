package org.tierlab.rubbos;

/** A setting that cannot be used; the message is one sentence for a person. */
public final class SettingsException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    public SettingsException(String message) {
        super(message);
    }
}
