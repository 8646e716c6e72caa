import { MAX_LINE_BYTES, readLines, type Line } from './lines.js';

async function linesOf(...chunks: (string | Buffer)[]): Promise<Line[]> {
  async function* input(): AsyncGenerator<Buffer> {
    for (const chunk of chunks) yield Promise.resolve(Buffer.from(chunk as string));
  }
  const lines: Line[] = [];
  for await (const line of readLines(input())) lines.push(line);
  return lines;
}

const texts = (lines: Line[]) => lines.map(({ text }) => text);

describe('readLines', () => {
  it('readLines numbers lines, however the stream is split into chunks', async () => {
    const all = Buffer.from('one\nzwölf\r\n\n🙂');
    const bytes = [...all].map((byte) => Buffer.from([byte]));
    const expected = [
      { number: 1, text: 'one' },
      { number: 2, text: 'zwölf' },
      { number: 3, text: '' },
      { number: 4, text: '🙂' },
    ];
    expect(await linesOf(all)).toEqual(expected);
    expect(await linesOf(...bytes)).toEqual(expected);
  });

  it('readLines skips a byte order mark, and an empty line at the end', async () => {
    expect(texts(await linesOf('\uFEFFone\n'))).toEqual(['one']);
    expect(await linesOf('')).toEqual([]);
  });

  it('readLines reads a line of the maximum length, and keeps only the beginning of a longer one', async () => {
    const longest = 'x'.repeat(MAX_LINE_BYTES);
    const [first, second, third] = await linesOf(`${longest}\n${longest}`, `${longest}y\nnext`);
    expect(first).toEqual({ number: 1, text: longest });
    expect(second).toEqual({ number: 2, text: 'x'.repeat(1000), fault: expect.stringContaining('too long') as string });
    expect(third).toEqual({ number: 3, text: 'next' });
  });

  it('readLines marks a line that is not UTF-8', async () => {
    const [first, second] = await linesOf(Buffer.from([0x61, 0xff, 0x0a]), 'fine');
    expect(first?.fault).toContain('UTF-8');
    expect(second).toEqual({ number: 2, text: 'fine' });
  });
});
