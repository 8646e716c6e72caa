import { CommandError } from '../command.js';
import { readCsv } from './csv.js';
import { MAX_LINE_BYTES, type Line } from './lines.js';
import type { RejectedLine, SourceLine } from './source-line.js';

async function read(text: string, faults: Record<number, string> = {}): Promise<(SourceLine | RejectedLine)[]> {
  async function* lines(): AsyncGenerator<Line> {
    for (const [index, line] of text.split('\n').entries()) {
      const fault = faults[index + 1];
      yield Promise.resolve({ number: index + 1, text: line, ...(fault === undefined ? {} : { fault }) });
    }
  }
  const found: (SourceLine | RejectedLine)[] = [];
  for await (const line of readCsv(lines())) found.push(line);
  return found;
}

const names = async (text: string) =>
  (await read(text)).map((line) =>
    'reasons' in line ? `rejected ${String(line.number)}` : (line.value as { name?: string }).name,
  );

describe('readCsv', () => {
  it('readCsv reads quoted cells with commas, quotes and line breaks', async () => {
    expect(await read('name,description\n"Bike, red","24"" wheels\nand a bell"\nBoat,wooden')).toEqual([
      {
        number: 2,
        text: '"Bike, red","24"" wheels\nand a bell"',
        value: { name: 'Bike, red', description: '24" wheels\nand a bell' },
      },
      { number: 4, text: 'Boat,wooden', value: { name: 'Boat', description: 'wooden' } },
    ]);
  });

  it('readCsv gives each field its type', async () => {
    const header = 'name,price,stock,isVisible,images,deliveryOptions,photos,sizeTitle,categoryId';
    const row = 'Bike,12.50,2,false,https://a/1.jpg | https://a/2.jpg,"[""a|b"",""c""]","[{""w"":1}]",42,7';
    const [line] = await read(`${header}\n${row}`);
    expect(line).toMatchObject({
      value: {
        name: 'Bike',
        price: 12.5,
        stock: 2,
        isVisible: false,
        images: ['https://a/1.jpg', 'https://a/2.jpg'],
        deliveryOptions: ['a|b', 'c'],
        photos: [{ w: 1 }],
        sizeTitle: '42',
        categoryId: '7',
      },
    });
  });

  it('readCsv reads an empty cell as an absent field, or as null if create requires the field', async () => {
    const [line] = await read('name,brandId,conditionId,isFeatured,status,viewCount\nBike,,,,,');
    expect((line as SourceLine).value).toEqual({ name: 'Bike', brandId: null, conditionId: null, isFeatured: null });
  });

  it('readCsv leaves a cell that does not fit its field to validation', async () => {
    const [line] = await read('price,stock,isVisible,photos\n"12,50",0x10,yes,[');
    expect((line as SourceLine).value).toEqual({ price: '12,50', stock: '0x10', isVisible: 'yes', photos: '[' });
  });

  it('readCsv reads a quote inside an unquoted cell as text', async () => {
    expect(await names('name,b\n32" TV,x\nA 6" by 9" box,32"\ntwo,x')).toEqual(['32" TV', 'A 6" by 9" box', 'two']);
  });

  it.each([
    ['a quoted cell after spaces', 'name,b\none, "x"\ntwo,x', ['rejected 2', 'two']],
    ['quotes in a quoted cell that are not doubled', 'name,b\n"32" TV",x\ntwo,x', ['rejected 2', 'two']],
    ['an inner quote and a cell left open', 'name,b\n32" TV,"x\ntwo,x"\nthree,x', ['rejected 2', 'two', 'three']],
    ['a carriage return', 'name,b\none,x\rmore\ntwo,x', ['rejected 2', 'two']],
    ['text after a quoted cell', 'name,b\n"one" x,y\ntwo,x', ['rejected 2', 'two']],
    ['a cell too many', 'name,b\none,x,y\ntwo,x', ['rejected 2', 'two']],
    ['a cell too few', 'name,b\none\ntwo,x', ['rejected 2', 'two']],
    ['a quote never closed', 'name,b\n"one,x\ntwo,x\nthree,x', ['rejected 2', 'two', 'three']],
    ['a quote never closed, and a good one later', 'name,b\n"one,x\ntwo,x\n"three",x', ['rejected 2', 'two', 'three']],
    [
      'a quote never closed, and an inner one later',
      'name,b\n"one,x\ntwo,x\n32" TV,x',
      ['rejected 2', 'two', '32" TV'],
    ],
    [
      'a quote closed in another cell',
      'name,b\n"one,x\ntwo,x\n32"\nthree,x',
      ['rejected 2', 'two', 'rejected 4', 'three'],
    ],
  ])('readCsv rejects a line with %s, and continues after it', async (_, text, expected) => {
    expect(await names(text)).toEqual(expected);
  });

  it('readCsv looks for a closing quote only within the maximum length of a line', async () => {
    const many = Array.from({ length: 20 }, () => `${'x'.repeat(MAX_LINE_BYTES / 10)},y`).join('\n');
    const found = await names(`name,b\n"one,x\n${many}`);
    expect(found).toHaveLength(21);
    expect(found.filter((name) => name?.startsWith('rejected'))).toEqual(['rejected 2']);
  });

  it('readCsv includes line breaks in the length of a record', async () => {
    const lines = '\n123456789'.repeat(Math.ceil(MAX_LINE_BYTES / 10));
    const found = await names(`name,b\n"one${lines}",x\ntwo,x`);
    expect([found[0], found.at(-1)]).toEqual(['rejected 2', 'two']);
  }, 30_000);

  it('readCsv reports where the quoted cell of a rejected line ends, and why', async () => {
    const reasonsIn = async (text: string) =>
      (await read(text)).flatMap((line) => ('reasons' in line ? line.reasons.map(({ message }) => message) : []));
    expect(await reasonsIn('name,b\n"one,x\ntwo,x\n"three",x')).toEqual([
      'Quoted cell continues to line 4: Text after a closing quote: double the quotes in a quoted cell',
    ]);
    expect(await reasonsIn('name,b\n"one,x')).toEqual(['Quoted cell is never closed']);
    expect(await reasonsIn('name,b\none')).toEqual(['Record has 1 cells, and the first line 2 names']);
  });

  // Takes minutes if lines are read again and again.
  it.each(['a,b', 'a","b', '","', '"', '"a'])(
    'readCsv reads each line at most twice after an inner quote and an unclosed one: %s',
    async (line) => {
      const lines = `${line}\n`.repeat(MAX_LINE_BYTES / 8 / (line.length + 1));
      const found = await names(`name,b\n32" TV,x\n${lines}"one,x\n${lines}last,x`);
      expect([found[0], found.at(-1)]).toEqual(['32" TV', 'last']);
    },
    15_000,
  );

  it('readCsv rejects a line of as many cells as its maximum length allows, and continues after it', async () => {
    const cells = ','.repeat(MAX_LINE_BYTES - 1);
    expect(await names(`name,b\n${cells}\ntwo,x`)).toEqual(['rejected 2', 'two']);
  });

  it('readCsv reads a field that has the name of an Object member as text', async () => {
    const [line] = await read('name,constructor,toString,hasOwnProperty,__proto__\none,a,b,c,d');
    expect({ ...((line as SourceLine).value as object) }).toEqual({
      name: 'one',
      constructor: 'a',
      toString: 'b',
      hasOwnProperty: 'c',
    });
  });

  it('readCsv accepts lines that end with CR CR LF, and skips empty lines', async () => {
    expect(await names('name,b\r\n\r\n\n"one",x\r\ntwo,x\r')).toEqual(['one', 'two']);
  });

  it('readCsv rejects lines that could not be read', async () => {
    const found = await read('name\none\nlong\ntwo', { 3: 'too long' });
    expect(found[1]).toEqual({ number: 3, text: 'long', reasons: [{ path: [], message: 'too long' }] });
    expect(found).toHaveLength(3);
  });

  it.each([
    ['names a field twice', 'name,name\na,b', {}],
    ['is not CSV', '"name" x,b\na,b', {}],
    ['leaves a quoted cell open', '"name,b\na,b', {}],
    ['ends with a carriage return alone', 'name,b\ra,b', {}],
    ['could not be read', 'name,b\na,b', { 1: 'not UTF-8' }],
  ])('readCsv rejects a first line that %s', async (_, text, faults) => {
    await expect(read(text, faults)).rejects.toThrow(CommandError);
  });
});
