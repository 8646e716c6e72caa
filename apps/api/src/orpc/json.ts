const ENVELOPE = ['{"json":', '}'].map((part) => Buffer.from(part)) as [Buffer, Buffer];

/** A body in the form in which it is sent. */
export class Json {
  /** @param bytes JSON in UTF-8 */
  constructor(private readonly bytes: Buffer) {}

  static of(body: unknown): Json {
    return new Json(Buffer.from(JSON.stringify(body)));
  }

  /** The body, or the body in the envelope of oRPC clients. */
  toBytes(enveloped: boolean): Buffer {
    return enveloped ? Buffer.concat([ENVELOPE[0], this.bytes, ENVELOPE[1]]) : this.bytes;
  }
}
