/** One thing to do, and where its outcome goes. */
interface Entry<Input, Output> {
  input: Input;
  resolve: (output: Output) => void;
  reject: (error: unknown) => void;
}

/**
 * Does many things that come one by one together: whatever has come while a batch was under way is
 * the next batch. The first one never waits, so a single one is as quick as without batching.
 */
export class MicroBatcher<Input, Output> {
  private waiting: Entry<Input, Output>[] = [];
  private underWay = 0;

  /**
   * @param run does a batch; its outputs stand in the order of its inputs, an Error rejects that one,
   * and what it throws rejects all
   * @param maxSize of a batch
   * @param maxUnderWay batches at a time
   */
  constructor(
    private readonly run: (inputs: Input[]) => Promise<(Output | Error)[]>,
    private readonly maxSize: number,
    private readonly maxUnderWay: number,
  ) {}

  /** Settles with the outcome of this input. */
  add(input: Input): Promise<Output> {
    return new Promise((resolve, reject) => {
      this.waiting.push({ input, resolve, reject });
      // Not at once: more of the same moment may follow.
      if (this.waiting.length === 1)
        setImmediate(() => {
          this.flush();
        });
    });
  }

  private flush(): void {
    while (this.waiting.length > 0 && this.underWay < this.maxUnderWay) {
      void this.runBatch(this.waiting.splice(0, this.maxSize));
    }
  }

  private async runBatch(batch: Entry<Input, Output>[]): Promise<void> {
    this.underWay++;
    try {
      const outputs = await this.run(batch.map(({ input }) => input));
      batch.forEach(({ resolve, reject }, index) => {
        const output = outputs[index] ?? new Error('a batch has answered too few outcomes');
        if (output instanceof Error) reject(output);
        else resolve(output);
      });
    } catch (error) {
      for (const { reject } of batch) reject(error);
    } finally {
      this.underWay--;
      this.flush();
    }
  }
}
