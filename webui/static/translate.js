"use strict";
/* Messages in the language of the page, in which numbers among the values are written too. The messages of a
   language other than English come before this script, in one of their own. */

const { _, ngettext, formatNumber, formatDay } = (() => {
  const messages = globalThis.esrMessages ?? {};
  const language = document.documentElement.lang;
  const rules = new Intl.PluralRules(language);
  const western = `${language}-u-nu-latn`;

  const formatNumber = (number, options) => number.toLocaleString(western, options);
  const days = new Intl.DateTimeFormat(language === "en" ? "en-GB" : western, { dateStyle: "long", timeZone: "UTC" });
  // A date such as 3 March 2017, as pages write it; anything but a full date unchanged.
  const formatDay = (text) => /^\d{4}-\d\d-\d\d$/.test(text) && Date.parse(text) ? days.format(new Date(text)) : text;

  function fill(text, values) {
    return text.replace(/%\((\w+)\)s/g, (_, name) =>
      typeof values[name] === "number" ? formatNumber(values[name]) : values[name]);
  }

  return {
    formatNumber,
    formatDay,
    _: (message, values = {}) => fill(messages[message] ?? message, values),
    ngettext(one, many, num, values = {}) {
      const forms = messages[one] ?? { one, other: many };
      return fill(forms[rules.select(num)] ?? forms.other, { num, ...values });
    },
  };
})();
