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
  it('reads quoted cells with commas, quotes and line breaks', async () => {
    expect(await read('name,description\n"Bike, red","24"" wheels\nand a bell"\nBoat,wooden')).toEqual([
      {
        number: 2,
        text: '"Bike, red","24"" wheels\nand a bell"',
        value: { name: 'Bike, red', description: '24" wheels\nand a bell' },
      },
      { number: 4, text: 'Boat,wooden', value: { name: 'Boat', description: 'wooden' } },
    ]);
  });

  it('gives each field its type', async () => {
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

  it('reads an empty cell as an absent field, or as null where create demands one', async () => {
    const [line] = await read('name,brandId,conditionId,isFeatured,status,viewCount\nBike,,,,,');
    expect((line as SourceLine).value).toEqual({ name: 'Bike', brandId: null, conditionId: null, isFeatured: null });
  });

  it('leaves to validation what does not fit its field', async () => {
    const [line] = await read('price,stock,isVisible,photos\n"12,50",0x10,yes,[');
    expect((line as SourceLine).value).toEqual({ price: '12,50', stock: '0x10', isVisible: 'yes', photos: '[' });
  });

  it.each([
    ['a quote in the middle', 'name,b\none,x\ntw"o,x\nthree,x\nfour,x', ['one', 'rejected 3', 'three', 'four']],
    ['text behind a quoted cell', 'name,b\n"one" x,y\ntwo,x', ['rejected 2', 'two']],
    ['a cell too many', 'name,b\none,x,y\ntwo,x', ['rejected 2', 'two']],
    ['a cell too few', 'name,b\none\ntwo,x', ['rejected 2', 'two']],
    ['a quote never closed', 'name,b\n"one,x\ntwo,x\nthree,x', ['rejected 2', 'two', 'three']],
    ['a quote never closed, and a good one later', 'name,b\n"one,x\ntwo,x\n"three",x', ['rejected 2', 'two', 'three']],
  ])('rejects a line with %s, and no other', async (_, text, expected) => {
    expect(await names(text)).toEqual(expected);
  });

  it('waits for the end of a quote no longer than a line may be', async () => {
    const many = Array.from({ length: 20 }, () => `${'x'.repeat(MAX_LINE_BYTES / 10)},y`).join('\n');
    const found = await names(`name,b\n"one,x\n${many}`);
    expect(found).toHaveLength(21);
    expect(found.filter((name) => name?.startsWith('rejected'))).toEqual(['rejected 2']);
  });

  it('rejects lines that could not be read', async () => {
    const found = await read('name\none\nlong\ntwo', { 3: 'too long' });
    expect(found[1]).toEqual({ number: 3, text: 'long', reasons: [{ path: [], message: 'too long' }] });
    expect(found).toHaveLength(3);
  });

  it('refuses a first line that names a field twice', async () => {
    await expect(read('name,name\na,b')).rejects.toThrow(CommandError);
  });
});
