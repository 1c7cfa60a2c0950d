// The calculator of the roof: a form over Lanecrypt's formula, which is Rust, compiled to WebAssembly.
//
// `calculator-data.js`, which the build of the book writes, has the module. Pages that are opened as files may fetch none,
// so it is a script. Every number that is shown is the module's own text.
"use strict";

(() => {
  const form = document.getElementById("calculator");
  const { elements } = form;

  /** The module. Its calls read and write one buffer (`book/calculator/src/ffi.rs`). */
  class Formula {
    static async load(base64) {
      const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
      const { instance } = await WebAssembly.instantiate(bytes);
      return new Formula(instance.exports);
    }

    constructor(exports) {
      this.exports = exports;
      Object.assign(this, this.json(exports.known()));
    }

    buffer(length) {
      const at = this.exports.buffer(length);
      return new Uint8Array(this.exports.memory.buffer, at, length);
    }

    json(length) {
      return JSON.parse(new TextDecoder().decode(this.buffer(length)));
    }

    /** Predictions, or an object that says what is wrong. */
    predict(counts, card) {
      const text = new TextEncoder().encode(`${counts}\n${card}`);
      this.buffer(text.length).set(text);
      return this.json(this.exports.predict());
    }
  }

  const element = (name, text, parent) => {
    const made = document.createElement(name);
    made.textContent = text;
    parent.append(made);
    return made;
  };

  /** Fields for numbers, each with its name as a label and what it is as a title. */
  function fields(parent, names) {
    for (const [name, what] of names) {
      const label = element("label", `${name} `, parent);
      label.title = what;
      const input = element("input", "", label);
      Object.assign(input, { type: "number", step: "any", name });
    }
  }

  /** `name=number` for each field that is filled. */
  const text = (names) =>
    names
      .map(([name]) => [name, elements[name].value.trim()])
      .filter(([, value]) => value !== "")
      .map(([name, value]) => `${name}=${value}`)
      .join(" ");

  function show(formula) {
    const answer = formula.predict(text(formula.counts), text(formula.rates));
    const table = form.querySelector("table");
    table.replaceChildren();
    elements.verdict.value = answer.error ?? "";
    form.dataset.state = answer.error ? "wrong" : "ready";
    if (answer.error) return;
    const cards = [...new Set(answer.map(({ card }) => card))];
    const head = element("tr", "", table);
    const titles = cards.map((card, i) => formula.cards[i] ?? card);
    for (const title of ["family", ...formula.pipes, ...titles]) element("th", title, head);
    for (const family of new Set(answer.map((row) => row.family))) {
      const own = answer.filter((row) => row.family === family);
      const row = element("tr", "", table);
      element("td", family, row);
      own[0].shown.forEach((lanes, i) => {
        const cell = element("td", "", row);
        element(own[0].fullest === formula.pipes[i] ? "b" : "span", lanes, cell);
      });
      for (const { cell } of own) element("td", cell, row);
    }
  }

  function choose(formula) {
    const [, counts] = formula.ciphers[elements.cipher.value];
    const given = new Map(counts.split(/\s+/).map((count) => count.split("=")));
    for (const [name] of formula.counts) elements[name].value = given.get(name) ?? "";
    show(formula);
  }

  async function start() {
    if (typeof CALCULATOR_MODULE === "undefined") {
      form.dataset.state = "none";
      elements.verdict.value = "This book was built without the module of this page; `cargo xtask roof` has the same.";
      return;
    }
    const formula = await Formula.load(CALCULATOR_MODULE);
    formula.ciphers.forEach(([name], i) => (element("option", name, elements.cipher).value = i));
    fields(form.querySelector("[data-of=counts]"), formula.counts);
    fields(form.querySelector("[data-of=rates]"), formula.rates);
    elements.cipher.addEventListener("change", () => choose(formula));
    form.addEventListener("input", ({ target }) => target !== elements.cipher && show(formula));
    form.addEventListener("submit", (event) => event.preventDefault());
    choose(formula);
  }

  start();
})();
