"use strict";
/* Lists in the browser's storage, and nowhere else. Each change reads the list again, since other tabs may have
   changed it. Without storage, the scripts that use this one do nothing. */

const kept = (() => {
  const addresses = document.currentScript.dataset;

  const works = (() => {
    try {
      localStorage.setItem("esr.test", "");
      localStorage.removeItem("esr.test");
      return true;
    } catch {
      return false;
    }
  })();

  function read(name) {
    try {
      const list = JSON.parse(localStorage.getItem(`esr.${name}`));
      return Array.isArray(list) ? list : [];
    } catch {
      return [];
    }
  }

  /* Changes a list by a function that returns the new one. Shows a message and returns false if storage is full. */
  function change(name, work) {
    try {
      localStorage.setItem(`esr.${name}`, JSON.stringify(work(read(name))));
      return true;
    } catch {
      tell(_("This browser has no room for more: save to a file, and remove some."));
      return false;
    }
  }

  const onChange = (name, work) => addEventListener("storage", (event) => { if (event.key === `esr.${name}`) work(); });

  function element(tag, className, text = "") {
    const made = document.createElement(tag);
    if (className) made.className = className;
    made.textContent = text;
    return made;
  }

  function button(text, work, className) {
    const made = element("button", className, text);
    made.type = "button";
    made.addEventListener("click", work);
    return made;
  }

  function link(text, address) {
    const made = element("a", "", text);
    made.href = address;
    return made;
  }

  /* Shows a line at the bottom of the window for some seconds. */

  const line = element("p", "told");
  line.setAttribute("role", "status");
  let timer = 0;

  function tell(text, ...more) {
    const place = document.querySelector("dialog[open]") ?? document.querySelector("main"); // the rest is inert
    if (line.parentElement !== place) place.append(line);
    line.replaceChildren(text, ...more);
    clearTimeout(timer);
    timer = setTimeout(() => line.replaceChildren(), 6000);
  }

  function download(name, content, type = "text/plain") {
    const made = link("", URL.createObjectURL(new Blob([content], { type })));
    made.download = name;
    made.click();
    setTimeout(() => URL.revokeObjectURL(made.href), 60000);
  }

  async function copy(text) {
    try {
      await navigator.clipboard.writeText(text);
      tell(_("Copied."));
    } catch {
      download("copied.txt", text);
    }
  }

  async function fetchText(address, options) {
    const answer = await fetch(address, options);
    if (answer.ok) return answer;
    const problem = await answer.json().catch(() => null);
    throw new Error(problem?.error?.message ?? _("The server answered %(status)s.", { status: `${answer.status}` }));
  }

  /* The work, of which a call is ignored while it is going on: a second click is no second request. */
  function once(work) {
    let isGoingOn = false;
    return async (...given) => {
      if (isGoingOn) return;
      isGoingOn = true;
      await work(...given).catch((error) => tell(error.message));
      isGoingOn = false;
    };
  }

  if (!works && document.body.matches(".saved, .judge")) {
    document.querySelector("main").append(element("p", "notice", _("This browser keeps nothing: allow this site to store data.")));
  }

  return { addresses, works, read, change, onChange, element, button, link, tell, download, copy, fetchText, once };
})();
