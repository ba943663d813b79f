"use strict";
(() => {
  document.documentElement.classList.add("scripted");

  // A link opens what it names, however deep that is folded.
  const open = () => {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!target) return;
    for (let place = target; place; place = place.parentElement) if (place.tagName === "DETAILS") place.open = true;
    target.scrollIntoView();
  };
  addEventListener("hashchange", open);
  open();

  for (const command of document.querySelectorAll("pre.command")) {
    const code = command.querySelector("code");
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = "copy";
    button.addEventListener("click", async () => {
      try {
        await navigator.clipboard.writeText(code.textContent);
      } catch {  // a page from a file may have no clipboard
        getSelection().selectAllChildren(code);
        document.execCommand("copy");
      }
      button.textContent = "copied";
      setTimeout(() => { button.textContent = "copy"; }, 1500);
    });
    command.append(button);
  }

  const filter = document.getElementById("filter");
  if (!filter) return;
  const [words, verdict, requirement, told] = filter.children;
  const found = [...document.querySelectorAll("[data-verdict]")];
  const texts = found.map((item) => item.textContent.toLowerCase());
  filter.addEventListener("input", () => {
    const text = words.value.trim().toLowerCase();
    const active = Boolean(text || verdict.value || requirement.value);
    let shown = 0;
    found.forEach((item, number) => {
      const fits = (!verdict.value || item.dataset.verdict === verdict.value)
        && (!requirement.value || item.dataset.requirements.split(" ").includes(requirement.value))
        && (!text || texts[number].includes(text));
      item.hidden = !fits;
      shown += fits;
    });
    for (const group of document.querySelectorAll(".of-requirement, details.rows")) {
      if (!group.querySelector("[data-verdict]")) continue;
      group.hidden = !group.querySelector("[data-verdict]:not([hidden])");
      if (group.tagName === "DETAILS") group.open = active;
    }
    told.textContent = active ? `${shown} of ${found.length} lines` : "";
  });
})();
