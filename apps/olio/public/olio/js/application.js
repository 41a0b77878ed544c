"use strict";

/** "Attend" and "Unattend" change the list of attendees where it stands. */
document.addEventListener("click", async (click) => {
    const link = click.target.closest("a.attendance");
    if (link === null) {
        return;
    }
    click.preventDefault();
    const answer = await fetch(link.href);
    const list = document.getElementById("attendees");
    list.innerHTML = await answer.text();
    appear(list);
});
