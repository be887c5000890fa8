"use strict";
// The page is whole without this: tables get an order to choose, figures a link that saves them.

function sortBy(button) {
  const heading = button.closest("th");
  const table = heading.closest("table");
  const column = heading.cellIndex;
  const up = heading.getAttribute("aria-sort") !== "ascending";
  for (const other of heading.parentElement.cells) other.removeAttribute("aria-sort");
  heading.setAttribute("aria-sort", up ? "ascending" : "descending");
  const key = (row) => row.cells[column].dataset.order ?? row.cells[column].textContent.trim();
  const compare = (a, b) => {
    // What has no value stands last in both directions.
    if (a === "" || b === "") return (a === "") - (b === "");
    const [x, y] = [Number(a), Number(b)];
    const order = Number.isNaN(x) || Number.isNaN(y)
      ? a.localeCompare(b, "en", { numeric: true }) : x - y;
    return up ? order : -order;
  };
  const body = table.tBodies[0];
  const rows = Array.from(body.rows, (row) => [key(row), row]);
  rows.sort((a, b) => compare(a[0], b[0]));
  body.append(...rows.map(([, row]) => row));
}

for (const button of document.querySelectorAll("table.sortable thead button")) {
  button.addEventListener("click", () => sortBy(button));
}

for (const image of document.querySelectorAll("figure img")) {
  const link = document.createElement("a");
  link.href = image.src;
  link.download = `${image.closest("article").id}.svg`;
  link.textContent = link.download;
  image.closest("figure").querySelector(".downloads").prepend(link);
}

// On paper nothing can be opened.
let closed = [];
window.addEventListener("beforeprint", () => {
  closed = Array.from(document.querySelectorAll("details:not([open])"));
  for (const part of closed) part.open = true;
});
window.addEventListener("afterprint", () => {
  for (const part of closed) part.open = false;
});

// The contents are open beside the text, and closed above it on a narrow screen.
const contents = document.querySelector("nav details");
const wide = window.matchMedia("(min-width: 60.01rem)");
const adapt = () => { contents.open = wide.matches; };
wide.addEventListener("change", adapt);
adapt();

function openTarget() {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  const folded = target?.closest("details:not([open])");
  if (folded) { folded.open = true; target.scrollIntoView(); }
}
window.addEventListener("hashchange", openTarget);
openTarget();
