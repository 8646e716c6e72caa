import { mongo } from 'mongoose';

const { ObjectId } = mongo;

/** The BSON types that have a JSON form (https://bsonspec.org/spec.html). */
const DOUBLE = 0x01;
const STRING = 0x02;
const DOCUMENT = 0x03;
const ARRAY = 0x04;
const OBJECT_ID = 0x07;
const BOOLEAN = 0x08;
const DATE = 0x09;
const NULL = 0x0a;
const INT32 = 0x10;
const INT64 = 0x12;

const FIELD = { configurable: true, enumerable: true, writable: true };

/** The most values of types that JSON does not have. Some are slow to convert. */
export const MAX_CONVERTED = 10_000;

/** A document has a value of another type, a number that JavaScript cannot hold exactly, or too many dates and ids. */
export class UnexpectedBson extends Error {}

/**
 * Reads a document. Returns the same values as the driver, at a fraction of its cost, but strings are binary: they have
 * one character for each byte of their UTF-8, and are written as they were read.
 */
export class BsonReader {
  private readonly text: string;
  private at = 0;
  private converted = 0;

  constructor(private readonly source: Buffer) {
    this.text = source.toString('latin1');
  }

  /**
   * Returns the values of the fields with these names, in their order; undefined for each that is missing. It is fast if
   * the document has these fields in this order, because comparing a name is faster than looking for its end.
   *
   * @throws {@link UnexpectedBson}
   */
  values(names: readonly string[]): unknown[] {
    const values = names.map((): unknown => undefined);
    const end = this.end();
    for (let next = 0; this.at < end; next++) {
      const type = this.source[this.at++];
      const name = this.name(names[next]);
      if (name !== names[next]) next = names.indexOf(name);
      const value = this.value(type);
      if (next >= 0) values[next] = value;
    }
    return values;
  }

  private document(): Record<string, unknown> {
    const document: Record<string, unknown> = {};
    const end = this.end();
    while (this.at < end) {
      const type = this.source[this.at++];
      const name = this.name();
      const value = this.value(type);
      // An assignment to `__proto__` would not add a field.
      if (name === '__proto__') Object.defineProperty(document, name, { ...FIELD, value });
      else document[name] = value;
    }
    this.at++;
    return document;
  }

  /** The elements of an array have their indexes as names. */
  private array(): unknown[] {
    const end = this.end();
    const array = [];
    while (this.at < end) {
      const type = this.source[this.at++];
      this.name();
      array.push(this.value(type));
    }
    this.at++;
    return array;
  }

  /** Reads the length of a document or array, and returns where the zero at its end is. */
  private end(): number {
    const end = this.at + this.source.readInt32LE(this.at) - 1;
    this.at += 4;
    return end;
  }

  private name(expected = ''): string {
    const { at, text } = this;
    const isExpected = text.charCodeAt(at + expected.length) === 0 && text.startsWith(expected, at);
    const name = isExpected ? expected : text.slice(at, text.indexOf('\0', at));
    this.at += name.length + 1;
    return name;
  }

  private countConverted(): void {
    this.converted += 1;
    if (this.converted > MAX_CONVERTED) throw new UnexpectedBson();
  }

  private value(type: number | undefined): unknown {
    const { at, source } = this;
    switch (type) {
      case STRING:
        this.at += 4 + source.readInt32LE(at);
        return this.text.slice(at + 4, this.at - 1);
      case INT32:
        this.at += 4;
        return source.readInt32LE(at);
      case DOUBLE:
        this.at += 8;
        return source.readDoubleLE(at);
      case INT64:
        this.at += 8;
        return safeInteger(source.readBigInt64LE(at));
      case BOOLEAN:
        this.at += 1;
        return source[at] !== 0;
      case NULL:
        return null;
      case DATE:
        this.countConverted();
        this.at += 8;
        return new Date(source.readInt32LE(at + 4) * 2 ** 32 + source.readUInt32LE(at));
      case OBJECT_ID:
        this.countConverted();
        this.at += 12;
        return new ObjectId(source.subarray(at, at + 12));
      case DOCUMENT:
        return this.document();
      case ARRAY:
        return this.array();
      default:
        throw new UnexpectedBson();
    }
  }
}

function safeInteger(integer: bigint): number {
  const value = Number(integer);
  if (!Number.isSafeInteger(value)) throw new UnexpectedBson();
  return value;
}
