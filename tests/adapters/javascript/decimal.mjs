// A JSON number, exactly as written: coefficient times a power of ten. There is no upper bound on integers in the
// contract, and instants have fractions that are not rounded, so that a double would not do.

const SYNTAX = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;

// Beyond this many digits on either side of the point a number is called out of range by the parser.
export const LARGEST_EXPONENT = 100_000n;

export class Decimal {
  // The value is coefficient * 10 ** exponent. The coefficient has no trailing zero, and zero has the exponent 0:
  // so a number is an integer exactly if the exponent is not negative.
  constructor(coefficient, exponent) {
    const zeros = coefficient === 0n ? 0 : /0*$/.exec(String(coefficient))[0].length;
    this.coefficient = coefficient / 10n ** BigInt(zeros);
    this.exponent = coefficient === 0n ? 0n : exponent + BigInt(zeros);
    Object.freeze(this);
  }

  // The text is that of a JSON number. Throws RangeError where its size would make arithmetic expensive.
  static parse(text) {
    const [, sign, whole, fraction = "", power = "0"] = SYNTAX.exec(text);
    const exponent = BigInt(power) - BigInt(fraction.length);
    const coefficient = BigInt(whole + fraction) * (sign === "-" ? -1n : 1n);
    const magnitude = exponent < 0n ? -exponent : exponent;
    if (coefficient !== 0n && magnitude > LARGEST_EXPONENT) throw new RangeError("number out of range");
    return new Decimal(coefficient, exponent);
  }

  static of(integer) {
    return new Decimal(BigInt(integer), 0n);
  }

  isInteger() {
    return this.exponent >= 0n;
  }

  isNegative() {
    return this.coefficient < 0n;
  }

  isZero() {
    return this.coefficient === 0n;
  }

  minus(other) {
    const [mine, theirs, exponent] = aligned(this, other);
    return new Decimal(mine - theirs, exponent);
  }

  equals(other) {
    return this.coefficient === other.coefficient && this.exponent === other.exponent;
  }

  lessThan(other) {
    const [mine, theirs] = aligned(this, other);
    return mine < theirs;
  }

  // The number in decimal digits without an exponent.
  toString() {
    const sign = this.isNegative() ? "-" : "";
    const digits = String(this.isNegative() ? -this.coefficient : this.coefficient);
    if (this.isInteger()) return sign + digits + "0".repeat(Number(this.exponent));
    const places = Number(-this.exponent);
    const padded = digits.padStart(places + 1, "0");
    return `${sign}${padded.slice(0, -places)}.${padded.slice(-places)}`;
  }
}

function aligned(a, b) {
  const exponent = a.exponent < b.exponent ? a.exponent : b.exponent;
  return [scaled(a, exponent), scaled(b, exponent), exponent];
}

function scaled(number, exponent) {
  return number.coefficient * 10n ** (number.exponent - exponent);
}
