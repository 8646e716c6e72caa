const ENVELOPE = ['{"json":', '}'].map((part) => Buffer.from(part)) as [Buffer, Buffer];

/** A response body, serialized. */
export class Json {
  // Not a private property of TypeScript, which a spread in an interceptor would copy.
  readonly #bytes: Buffer;
  #enveloped: Buffer | undefined;

  /** @param bytes JSON in UTF-8 */
  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  static of(body: unknown): Json {
    return new Json(Buffer.from(JSON.stringify(body)));
  }

  /** Returns the value, so that an interceptor may put it into another object. */
  toJSON(): unknown {
    return JSON.parse(this.#bytes.toString());
  }

  /** Returns the bytes to send, in the envelope of oRPC clients if `enveloped`. They are shared by all its clients. */
  toBytes(enveloped: boolean): Buffer {
    if (!enveloped) return this.#bytes;
    this.#enveloped ??= Buffer.concat([ENVELOPE[0], this.#bytes, ENVELOPE[1]]);
    return this.#enveloped;
  }
}
