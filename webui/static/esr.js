"use strict";
/* The page works without this. With it there are keys, more sentences in place, and fold-outs. */

(() => {
  const box = document.getElementById("q");
  const keys = document.querySelector("dialog.keys");
  const wait = document.querySelector(".wait");
  const places = () => [...document.querySelectorAll(".hits article, .whole .hit")];

  /* Moving from sentence to sentence */

  let at = null;

  function go(to) {
    if (!to) return;
    at?.classList.remove("at");
    at = to;
    at.classList.add("at");
    at.focus({ preventScroll: true });
    const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
    at.scrollIntoView({ block: "center", behavior: calm ? "auto" : "smooth" });
  }

  function step(by) {
    const all = places();
    if (!all.length) return;
    const inside = document.activeElement?.closest?.(".hits article, .whole .hit");
    const target = location.hash && document.querySelector(".whole .hit:target");
    const now = all.indexOf(inside || at || target || null);
    go(all[now < 0 ? (by > 0 ? 0 : all.length - 1) : Math.min(Math.max(now + by, 0), all.length - 1)]);
  }

  const here = () => document.activeElement?.closest?.(".hits article, .whole .hit") || at;

  const actions = {
    "/": () => { box.focus(); box.select(); },
    "j": () => step(1),
    "k": () => step(-1),
    "n": () => step(1),
    "p": () => step(-1),
    "w": () => here()?.querySelector("a.why")?.click(),
    "m": () => document.querySelector(".more a")?.click(),
    "?": () => { if (!keys.open) keys.showModal(); },
  };

  document.addEventListener("keydown", (event) => {
    const typing = event.target.closest("input, select, textarea");
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    if (event.key === "Escape" && typing) { typing.blur(); return; }
    if (typing || keys.open) return;
    if (event.key === "Enter" && event.target.matches(".hits article")) {
      event.target.querySelector("a.open")?.click();
      return;
    }
    const action = actions[event.key];
    if (action) { event.preventDefault(); action(); }
  });

  const button = document.createElement("button");
  button.type = "button";
  button.className = "show-keys";
  button.textContent = "Keys";
  button.addEventListener("click", actions["?"]);
  (document.querySelector(".foot") || document.querySelector("main")).append(button);

  /* Waiting */

  const first = wait.textContent;
  let timer = 0;
  let late = 0;

  function busy(on) {
    clearTimeout(timer);
    clearTimeout(late);
    wait.textContent = first;
    if (on) {
      timer = setTimeout(() => { wait.hidden = false; document.body.classList.add("busy"); }, 250);
      late = setTimeout(() => { wait.textContent = wait.dataset.slow; }, 4000);
    } else {
      wait.hidden = true;
      document.body.classList.remove("busy");
    }
  }

  document.querySelector("form.search").addEventListener("submit", () => busy(true));
  addEventListener("pageshow", () => busy(false));

  async function fetched(address) {
    busy(true);
    try {
      const answer = await fetch(address, { headers: { Accept: "text/html" } });
      if (!answer.ok) throw new Error(String(answer.status));
      return new DOMParser().parseFromString(await answer.text(), "text/html");
    } finally {
      busy(false);
    }
  }

  /* More sentences and explanations in place; where that fails, the link is followed */

  async function more(link) {
    const page = await fetched(link.href);
    const list = document.querySelector(".hits");
    const shown = list.children.length;
    const fresh = [...page.querySelectorAll(".hits > li")].slice(shown);
    list.append(...fresh);
    for (const part of [".count", ".foot .twin"]) {
      document.querySelector(part)?.replaceChildren(...page.querySelector(part).childNodes);
    }
    const next = page.querySelector(".more");
    if (next) link.closest(".more").replaceWith(next);
    else link.closest(".more").remove();
    history.replaceState(null, "", link.href.split("#")[0]);
    const counts = document.getElementById("k");
    counts.replaceChildren(...page.getElementById("k").children);
    go(fresh[0]?.querySelector("article"));
  }

  async function why(link) {
    const article = link.closest("article");
    const open = article.querySelector(":scope > .explanation");
    if (open) {
      open.remove();
      link.setAttribute("aria-expanded", "false");
      return;
    }
    const page = await fetched(link.href);
    const part = page.getElementById("explanation");
    part.removeAttribute("id");
    article.append(part);
    link.setAttribute("aria-expanded", "true");
  }

  document.addEventListener("click", (event) => {
    if (event.defaultPrevented || event.button || event.ctrlKey || event.metaKey || event.shiftKey) return;
    const link = event.target.closest("a");
    const act = link?.matches(".more a") ? more : link?.matches(".hits .why") ? why : null;
    if (!act) return;
    event.preventDefault();
    act(link).catch(() => { location.href = link.href; });
  });

  /* Many queries: the file is fetched, so that waiting is told and what was typed stays */

  async function many(form, data) {
    busy(true);
    try {
      const answer = await fetch(form.action, { method: "POST", body: data });
      const name = /filename="([^"]+)"/.exec(answer.headers.get("Content-Disposition") || "")?.[1];
      if (name) {
        const link = document.createElement("a");
        link.href = URL.createObjectURL(await answer.blob());
        link.download = name;
        link.click();
        setTimeout(() => URL.revokeObjectURL(link.href), 60000);
      }
      const page = name ? null : new DOMParser().parseFromString(await answer.text(), "text/html");
      const main = document.querySelector("main");
      main.querySelectorAll("[role=alert]").forEach((told) => told.remove());
      if (page?.querySelector("form.many")) main.replaceChildren(...page.querySelector("main").childNodes);
      else if (page) main.prepend(page.querySelector(".problem"));
      main.querySelector("[role=alert]")?.scrollIntoView({ block: "center" });
    } finally {
      busy(false);
    }
  }

  document.addEventListener("submit", (event) => {
    const form = event.target;
    if (!form.matches("form.many")) return;
    event.preventDefault();
    many(form, new FormData(form, event.submitter)).catch(() => form.submit());
  });

  /* The controls of the chosen model */

  for (const part of document.querySelectorAll("[data-ranking]")) {
    const prefix = part.dataset.ranking;
    const model = document.getElementById(`${prefix}model`);
    const context = document.getElementById(`${prefix}context`);
    const follow = () => {
      part.querySelector(`input[name="${prefix}form"]`).value = model.value;
      for (const each of part.querySelectorAll("[data-model]")) {
        each.hidden = each.disabled = each.dataset.model !== model.value;
      }
      const allowed = model.selectedOptions[0].dataset.contexts.split(" ");
      for (const option of context.options) option.disabled = option.value !== "" && !allowed.includes(option.value);
      if (context.selectedOptions[0]?.disabled) context.value = "";
      context.options[0].textContent = `as the model has it (${allowed[0] || "none: the sentence alone"})`;
    };
    model.addEventListener("change", follow);
    addEventListener("pageshow", follow);
  }

  document.querySelector(".whole .hit:target")?.classList.add("at");
})();
