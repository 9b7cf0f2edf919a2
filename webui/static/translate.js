"use strict";
/* Messages in the language of the page, in which numbers among the values are written too. The messages of a
   language other than English come before this script, in one of their own. */

const { _, ngettext, formatNumber } = (() => {
  const messages = globalThis.esrMessages ?? {};
  const language = document.documentElement.lang;
  const rules = new Intl.PluralRules(language);
  const western = `${language}-u-nu-latn`;

  const formatNumber = (number, options) => number.toLocaleString(western, options);

  function fill(text, values) {
    return text.replace(/%\((\w+)\)s/g, (_, name) =>
      typeof values[name] === "number" ? formatNumber(values[name]) : values[name]);
  }

  return {
    formatNumber,
    _: (message, values = {}) => fill(messages[message] ?? message, values),
    ngettext(one, many, num, values = {}) {
      const forms = messages[one] ?? { one, other: many };
      return fill(forms[rules.select(num)] ?? forms.other, { num, ...values });
    },
  };
})();
