package org.tierlab.rubbos.page;

/** A request's parameter is missing or makes no sense; the answer has status 400. */
final class BadParameter extends RuntimeException {
    private static final long serialVersionUID = 1L;

    BadParameter(String name, String must) {
        super("the parameter " + name + " must be " + must + ".", null, false, false);
    }
}
