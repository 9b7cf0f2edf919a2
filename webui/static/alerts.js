/* The form of alerts takes the time zone of the browser, and shows only the fields of the time that is chosen. */
(() => {
  const form = document.querySelector("form.alert");
  if (!form) return;
  const { zone, when, day, time } = form.elements;
  const own = Intl.DateTimeFormat().resolvedOptions().timeZone;
  if (own && zone.value === zone.defaultValue && zone.value === "UTC") zone.value = own;
  const show = () => {
    const isAt = ["daily", "weekly"].includes(when.value);
    for (const [field, isNeeded] of [[day, when.value === "weekly"], [time, isAt], [zone, when.value !== "at once"]]) {
      field.closest("label").hidden = !isNeeded;
    }
  };
  when.addEventListener("change", show);
  show();
})();
