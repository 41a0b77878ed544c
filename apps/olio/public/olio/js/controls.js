"use strict";

/** A form is sent once, however often its button is pressed. */
document.addEventListener("submit", (submission) => {
    const form = submission.target;
    if (form.dataset.sent) {
        submission.preventDefault();
    }
    form.dataset.sent = "yes";
});
