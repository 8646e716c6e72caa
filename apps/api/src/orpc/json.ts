const ENVELOPE = ['{"json":', '}'].map((part) => Buffer.from(part)) as [Buffer, Buffer];

/** A response body, serialized. */
export class Json {
  /** @param bytes JSON in UTF-8 */
  constructor(private readonly bytes: Buffer) {}

  static of(body: unknown): Json {
    return new Json(Buffer.from(JSON.stringify(body)));
  }

  /** Returns the bytes to send, in the envelope of oRPC clients if `enveloped`. */
  toBytes(enveloped: boolean): Buffer {
    return enveloped ? Buffer.concat([ENVELOPE[0], this.bytes, ENVELOPE[1]]) : this.bytes;
  }
}
