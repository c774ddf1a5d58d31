"use strict";
const search = document.getElementById("search");
const column = document.getElementById("column");
const shown = document.getElementById("shown");
const programs = [...document.querySelectorAll("details.program")];

function filter() {
  const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
  let count = 0;
  for (const program of programs) {
    const text = program.dataset.words;
    const fits = (!column.value || program.dataset.column === column.value) && words.every((w) => text.includes(w));
    program.hidden = !fits;
    count += fits;
  }
  for (const topic of document.querySelectorAll("section.topic")) {
    topic.hidden = !topic.querySelector("details.program:not([hidden])");
  }
  shown.textContent = `${count} of ${programs.length}`;
}

async function copy(button) {
  const text = button.parentElement.querySelector("pre").textContent;
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    // A page opened from a file, or an old browser: go through a selection.
    const area = document.createElement("textarea");
    area.value = text;
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
  button.textContent = "copied";
  setTimeout(() => (button.textContent = "copy"), 1500);
}

function openTarget() {
  const target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (target && target.matches("details.program")) target.open = true;
}

search.addEventListener("input", filter);
column.addEventListener("change", filter);
document.addEventListener("click", (event) => {
  if (event.target.matches("button.copy")) copy(event.target);
});
addEventListener("hashchange", openTarget);
openTarget();
filter();
