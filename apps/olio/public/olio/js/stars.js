"use strict";

/** A rating is chosen by its stars, too. */
elements("select[name=rating]").forEach((select) => {
    const stars = elements("option", select).map((option) => {
        const star = document.createElement("span");
        star.className = "star";
        star.addEventListener("click", () => {
            select.value = option.value;
            show();
        });
        return star;
    });
    function show() {
        stars.forEach((star, at) => star.classList.toggle("on", at < Number(select.value)));
    }
    select.addEventListener("change", show);
    select.after(...stars);
    show();
});
