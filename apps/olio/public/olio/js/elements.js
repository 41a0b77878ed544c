"use strict";

/** All elements that a selector finds, below one or in the whole page. */
function elements(selector, below = document) {
    return Array.from(below.querySelectorAll(selector));
}
