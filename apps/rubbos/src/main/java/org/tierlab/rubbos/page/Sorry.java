package org.tierlab.rubbos.page;

/** The page has nothing to show; the message follows the word "Sorry". */
final class Sorry extends RuntimeException {
    private static final long serialVersionUID = 1L;

    Sorry(String message) {
        super(message, null, false, false);
    }
}
