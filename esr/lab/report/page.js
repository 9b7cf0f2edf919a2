/* What the page does beyond its HTML: a click on a column's head sorts the rows, and a box finds topics. */
for (const head of document.querySelectorAll("thead th")) {
  head.tabIndex = 0;
  head.title = "Sort by this column";
  const sort = () => {
    const up = head.getAttribute("aria-sort") === "descending";
    for (const other of head.parentElement.children) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", up ? "ascending" : "descending");
    const key = (row) => row.children[head.cellIndex]?.textContent.trim().replace("−", "-").replace("<", "") ?? "";
    const order = (a, b) => {
      const [x, y] = [key(a), key(b)], [n, m] = [parseFloat(x), parseFloat(y)];
      if (isNaN(n) !== isNaN(m)) return isNaN(n) ? 1 : -1;
      const differ = isNaN(n) ? y.localeCompare(x) : m - n;
      return up ? -differ : differ;
    };
    for (const body of head.closest("table").tBodies) {
      const rows = [...body.rows].filter((row) => row.children.length > 1);
      body.append(...rows.sort(order));
    }
  };
  head.onclick = sort;
  head.onkeydown = (event) => { if (event.key === "Enter") sort(); };
}
const topics = document.querySelector(".moves");
if (topics) {
  const box = document.createElement("input");
  box.type = "search";
  box.placeholder = "Find a topic or sentence";
  box.setAttribute("aria-label", box.placeholder);
  box.oninput = () => {
    for (const topic of topics.querySelectorAll("details"))
      topic.hidden = !topic.textContent.toLowerCase().includes(box.value.toLowerCase());
  };
  topics.querySelector("p").after(box);
}
