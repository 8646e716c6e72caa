const ENVELOPE = ['{"json":', '}'].map((part) => Buffer.from(part)) as [Buffer, Buffer];

/** A body in the form in which it is sent; one that many are answered with is serialized once. */
export class Json {
  private readonly bytes: Buffer;

  constructor(body: unknown) {
    this.bytes = Buffer.from(JSON.stringify(body));
  }

  /** The body, or the body in the envelope of oRPC clients. */
  toBytes(enveloped: boolean): Buffer {
    return enveloped ? Buffer.concat([ENVELOPE[0], this.bytes, ENVELOPE[1]]) : this.bytes;
  }
}
