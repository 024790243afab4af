// One thing wrong with a document: the rule that it breaks, where (a JSON pointer), and what.

export class Fault {
  constructor(rule, pointer, message) {
    this.rule = rule;
    this.pointer = pointer;
    this.message = message;
    Object.freeze(this);
  }
}

export function pointerTo(pointer, step) {
  return `${pointer}/${String(step).replaceAll("~", "~0").replaceAll("/", "~1")}`;
}
