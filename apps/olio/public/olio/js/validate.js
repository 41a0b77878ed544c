"use strict";

const OPTIONAL = ["street2", "state", "summary", "telephone", "timezone", "email"];

/** What must be filled in is marked before the form goes out. */
elements("form[enctype]").forEach((form) => {
    form.addEventListener("submit", (submission) => {
        const empty = elements("input[type=text], input[type=password], textarea", form)
            .filter((field) => !OPTIONAL.includes(field.name) && field.value.trim() === "");
        elements(".wrong", form).forEach((field) => field.classList.remove("wrong"));
        empty.forEach((field) => field.classList.add("wrong"));
        if (empty.length > 0) {
            submission.preventDefault();
            submission.stopImmediatePropagation();
        }
    });
});
