import { MAX_JSON } from '@app/contracts';
import type { Line } from './lines.js';
import { readNdjson } from './ndjson.js';
import type { RejectedLine, SourceLine } from './source-line.js';

async function read(...texts: string[]): Promise<(SourceLine | RejectedLine)[]> {
  async function* lines(): AsyncGenerator<Line> {
    for (const [index, text] of texts.entries()) yield Promise.resolve({ number: index + 1, text });
  }
  const found: (SourceLine | RejectedLine)[] = [];
  for await (const line of readNdjson(lines())) found.push(line);
  return found;
}

describe('readNdjson', () => {
  it('readNdjson rejects a line that contains more than the body of a create may, without parsing it', async () => {
    const [tooMuch, most] = [MAX_JSON.structures + 1, MAX_JSON.structures].map((count) => '['.repeat(count));
    const [first, second] = await read(tooMuch ?? '', `${most ?? ''}${']'.repeat(MAX_JSON.structures)}`);
    expect(first).toMatchObject({
      number: 1,
      reasons: [{ message: expect.stringContaining('holds too much') as string }],
    });
    expect(second).toHaveProperty('value');
  });
});
