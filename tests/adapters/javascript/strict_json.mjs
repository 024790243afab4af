// A strict reader of JSON texts (RFC 8259). What the language's own parser would lose is kept or refused: names that
// occur twice are remembered, numbers stay exact, and a byte order mark, octets that are not UTF-8, lone surrogates
// and very deep nesting are faults.

import { Decimal } from "./decimal.mjs";

export const DEEPEST = 200;

export class SyntaxFault extends Error {}

// The members of an object in the order of the text, under any name, "__proto__" and "1" included. Of a name that
// occurs more than once the first value counts, and the name is in `repeated`.
export class JsonObject {
  constructor() {
    this.members = new Map();
    this.repeated = new Set();
  }

  add(name, value) {
    if (this.members.has(name)) this.repeated.add(name);
    else this.members.set(name, value);
  }

  has(name) {
    return this.members.has(name);
  }

  // The value, or undefined where there is no such member; null is a value.
  get(name) {
    return this.members.get(name);
  }

  names() {
    return [...this.members.keys()];
  }
}

const SPACE = new Set([" ", "\t", "\n", "\r"]);
const NUMBER = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;
const ESCAPES = new Map([
  ['"', '"'],
  ["\\", "\\"],
  ["/", "/"],
  ["b", "\b"],
  ["f", "\f"],
  ["n", "\n"],
  ["r", "\r"],
  ["t", "\t"],
]);

// The value of a JSON text given as octets or as a string. Values are null, booleans, strings, Decimal, arrays and
// JsonObject. Throws SyntaxFault.
export function parse(source) {
  return new Reader(typeof source === "string" ? source : decoded(source)).document();
}

function decoded(octets) {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(octets);
  } catch {
    throw new SyntaxFault("the text is not UTF-8");
  }
}

class Reader {
  constructor(text) {
    this.text = text;
    this.at = 0;
    this.depth = 0;
  }

  document() {
    if (this.text.startsWith("\uFEFF")) this.fail("a byte order mark");
    const value = this.value();
    this.space();
    if (this.at < this.text.length) this.fail("text after the value");
    return value;
  }

  fail(what) {
    throw new SyntaxFault(`${what} at character ${this.at}`);
  }

  space() {
    while (SPACE.has(this.text[this.at])) this.at += 1;
  }

  value() {
    this.space();
    switch (this.text[this.at]) {
      case "{":
        return this.nested(() => this.object());
      case "[":
        return this.nested(() => this.array());
      case '"':
        return this.string();
      case "t":
        return this.word("true", true);
      case "f":
        return this.word("false", false);
      case "n":
        return this.word("null", null);
      default:
        return this.number();
    }
  }

  nested(read) {
    this.depth += 1;
    if (this.depth > DEEPEST) this.fail("nesting too deep");
    this.at += 1;
    const value = read();
    this.depth -= 1;
    return value;
  }

  word(spelt, value) {
    if (!this.text.startsWith(spelt, this.at)) this.fail("no JSON value");
    this.at += spelt.length;
    return value;
  }

  number() {
    NUMBER.lastIndex = this.at;
    const match = NUMBER.exec(this.text);
    if (match === null) this.fail("no JSON value");
    let value;
    try {
      value = Decimal.parse(match[0]);
    } catch (error) {
      this.fail(error.message);
    }
    this.at += match[0].length;
    return value;
  }

  object() {
    const object = new JsonObject();
    this.items("}", () => {
      this.space();
      if (this.text[this.at] !== '"') this.fail("no member name");
      const name = this.string();
      this.space();
      if (this.text[this.at] !== ":") this.fail("no colon");
      this.at += 1;
      object.add(name, this.value());
    });
    return object;
  }

  array() {
    const array = [];
    this.items("]", () => array.push(this.value()));
    return array;
  }

  // What stands between the brackets, the closing one included.
  items(end, readOne) {
    this.space();
    if (this.text[this.at] === end) {
      this.at += 1;
      return;
    }
    for (;;) {
      readOne();
      this.space();
      const next = this.text[this.at];
      if (next !== "," && next !== end) this.fail("neither a comma nor the end");
      this.at += 1;
      if (next === end) return;
    }
  }

  string() {
    this.at += 1;
    let value = "";
    for (;;) {
      const character = this.text[this.at];
      if (character === undefined) this.fail("a string without an end");
      if (character < " ") this.fail("a control character in a string");
      if (character === '"') break;
      value += character === "\\" ? this.escape() : character;
      if (character !== "\\") this.at += 1;
    }
    if (!value.isWellFormed()) this.fail("a lone surrogate in a string");
    this.at += 1;
    return value;
  }

  escape() {
    const letter = this.text[this.at + 1];
    if (letter === "u") {
      const digits = this.text.slice(this.at + 2, this.at + 6);
      if (!/^[0-9a-fA-F]{4}$/.test(digits)) this.fail("an escape without four digits");
      this.at += 6;
      return String.fromCharCode(parseInt(digits, 16));
    }
    if (!ESCAPES.has(letter)) this.fail("an unknown escape");
    this.at += 2;
    return ESCAPES.get(letter);
  }
}
