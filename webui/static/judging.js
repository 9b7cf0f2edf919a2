"use strict";
/* Judging: shows the sentences of a pool one by one, without their runs and ranks. They come from the two lists of
   a comparison, or from a file of esr pool. Judgements are kept by topic, and exported as qrels. */

(() => {
  const section = document.querySelector(".judging");
  if (!kept.works || !section) return;
  const GRADES = [_("Not relevant"), _("Relevant"), _("Highly relevant")];
  const sides = document.querySelector(".sides");
  let items = []; // topic, query, sentence_id, text, previous, next, title, source, date
  let at = 0;

  /* Judgements: a list of topics, each with its query and the grades of sentences */

  const judgements = () => kept.read("judgements");
  const gradesOf = (topic) => judgements().find((each) => each.topic === topic)?.grades ?? {};
  const gradeOf = (item) => gradesOf(item.topic)[item.sentence_id];

  function store({ topic, query, sentence_id: id }, grade) {
    return kept.change("judgements", (all) => {
      const own = all.find((each) => each.topic === topic) ?? { topic, query: query ?? "", grades: {} };
      const changed = { ...own, grades: { ...own.grades, [id]: grade } };
      return [...all.filter((each) => each.topic !== topic), changed];
    });
  }

  /* The display: one sentence, the grades, and the progress of the judge */

  const progress = kept.element("p", "count");
  progress.setAttribute("role", "status");
  const heading = kept.element("h2");
  const article = kept.element("article");
  article.tabIndex = -1;
  const grades = kept.element("p", "tools grades");
  grades.append(...GRADES.map((text, grade) => {
    const button = kept.button("", () => judge(grade));
    button.append(kept.element("kbd", "", String(grade)), ` ${text}`);
    return button;
  }), kept.button(_("Back"), () => move(-1)), kept.button(_("Next"), () => move(1)));
  const outcome = kept.element("p", "outcome");
  outcome.setAttribute("role", "status");
  const files = kept.element("p", "tools");
  files.append(kept.button(_("Export qrels"), exportQrels), kept.button(_("Export topics"), exportTopics), kept.button(_("Forget all judgements"), forget));
  if (sides) files.append(kept.link(_("Judge a pool instead"), section.dataset.pool));
  section.append(progress, heading, article, grades, outcome, files);

  function show(focuses = true) {
    const item = items[at];
    const done = items.filter((each) => gradeOf(each) !== undefined).length;
    progress.textContent = _("%(done)s of %(all)s judged, this is number %(number)s", { done, all: items.length, number: at + 1 });
    heading.textContent = item.query || _("Topic %(name)s", { name: item.topic });
    const about = [item.source, formatDay(item.date?.replace(/T.*/, "") ?? ""), item.title].filter(Boolean).join(" · ");
    article.replaceChildren(...[["from", about], ["near", item.previous], ["sentence", item.text], ["near", item.next]]
      .filter(([, text]) => text).map(([name, text]) => {
        const line = kept.element("p", name, text);
        Object.assign(line, { dir: "auto", lang: name === "from" ? "" : item.language ?? "" });
        return line;
      }));
    [...grades.children].slice(0, GRADES.length).forEach((button, grade) => {
      button.setAttribute("aria-pressed", String(gradeOf(item) === grade));
    });
    outcome.textContent = done === items.length ? `${_("All are judged.")} ${sides ? describeSides() : ""}` : "";
    section.hidden = false;
    if (focuses) article.focus();
  }

  function judge(grade) {
    if (!store(items[at], grade)) return;
    const left = items.findIndex((each, n) => n > at && gradeOf(each) === undefined);
    const first = items.findIndex((each) => gradeOf(each) === undefined);
    at = left >= 0 ? left : first >= 0 ? first : at;
    show();
  }

  function move(by) {
    at = Math.min(Math.max(at + by, 0), items.length - 1);
    show();
  }

  function start(pool) {
    items = pool;
    at = Math.max(0, items.findIndex((each) => gradeOf(each) === undefined));
    show();
  }

  /* Takes precedence over the other keys of the page, some of which are the same */
  document.addEventListener("keydown", (event) => {
    if (section.hidden || event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, select, textarea")) return;
    const act = { j: () => move(1), ArrowRight: () => move(1), k: () => move(-1), ArrowLeft: () => move(-1) }[event.key]
      ?? (GRADES[event.key] && (() => judge(Number(event.key))));
    if (!act || !items.length) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    act();
  }, true);

  /* Files */

  const lines = (work) => judgements().flatMap(work).map((line) => `${line}\n`).join("");

  function exportQrels() {
    kept.download("judgements.qrels", lines(({ topic, grades: own }) => Object.entries(own).map(([id, grade]) => `${topic} 0 ${id} ${grade}`)));
  }

  function exportTopics() {
    kept.download("topics.tsv", lines(({ topic, query }) => query ? [`${topic}\t${query.replace(/\s+/g, " ")}`] : []));
  }

  function forget() {
    if (!confirm(_("Forget all judgements of all topics in this browser?"))) return;
    kept.change("judgements", () => []);
    if (items.length) show();
  }

  /* The lists of a comparison */

  const idsOf = (side) => [...side.querySelectorAll("article[data-sentence-id]")].map((each) => each.dataset.sentenceId);

  function describeSides() {
    const own = gradesOf(items[0].topic);
    return [_("Left"), _("Right")].map((name, n) => {
      const ids = idsOf(sides.children[n]);
      return _("%(side)s: %(number)s of %(all)s relevant.", { side: name, number: ids.filter((id) => own[id] > 0).length, all: ids.length });
    }).join(" ");
  }

  /* A hash of a text (FNV-1a), for an order that does not reveal ranks */
  function hash(text) {
    let number = 0x811c9dc5;
    for (let n = 0; n < text.length; n++) number = Math.imul(number ^ text.charCodeAt(n), 0x01000193);
    return number >>> 0;
  }

  function topicOf(query) {
    const known = judgements();
    const own = known.find((each) => each.query === query);
    const name = query.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, "-").replace(/^-|-$/g, "").slice(0, 40) || "topic";
    let topic = name;
    for (let n = 2; known.some((each) => each.topic === topic); n++) topic = `${name}-${n}`;
    return own?.topic ?? topic;
  }

  function readSides() {
    const query = section.dataset.query;
    const topic = topicOf(query);
    const pool = new Map();
    for (const hit of sides.querySelectorAll("article[data-sentence-id]")) {
      const text = (name) => hit.querySelector(name)?.textContent;
      const sentence = hit.querySelector(".sentence");
      const near = (sibling) => sibling?.matches(".near") ? sibling.textContent : undefined;
      pool.set(hit.dataset.sentenceId, {
        topic, query, sentence_id: hit.dataset.sentenceId, text: sentence.textContent, language: sentence.lang,
        previous: near(sentence.previousElementSibling), next: near(sentence.nextElementSibling),
        title: text(".open"), source: text(".source"), date: text("time"),
      });
    }
    return [...pool.values()].sort((a, b) => hash(query + a.sentence_id) - hash(query + b.sentence_id));
  }

  if (sides) {
    const toggle = kept.button(_("Judge"), () => {
      sides.hidden = section.hidden;
      toggle.textContent = sides.hidden ? _("Show the rankings") : _("Judge");
      if (sides.hidden) start(readSides());
      else section.hidden = true;
    }, "begin");
    const toolbar = document.querySelector(".toolbar");
    if (sides.querySelector("article")) toolbar.lastElementChild.before(toggle);
    return;
  }

  /* The file of a pool */

  function parse(text) {
    const pool = text.split("\n").filter((line) => line.trim()).map((line) => JSON.parse(line));
    const isText = (value) => typeof value === "string" && value;
    const isItem = (each) => isText(each.topic) && isText(each.sentence_id) && isText(each.text);
    if (!pool.length || !pool.every(isItem)) throw new SyntaxError();
    return pool;
  }

  const chooser = document.querySelector(".tools.pool");
  chooser.hidden = false;
  chooser.querySelector("input").addEventListener("change", async (event) => {
    try {
      start(parse(await event.target.files[0].text()));
    } catch {
      kept.tell(_("This is no pool: a line of JSON for each sentence, with topic, sentence_id and text, as esr pool writes it."));
    }
  });
})();
