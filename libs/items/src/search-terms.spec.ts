import { queryTerms, searchTerms } from './search-terms.js';

interface Listing {
  name: string;
  description?: string;
  brandTitle?: string | null;
}

function finds(search: string, listing: Listing): boolean {
  return notFound([search], listing).length === 0;
}

/** Returns the searches that do not find a listing. */
function notFound(searches: string[], { name, description = 'no words here', brandTitle = null }: Listing): string[] {
  const terms = new Set(searchTerms({ name, description, brandTitle }));
  return searches.filter((search) => {
    const wanted = queryTerms(search);
    return wanted.length === 0 || !wanted.every((term) => terms.has(term));
  });
}

/** Returns a word that starts with a different pair of letters for each index below 676. */
function distinctWord(index: number): string {
  return String.fromCodePoint(0x61 + (index % 26), 0x61 + Math.floor(index / 26)) + 'x'.repeat(20);
}

/** Returns the CPU time of this process in ms: unlike the wall clock, a busy machine does not change it much. */
function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
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
    ['كرسي', 'كرسى مكتب'],
    ['ساعه', 'ساعة يد'],
    ['کتاب', 'كتاب'],
    ['ايفون 13', 'آيفون ١٣'],
    ['آیفون ۱۳', 'ايفون 13'],
    ['שולחן', 'שֻׁלְחָן שולחן'],
    ['किताब', 'पुरानी किताब'],
    ['फोन', 'फ़ोन'],
    ["комп'ютер", 'Компʼютер'],
    ['компʼютер', 'Комп’ютер'],
    ['자전거', '접이식 자전거'],
    ['자전', '접이식 자전거'],
    ['自行车', '捷安特山地自行车'],
    ['山地', '捷安特山地自行车'],
    ['车', '捷安特山地自行车'],
    ['ジャケット', 'ヴィンテージ革ジャケット'],
    ['จักรยาน', 'จักรยานพับได้'],
    ['ขาย', 'ขายลำโพงมือสอง'],
    ['ลำโพง', 'ขายลำโพงมือสอง'],
    ['น้ำอุ่น', 'เครื่องทำน้ำอุ่น'],
    ['พกพา', 'ลำโพงบลูทูธพกพา'],
    ['สีดำ', 'ขายเสื้อยืดสีดำมือสอง'],
    ['เสื้อสีดำ', 'สีดำ เสื้อยืด'],
    ['ກະເປົາ', 'ກະເປົາໜັງ'],
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
    ['loreal', "L'Oréal set"],
    ['levis', "Levi's 501"],
    ['womens', 'Women’s jacket'],
    ['90s', "90's poster"],
    ['компютер', 'Компʼютер'],
    ['גינס', 'ג׳ינס כחול'],
    ['ﬁne', 'Fine chair'],
    ['Gore-Tex™ jacket', 'Gore-Tex jacket'],
    ['Bluetooth® speaker', 'Bluetooth speaker'],
    ['ｉｐｈｏｎｅ', 'iPhone'],
    ['ශ්\u200dර', 'ශ්\u200dරී ලංකා'],
    ['ශ්රී', 'ශ්\u200dරී ලංකා'],
    ['می\u200cخ', 'می\u200cخواهم'],
    ['میخواهم', 'می\u200cخواهم'],
    ['می\u200cخواهم', 'میخواهم'],
    ['র\u200d্য', 'র\u200d্যাম'],
    ['র্যাম', 'র\u200d্যাম'],
    ['👩🏽\u200d💻', 'Sticker 👩🏽\u200d💻'],
    ['❤️\u200d🔥', 'Pin ❤\u200d🔥'],
  ])('a search for %s finds %s', (search, name) => {
    expect(finds(search, { name })).toBe(true);
  });

  it.each([
    ['か', 'が'],
    ['bike', 'Biking gloves'],
    ['12', 'iPhone 13'],
    ['地车', '捷安特山地自行车'],
    ['कत', 'पुरानी किताब'],
    ['💻', 'Sticker 👩\u200d💻'],
    ['👩', 'Sticker 👩🏽\u200d💻'],
  ])('a search for %s does not find %s', (search, name) => {
    expect(finds(search, { name })).toBe(false);
  });

  it('search requires every word, in any order', () => {
    const name = 'Red leather sofa';
    expect(finds('sofa red', { name })).toBe(true);
    expect(finds('sofa blue', { name })).toBe(false);
  });

  it('search finds words of the name and brand by every prefix of at least two characters', () => {
    const word = 'Kaffeevollautomatenreinigungstabletten';
    const listing = { name: word, brandTitle: 'Siemens' };
    for (let length = 2; length <= word.length; length++) expect(finds(word.slice(0, length), listing)).toBe(true);
    expect(finds('fahrradanhäng', { name: 'Thule Fahrradanhänger' })).toBe(true);
    expect(finds('𐌰𐌱', { name: 'Gothic 𐌰𐌱𐌲' })).toBe(true);
    expect(finds('sieme', listing)).toBe(true);
    expect(finds('k', listing)).toBe(false);
    expect(finds('affee', listing)).toBe(false);
  });

  it.each([
    ['iphone13', 'Apple iPhone 13'],
    ['iphone 13', 'Apple iPhone13'],
    ['iphone1', 'Apple iPhone 13'],
    ['iphone1', 'Apple iPhone13'],
    ['iphone-13', 'Apple iPhone13'],
    ['iphone13pro', 'iPhone 13 Pro Max'],
    ['iphone13p', 'iPhone 13 Pro Max'],
    ['13 pro max', 'iPhone13Pro Max'],
    ['13pro max', 'iPhone 13 Pro Max'],
    ['iphone13 pro', 'iPhone 13Pro'],
    ['a7 iii', 'Sony A7III'],
    ['a7iii', 'Sony A7 III'],
    ['a7i', 'Sony A7 III'],
    ['4k', '4K TV'],
    ['4 k', '4K TV'],
    ['4k', 'TV 4 K'],
    ['usb-c', 'USB-C cable'],
    ['3.5', 'Jack 3.5 mm'],
    ['3.5mm', 'Jack 3.5 mm'],
    ['wh1000xm4', 'Sony WH-1000XM4'],
    ['wh-1000xm4', 'Sony WH1000XM4'],
    ['wh 1000 xm 4', 'Sony WH-1000XM4'],
    ['wh-1000', 'Sony WH1000XM4'],
    ['256gb', 'SSD 256\u00a0GB'],
    ['90x200', 'Bed 90 × 200'],
    ['90 x 200', 'Bed 90×200'],
    ['90×200cm', 'Bed 90x200 cm'],
    ['120x60x75', 'Shelf 120 x 60 x 75 cm'],
    ['120 x 60 x 75 cm', 'Shelf 120×60×75cm'],
    ['120x60x75cm', 'Shelf 120 x 60 x 75 cm'],
    ['60x75', 'Shelf 120x60x75cm'],
    ['75 cm', 'Shelf 120x60x75cm'],
    ['42½', 'Shoes 42 ½'],
    ['42 1/2', 'Shoes 42½'],
    ['42', 'Shoes 42½'],
    ['ポケモン151', 'ポケモン151'],
    ['자전거2', '자전거 2'],
    ['किताब2', 'किताब 2'],
  ])('search matches letters and digits both joined and separate: %s finds %s', (search, name) => {
    expect(finds(search, { name })).toBe(true);
    const isWhole = !['iphone1', 'iphone13p', 'a7i'].includes(search);
    expect(finds(search, { name: 'Chair', description: `It is a ${name}.` })).toBe(isWhole);
  });

  it.each([
    ['iphone13', 'iPhone 12, 13 months old'],
    ['iphone13', 'iPhone 12 13'],
    ['iphone13', 'iPhone, 13 cases'],
    ['iphone13', 'iPhone 📱 13'],
    ['iphone13', 'iPhone case 13'],
    ['usbc', 'USB-C cable'],
    ['35', 'Jack 3.5 mm'],
    ['hone13', 'iPhone 13'],
    ['iphone3', 'iPhone 13'],
    ['13iphone', 'iPhone 13'],
    ['iphone13pro', 'iPhone 13 or 12 Pro'],
    ['511', "5'11 tall"],
    ['redbike', "'red' 'bike'"],
  ])('search joins only adjacent letters and digits: %s does not find %s', (search, name) => {
    expect(finds(search, { name })).toBe(false);
  });

  it('search does not join the last word of the name with the brand', () => {
    expect(finds('42nike', { name: 'Jacket 42', brandTitle: 'Nike' })).toBe(false);
  });

  it('search finds a serial number as a whole and by every prefix', () => {
    const serial = 'w3f9a0c1de77';
    for (let length = 2; length <= serial.length; length++) {
      expect(finds(serial.slice(0, length), { name: `Drill ${serial} new` })).toBe(true);
    }
    expect(queryTerms(serial)).toEqual([serial]);
    expect(finds(serial, { name: 'Drill', description: `Number ${serial}.` })).toBe(true);
  });

  it('search finds words of the description only as a whole', () => {
    const listing = { name: 'Chair', description: 'Solid walnut, sold because of a move' };
    expect(finds('walnut', listing)).toBe(true);
    expect(finds('waln', listing)).toBe(false);
  });

  it('search finds words of the description that have a trademark sign', () => {
    const listing = { name: 'Shoes', description: 'Nike™ Free® 5.0, worn twice' };
    expect(finds('nike free', listing)).toBe(true);
    expect(finds('free5', listing)).toBe(true);
  });

  it('search indexes the first 200 distinct words of a description', () => {
    const counted = Array.from({ length: 201 }, (_, index) => `w${String(index)} w0`).join(' ');
    expect(finds('w199', { name: 'Chair', description: counted })).toBe(true);
    expect(finds('w200', { name: 'Chair', description: counted })).toBe(false);
  });

  it.each([
    ['6C2103261B', (n: number) => `6C${String(2103261 + n)}B`],
    ['06A559596H', (n: number) => `${String(10 + n)}A${String(559596 + n)}H`],
    ['a10ab1000a', (n: number) => `a${String(10 + n)}ab${String(1000 + n)}a`],
    ['L146QH2760R', (n: number) => `L${String(146 + n)}QH${String(2760 + n)}R`],
  ])('search finds each of the first 200 words of letters and digits, such as %s', (_example, numbered) => {
    const listed = Array.from({ length: 200 }, (_, index) => numbered(index));
    const text = listed.join(' ');
    expect(notFound(listed, { name: 'Part', description: text })).toEqual([]);
    expect(notFound(listed, { name: text })).toEqual([]);
  });

  it('search finds a Thai compound after many words of letters and digits', () => {
    const serials = Array.from({ length: 190 }, (_, index) => `L${String(146 + index)}QH${String(2760 + index)}R`);
    expect(finds('สีดำ', { name: 'Shirt', description: `${serials.join(' ')} เสื้อยืดสีดำ` })).toBe(true);
  });

  it('search indexes at least 200 words of a description without spaces', () => {
    const description = Array.from({ length: 400 }, (_, index) => String.fromCodePoint(0x4e00 + index)).join('');
    expect(finds(description.slice(398, 400), { name: 'Chair', description })).toBe(true);
  });

  it('search uses the first 10 words of the first 200 characters of a query', () => {
    const tenWords = 'a b c d e f g h i j';
    expect(queryTerms(`${tenWords} k`)).toEqual(tenWords.split(' '));
    expect(queryTerms(`${'🚲'.repeat(1)}${' '.repeat(199)}late`)).toEqual(['🚲']);
    expect(queryTerms(`${' '.repeat(198)}cut off`)).toEqual(['cu']);
  });

  it('a query without words or emoji has no terms', () => {
    for (const search of ['', '   ', '.*', '$(){}[]^\\', '\u0000\n\t', '-', '\u0301', '\u200d']) {
      expect(queryTerms(search)).toEqual([]);
    }
  });

  it.each(['จักรยานพับได้', 'ລົດຖີບ', '自行车', 'ж', '🚲', '\u0301', '\ufdfa'])(
    'search indexes a megabyte of %s within seconds',
    (word) => {
      const text = word.repeat(Math.ceil(1_000_000 / Buffer.byteLength(word)));
      const start = cpuMs();
      searchTerms({ name: text, description: text });
      // Checks the order of magnitude: quadratic time would block a worker's event loop for minutes.
      expect(cpuMs() - start).toBeLessThan(5000);
    },
  );

  it('search limits the terms of a hostile listing', () => {
    const manyWords = Array.from({ length: 50_000 }, (_, index) => `word${String(index)}`).join(' ');
    expect(searchTerms({ name: manyWords, description: 'no words' }).length).toBeLessThan(2200);
    expect(searchTerms({ name: manyWords, description: manyWords }).length).toBeLessThan(3000);
    const [longest = ''] = searchTerms({ name: 'x'.repeat(100_000), description: 'no words' });
    expect(longest).toHaveLength(200);
    const longWords = Array.from({ length: 200 }, (_, index) => `${String(index)}${'x'.repeat(300)}`).join(' ');
    const terms = searchTerms({ name: longWords, description: 'no words' });
    expect(terms.length).toBeLessThan(2200);
    expect(terms.join('').length).toBeLessThan(200_000);
    const sixRuns = (first: string): string =>
      Array.from({ length: 50_000 }, (_, n) => `${first}${String(n)}b${String(n)}c${String(n)}`).join(' ');
    expect(searchTerms({ name: sixRuns('a'), description: 'no words' }).length).toBeLessThan(2800);
    // Few words of the dictionary, in ever new compounds.
    let seed = 1;
    const letter = (): string => String.fromCodePoint(0x1000 + ((seed = (seed * 16_807) % (2 ** 31 - 1)) % 33));
    const burmese = Array.from({ length: 20_000 }, letter);
    expect(searchTerms({ name: 'no words', description: burmese.join('') }).length).toBeLessThan(2200);
    expect(searchTerms({ name: sixRuns('a'), description: sixRuns('d') }).length).toBeLessThan(4500);
  });

  it('search indexes the shortest prefixes of all words if there are too many', () => {
    const names = Array.from({ length: 200 }, (_, index) => distinctWord(index));
    const listing = { name: names.join(' ') };
    for (const name of names) {
      expect(finds(name.slice(0, 4), listing)).toBe(true);
      expect(finds(name, listing)).toBe(true);
    }
    expect(names.every((name) => finds(name.slice(0, -1), listing))).toBe(false);
  });
});
