import { queryTerms, searchTerms } from './search-terms.js';

interface Listing {
  name: string;
  description?: string;
  brandTitle?: string | null;
}

function finds(search: string, { name, description = 'no words here', brandTitle = null }: Listing): boolean {
  const terms = new Set(searchTerms({ name, description, brandTitle }));
  const wanted = queryTerms(search);
  return wanted.length > 0 && wanted.every((term) => terms.has(term));
}

describe('search', () => {
  it.each([
    ['creme', 'Crème brûlée dish'],
    ['CRÈME', 'creme pot'],
    ['strasse', 'Karte Straße'],
    ['Straße', 'STRASSE'],
    ['STRAẞE', 'strasse'],
    ['istanbul', 'İstanbul kilim'],
    ['isik', 'Işık lamba'],
    ['елка', 'Новогодняя ёлка'],
    ['oslo', 'Øslo genser'],
    ['lodz', 'Łódź plakat'],
    ['ποδηλατο', 'Ποδήλατο πόλης'],
    ['ΠΟΔΗΛΑΤΟΣ', 'ποδηλάτος'],
    ['احمر', 'كرسي أحمر'],
    ['שולחן', 'שֻׁלְחָן שולחן'],
    ['किताब', 'पुरानी किताब'],
    ['자전거', '접이식 자전거'],
    ['자전', '접이식 자전거'],
    ['自行车', '捷安特山地自行车'],
    ['山地', '捷安特山地自行车'],
    ['车', '捷安特山地自行车'],
    ['ジャケット', 'ヴィンテージ革ジャケット'],
    ['จักรยาน', 'จักรยานพับได้'],
    ['🚲', 'Bike 🚲 red'],
    ['❤️', 'Love ❤ pin'],
    ['👩‍💻', 'Sticker 👩‍💻 set'],
    ['🇫🇷', 'Flag 🇫🇷 scarf'],
    ['𐌰𐌱', 'Gothic 𐌰𐌱𐌲'],
    ['iphone 12', 'Apple iPhone 12 mini'],
    ['ab-123', 'Drill AB-123'],
    ['123', 'Drill AB-123'],
    ["l'oreal", "L'Oréal set"],
    ['oreal', "L'Oréal set"],
    ['ﬁne', 'Fine chair'],
    ['ｉｐｈｏｎｅ', 'iPhone'],
  ])('%s finds %s', (search, name) => {
    expect(finds(search, { name })).toBe(true);
  });

  it.each([
    ['か', 'が'],
    ['bike', 'Biking gloves'],
    ['12', 'iPhone 13'],
    ['地车', '捷安特山地自行车'],
    ['कत', 'पुरानी किताब'],
  ])('%s does not find %s', (search, name) => {
    expect(finds(search, { name })).toBe(false);
  });

  it('wants every word, in any order', () => {
    const name = 'Red leather sofa';
    expect(finds('sofa red', { name })).toBe(true);
    expect(finds('sofa blue', { name })).toBe(false);
  });

  it('finds words of name and brand by beginnings of 2 to 12 characters, and whole', () => {
    const listing = { name: 'Kaffeevollautomatenreiniger', brandTitle: 'Siemens' };
    expect(finds('ka', listing)).toBe(true);
    expect(finds('kaffeevollau', listing)).toBe(true);
    expect(finds('kaffeevollautomatenreiniger', listing)).toBe(true);
    expect(finds('sieme', listing)).toBe(true);
    expect(finds('k', listing)).toBe(false);
    expect(finds('affee', listing)).toBe(false);
  });

  it('finds words of the description whole only', () => {
    const listing = { name: 'Chair', description: 'Solid walnut, sold because of a move' };
    expect(finds('walnut', listing)).toBe(true);
    expect(finds('waln', listing)).toBe(false);
  });

  it('keeps the first 200 distinct words of a description', () => {
    const counted = Array.from({ length: 201 }, (_, index) => `w${String(index)} w0`).join(' ');
    expect(finds('w199', { name: 'Chair', description: counted })).toBe(true);
    expect(finds('w200', { name: 'Chair', description: counted })).toBe(false);
  });

  it('keeps at least 200 words of a description without spaces', () => {
    const description = Array.from({ length: 400 }, (_, index) => String.fromCodePoint(0x4e00 + index)).join('');
    expect(finds(description.slice(398, 400), { name: 'Chair', description })).toBe(true);
  });

  it('counts the first 10 words of the first 200 characters', () => {
    const tenWords = 'a b c d e f g h i j';
    expect(queryTerms(`${tenWords} k`)).toEqual(tenWords.split(' '));
    expect(queryTerms(`${'🚲'.repeat(1)}${' '.repeat(199)}late`)).toEqual(['🚲']);
    expect(queryTerms(`${' '.repeat(198)}cut off`)).toEqual(['cu']);
  });

  it('takes nothing that is a word or emoji for no search', () => {
    for (const search of ['', '   ', '.*', '$(){}[]^\\', '\u0000\n\t', '-', '\u0301', '\u200d']) {
      expect(queryTerms(search)).toEqual([]);
    }
  });

  it.each(['จักรยานพับได้', 'ລົດຖີບ', '自行车', 'ж', '🚲', '\u0301'])('takes no time for a megabyte of %s', (word) => {
    const text = word.repeat(Math.ceil(1_000_000 / Buffer.byteLength(word)));
    const start = performance.now();
    searchTerms({ name: text, description: text });
    // Seconds of a worker's event loop would be minutes at worst: this is about the order of magnitude.
    expect(performance.now() - start).toBeLessThan(5000);
  });

  it('bounds what a hostile listing can index', () => {
    const manyWords = Array.from({ length: 50_000 }, (_, index) => `word${String(index)}`).join(' ');
    expect(searchTerms({ name: manyWords, description: manyWords }).length).toBeLessThan(3000);
    const [longest = ''] = searchTerms({ name: 'x'.repeat(100_000), description: 'no words' });
    expect(longest).toHaveLength(200);
  });
});
