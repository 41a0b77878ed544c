"use strict";

/** Shows what has just changed. */
function appear(element) {
    element.animate([{ opacity: 0 }, { opacity: 1 }], 300);
}
