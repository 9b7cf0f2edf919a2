"use strict";
/* The pages work without this script. It adds keys, and opens more sentences, explanations and articles in place. */

(() => {
  const box = document.getElementById("q");
  const keys = document.querySelector("dialog.keys");
  const wait = document.querySelector(".wait");
  const sentences = () => [...document.querySelectorAll(".hits article, .whole .hit")];

  /* Moving from sentence to sentence */

  let current = null;

  function go(to) {
    if (!to) return;
    current?.classList.remove("at");
    current = to;
    current.classList.add("at");
    current.focus({ preventScroll: true });
    const reduced = matchMedia("(prefers-reduced-motion: reduce)").matches;
    current.scrollIntoView({ block: "center", behavior: reduced ? "auto" : "smooth" });
    remember(current);
  }

  /* The Back button returns to the last current sentence. */

  function remember(element) {
    const place = element?.closest?.(".hits > li")?.id;
    if (place) history.replaceState({ ...history.state, place }, "");
  }

  document.addEventListener("focusin", (event) => remember(event.target));

  function restore() {
    const place = history.state?.place && document.getElementById(history.state.place);
    if (place && !place.contains(document.activeElement)) {
      current = place.querySelector("article");
      current.focus({ preventScroll: true });
    }
  }

  function step(by) {
    const all = sentences();
    if (!all.length) return;
    const focused = document.activeElement?.closest?.(".hits article, .whole .hit");
    const target = location.hash && document.querySelector(".whole .hit:target");
    const index = all.indexOf(focused || current || target || null);
    go(all[index < 0 ? (by > 0 ? 0 : all.length - 1) : Math.min(Math.max(index + by, 0), all.length - 1)]);
  }

  const currentSentence = () => document.activeElement?.closest?.(".hits article, .whole .hit") || current;

  const actions = {
    "/": () => { box?.focus(); box?.select(); },
    "j": () => step(1),
    "k": () => step(-1),
    "n": () => step(1),
    "p": () => step(-1),
    "w": () => currentSentence()?.querySelector("a.why")?.click(),
    "c": () => currentSentence()?.querySelector(".around summary")?.click(),
    "m": () => document.querySelector(".more a")?.click(),
    "?": () => { if (!keys.open) keys.showModal(); },
  };

  document.addEventListener("keydown", (event) => {
    const typing = event.target.closest("input, select, textarea");
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    if (event.target.closest("dialog:not(.keys)")) return; // it has keys of its own
    if (event.key === "Escape" && typing) {
      event.preventDefault(); // a browser would also empty the box
      typing.blur();
      return;
    }
    if (event.key === "Escape" && document.querySelector(".reader")) { leaveReader(); return; }
    if (event.key === "Escape") closeMenus();
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
  button.textContent = _("Keys");
  button.addEventListener("click", actions["?"]);
  (document.querySelector(".foot") || document.querySelector("main")).append(button);

  /* Waiting */

  const searching = wait.textContent;
  let timer = 0;
  let slowTimer = 0;

  function busy(on) {
    clearTimeout(timer);
    clearTimeout(slowTimer);
    wait.textContent = searching;
    if (on) {
      timer = setTimeout(() => { wait.hidden = false; document.body.classList.add("busy"); }, 250);
      slowTimer = setTimeout(() => { wait.textContent = wait.dataset.slow; }, 4000);
    } else {
      wait.hidden = true;
      document.body.classList.remove("busy");
    }
  }

  document.querySelector("form.search")?.addEventListener("submit", () => busy(true));
  addEventListener("pageshow", () => { busy(false); restore(); });

  /* Works for a link or a form, unless it is at work for that already: a second click is no second request. */

  const atWork = new Set();

  function begin(target, work, fail) {
    if (atWork.has(target)) return;
    atWork.add(target);
    work(target).catch(fail).finally(() => atWork.delete(target));
  }

  async function fetchPage(address) {
    busy(true);
    try {
      const answer = await fetch(address, { headers: { Accept: "text/html" } });
      if (!answer.ok) throw new Error(String(answer.status));
      return new DOMParser().parseFromString(await answer.text(), "text/html");
    } finally {
      busy(false);
    }
  }

  /* More sentences and explanations in place; if that fails, the link is followed */

  async function showMore(link) {
    const page = await fetchPage(link.href);
    const list = document.querySelector(".hits");
    const added = [...page.querySelectorAll(".hits > li[id]")].filter((hit) => !document.getElementById(hit.id));
    const weaker = list.querySelector(".weaker") ? null : page.querySelector(".hits > .weaker");
    const below = weaker?.nextElementSibling.id;
    list.append(...added);
    if (weaker) document.getElementById(below).before(weaker);
    for (const part of [".count", ".foot .fine", ".menu.of-export"]) {
      document.querySelector(part)?.replaceChildren(...page.querySelector(part).childNodes);
    }
    const next = page.querySelector(".more");
    if (next) link.closest(".more").replaceWith(next);
    else link.closest(".more").remove();
    history.replaceState(history.state, "", link.href.split("#")[0]);
    const counts = document.getElementById("k");
    counts.replaceChildren(...page.getElementById("k").children);
    go(added[0]?.querySelector("article"));
  }

  /* The other sentences of an article, below the one that its card shows */
  async function toggleRest(link) {
    const article = link.closest("article");
    const open = article.querySelector(".others");
    link.setAttribute("aria-expanded", String(!open));
    if (open) {
      open.remove();
      return;
    }
    const address = new URL(link.href);
    address.searchParams.set("k", kept.addresses.known);
    const page = await fetchPage(address);
    const shown = new Set([...article.querySelectorAll(".sentence")].map((each) => each.textContent));
    const others = document.createElement("div");
    others.className = "others";
    for (const sentence of page.querySelectorAll(".hits .sentence:has(mark)")) {
      if (!shown.has(sentence.textContent)) others.append(sentence);
    }
    article.querySelector(".text").append(others);
  }

  async function toggleExplanation(link) {
    const article = link.closest("article");
    const open = article.querySelector(":scope > .explanation");
    if (open) {
      open.remove();
      link.setAttribute("aria-expanded", "false");
      return;
    }
    const page = await fetchPage(link.href);
    const part = page.getElementById("explanation");
    part.removeAttribute("id");
    article.append(part);
    link.setAttribute("aria-expanded", "true");
  }

  /* The article beside the list, where the screen is wide enough for both */

  const canRead = () => matchMedia("(min-width: 1100px)").matches && document.querySelector(".hits");

  async function read(link) {
    sessionStorage.removeItem(CLOSED);
    const state = { ...history.state, article: link.href };
    const hit = link.closest(".hits > li");
    const top = hit?.getBoundingClientRect().top;
    const reader = await showArticle(link);
    if (hit) scrollBy(0, hit.getBoundingClientRect().top - top); // the list is narrower now
    if (history.state?.article) history.replaceState(state, "");
    else history.pushState(state, "");
    reader.focus({ preventScroll: true });
  }

  async function showArticle(link) {
    const page = await fetchPage(link.href);
    const opened = link.closest(".hits > li") ?? document.querySelector(".opened");
    closeReader();
    const reader = document.createElement("section");
    reader.className = "reader";
    reader.dataset.address = link.href;
    reader.tabIndex = -1;
    reader.setAttribute("aria-label", _("Article"));
    const head = document.createElement("header");
    head.className = "head";
    const close = document.createElement("button");
    close.type = "button";
    close.className = "close";
    close.textContent = _("Close");
    close.addEventListener("click", leaveReader);
    const heading = page.querySelector(".whole h1");
    const title = document.createElement("h2");
    const whole = document.createElement("a");
    whole.href = link.href;
    whole.append(...heading.childNodes);
    for (const name of ["lang", "dir"]) title.setAttribute(name, heading.getAttribute(name) ?? "");
    title.append(whole);
    heading.remove();
    const here = new URL(link.href).hash;
    head.append(title, close, linksWithin(page), drawStrip(page, here));
    reader.append(head, page.querySelector(".whole"));
    const desk = document.querySelector(".desk");
    desk.append(reader);
    desk.classList.add("reading");
    opened?.classList.add("opened");
    const sentence = reader.querySelector(here || null);
    sentence?.classList.add("at");
    if (sentence) reader.scrollTop += sentence.getBoundingClientRect().top - reader.getBoundingClientRect().top - reader.clientHeight / 3;
    return reader;
  }

  /* A bar for each sentence. Readers of the list of hits above need no second one, so it is for the eye and the mouse. */
  function drawStrip(page, here) {
    const strip = document.createElement("div");
    strip.className = "strip";
    strip.setAttribute("aria-hidden", "true");
    for (const sentence of page.querySelectorAll(".whole p[id^=s], .whole span[id^=s]")) {
      const bar = document.createElement("a");
      bar.href = `#${sentence.id}`;
      bar.tabIndex = -1;
      if (sentence.matches(".hit")) bar.className = "hit";
      if (bar.hash === here) bar.setAttribute("aria-current", "true");
      strip.append(bar);
    }
    return strip;
  }

  /* Where there is room, the first article is open from the beginning; the list keeps the focus. A reader who closes
     it has it closed until an article is opened again. */

  const CLOSED = "esr.closed";

  function openFirst() {
    const first = document.querySelector(".results .hits > li > article a.open, .results .hits > li > h2 a.open");
    if (!first || history.state?.article || sessionStorage.getItem(CLOSED) || !matchMedia("(min-width: 1500px)").matches) return;
    showArticle(first).catch(() => {});
  }

  /* Links to the hits, the names and the similar articles, which stay visible while the article is read */
  function linksWithin(page) {
    const line = document.createElement("p");
    line.className = "to-parts";
    const hits = page.querySelector(".to-hits");
    hits?.firstChild.replaceWith(`${_("Hits")} `);
    line.append(...(hits ? [hits] : []));
    for (const [id, text] of [["names-in-it", _("Names")], ["like-it", _("Similar articles")]]) {
      if (!page.getElementById(id)) continue;
      const link = document.createElement("a");
      link.href = `#${id}`;
      link.textContent = text;
      line.append(link);
    }
    return line;
  }

  function closeReader() {
    const reader = document.querySelector(".reader");
    if (!reader) return;
    const opened = document.querySelector(".opened");
    const top = opened?.getBoundingClientRect().top;
    reader.remove();
    document.querySelector(".desk").classList.remove("reading");
    if (opened) scrollBy(0, opened.getBoundingClientRect().top - top);
    opened?.classList.remove("opened");
    opened?.querySelector("a.open")?.focus({ preventScroll: true });
  }

  /* An open article is a history entry, so that the Back button closes it. Links within it add no entry. */

  function leaveReader() {
    sessionStorage.setItem(CLOSED, "yes");
    if (history.state?.article) history.back();
    else closeReader();
  }

  function followHistory() {
    const address = history.state?.article;
    if (!address) closeReader(); // the way back leads to the list alone
    else if (document.querySelector(".reader")?.dataset.address !== address && canRead()) {
      read(Object.assign(document.createElement("a"), { href: address })).catch(() => {});
    }
  }

  addEventListener("popstate", followHistory);
  addEventListener("pageshow", () => {
    if (history.state?.article) followHistory();
    else if (!document.querySelector(".reader")) openFirst();
  });

  document.addEventListener("click", (event) => {
    const link = event.target.closest(".reader a[href^='#']");
    if (!link) return;
    event.preventDefault();
    const target = document.querySelector(`.reader ${link.hash}`);
    if (target?.matches(".hit")) go(target);
    else target?.scrollIntoView();
  });

  /* One menu is open at a time */

  function closeMenus(but) {
    for (const menu of document.querySelectorAll(".menu[open], .top .controls[open]")) if (menu !== but) menu.open = false;
  }

  document.addEventListener("click", (event) => {
    closeMenus(event.target.closest(".menu, .controls"));
    const text = event.target.closest("article[data-sentence-id] :is(.near, .sentence)");
    if (text && getSelection().isCollapsed && (text.matches(".near") || isClipped(text))) {
      text.closest("article").querySelector(".around summary")?.click();
    }
  });

  function isClipped(sentence) {
    const end = sentence.querySelector(".end");
    return end && !end.checkVisibility();
  }

  document.addEventListener("click", (event) => {
    if (event.defaultPrevented || event.button || event.ctrlKey || event.metaKey || event.shiftKey) return;
    const link = event.target.closest("a");
    const act = link?.matches(".more a") ? showMore : link?.matches(".hits .why") ? toggleExplanation
      : link?.matches(".hits a.rest") ? toggleRest
      : link?.matches(".hits a.open, .reader a.open") && canRead() ? read : null;
    if (!act) return;
    event.preventDefault();
    begin(link, act, () => { location.href = link.href; });
  });

  /* Copies a quotation, or selects it if the browser forbids copying */

  function addCopyButton(details) {
    const quotation = details.querySelector("[data-copy]");
    const links = details.querySelector(".links");
    if (!quotation || links.querySelector("button")) return;
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = _("Copy");
    button.addEventListener("click", async () => {
      try {
        await navigator.clipboard.writeText(quotation.textContent);
        button.textContent = _("Copied");
      } catch {
        getSelection().selectAllChildren(quotation);
        button.textContent = _("Selected: copy it with Ctrl+C");
      }
    });
    links.prepend(button);
  }

  document.addEventListener("toggle", (event) => {
    if (event.target.matches?.(".take[open]")) addCopyButton(event.target);
  }, true);

  /* Many queries: fetching the file lets the page show progress and keep the queries */

  async function fetchAnswers(form, data) {
    busy(true);
    try {
      const headers = { Accept: "text/html, */*" }; // problems as a page, not as JSON
      const answer = await fetch(form.action, { method: "POST", body: data, headers });
      const name = /filename="([^"]+)"/.exec(answer.headers.get("Content-Disposition") || "")?.[1];
      if (name) {
        const link = document.createElement("a");
        link.href = URL.createObjectURL(await answer.blob());
        link.download = name;
        link.click();
        setTimeout(() => URL.revokeObjectURL(link.href), 60000);
      }
      const page = name ? null : new DOMParser().parseFromString(await answer.text(), "text/html");
      const problem = page?.querySelector(".problem");
      const again = page?.querySelector("form.many");
      if (page && !problem && !again) throw new Error(String(answer.status));
      const main = document.querySelector("main");
      main.querySelectorAll("[role=alert]").forEach((alert) => alert.remove());
      if (again) main.replaceChildren(...page.querySelector("main").childNodes);
      else if (problem) main.prepend(problem);
      main.querySelector("[role=alert]")?.scrollIntoView({ block: "center" });
    } finally {
      busy(false);
    }
  }

  document.addEventListener("submit", (event) => {
    const form = event.target;
    if (!form.matches("form.many")) return;
    event.preventDefault();
    const data = new FormData(form, event.submitter);
    begin(form, () => fetchAnswers(form, data), () => form.submit());
  });

  /* The controls of the selected model */

  for (const part of document.querySelectorAll("[data-ranking]")) {
    const prefix = part.dataset.ranking;
    const model = document.getElementById(`${prefix}model`);
    const context = document.getElementById(`${prefix}context`);
    const update = () => {
      part.querySelector(`input[name="${prefix}form"]`).value = model.value;
      for (const fields of part.querySelectorAll("[data-model]")) {
        fields.hidden = fields.disabled = fields.dataset.model !== model.value;
      }
      const allowed = model.selectedOptions[0].dataset.contexts.split(" ");
      for (const option of context.options) option.disabled = option.value !== "" && !allowed.includes(option.value);
      if (context.selectedOptions[0]?.disabled) context.value = "";
      context.options[0].textContent = _("the model's default (%(name)s)", { name: allowed[0] || _("none: the sentence alone") });
    };
    model.addEventListener("change", update);
    addEventListener("pageshow", update);
  }

  /* Completion in the fields of sources and names; if it fails, they are plain fields */

  async function listValues(field) {
    const form = field.form;
    const index = form.elements.index?.value;
    const prefix = field.dataset.type ? `${field.dataset.type}:${field.value}` : field.value;
    const query = new URLSearchParams({ field: field.dataset.field ?? field.name, prefix, ...(index && { index }) });
    const answer = await fetch(`${form.dataset.values}?${query}`);
    if (!answer.ok) return;
    const { values } = await answer.json();
    field.list.replaceChildren(...values.map(({ value, type, count }) => {
      const option = document.createElement("option");
      option.value = value;
      option.label = [value, type, formatNumber(count)].filter(Boolean).join(" · ");
      return option;
    }));
  }

  for (const field of document.querySelectorAll("input[list]")) {
    if (!field.form?.dataset.values) continue; // the fields beside the list are of the form, but not in it
    let pause = 0;
    field.addEventListener("input", () => {
      clearTimeout(pause);
      pause = setTimeout(() => listValues(field).catch(() => {}), 200);
    });
  }

  document.querySelector(".whole .hit:target")?.classList.add("at");
})();
