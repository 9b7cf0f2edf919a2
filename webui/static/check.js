"use strict";
/* A file that is dropped on the form is checked as a draft. Without this script, the field of the form takes it. */

(() => {
  const form = document.querySelector(".ask-check");
  const field = form?.querySelector("[type=file]");
  if (!field) return;
  const hasFile = (event) => [...event.dataTransfer.types].includes("Files");
  for (const name of ["dragenter", "dragover"])
    form.addEventListener(name, (event) => {
      if (!hasFile(event)) return;
      event.preventDefault();
      form.classList.add("is-over");
    });
  form.addEventListener("dragleave", (event) => {
    if (!form.contains(event.relatedTarget)) form.classList.remove("is-over");
  });
  form.addEventListener("drop", (event) => {
    form.classList.remove("is-over");
    if (!hasFile(event)) return;
    event.preventDefault();
    field.files = event.dataTransfer.files;
    form.submit();
  });
})();
