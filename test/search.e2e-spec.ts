import { MaintenanceRepository } from '@app/database';
import { SearchBackfill } from '@app/items';
import { eventually } from './support/eventually.js';
import { record, store, uniqueWord, validInput } from './support/items.js';
import { startService, type Service } from './support/service.js';

/** libs/items/src/search-terms.spec.ts covers what is found word by word and script by script. */
describe('getAll with search', () => {
  let service: Service;
  beforeAll(async () => {
    service = await startService();
  });
  afterAll(() => service.stop());

  const find = async (search: string, more: object = {}): Promise<number[]> =>
    (await service.api.getAll({ search, ...more })).map(({ publicId }) => publicId);

  const created = async (name: string, more: object = {}): Promise<number> =>
    (await service.api.create(validInput({ name, ...more }))).publicId;

  it.each([
    ['Crème brûlée dish', ['creme', 'CREME BRULEE', 'dish crème']],
    ['Straßenkarte Berlin', ['strasse', 'STRASSENKARTE', 'straßenk']],
    ['Новогодняя ёлка', ['елка', 'новогод', 'ЁЛКА']],
    ['Ποδήλατο πόλης', ['ποδηλατο', 'πολησ']],
    ['كرسي أحمر', ['احمر', 'كرسي']],
    ['捷安特山地自行车', ['自行车', '山地', '捷安特']],
    ['ヴィンテージ革ジャケット', ['ジャケット', '革ジャケット']],
    ['접이식 자전거', ['자전거', '자전']],
    ['Apple iPhone 12 mini', ['iphone 12', '12 iph', 'mini']],
    ['Drill AB-123', ['ab-123', '123 ab', 'AB 123']],
    ['Scooter 🛴 for kids', ['🛴', 'kids 🛴']],
    ['Gothic 𐌰𐌱𐌲 poster', ['𐌰𐌱𐌲', '𐌰𐌱']],
    ['Thule Fahrradanhänger', ['fahrradanhäng', 'FAHRRADANHANGE thule']],
    ['GoPro Hero9 Black', ['hero 9', 'hero9', 'gopro hero 9black']],
    ['Sony WH-1000XM4', ['wh1000xm4', 'wh 1000 xm4', 'WH-1000X']],
  ])('a search finds %s', async (name, searches) => {
    const publicId = await created(name);
    await eventually(async () => {
      for (const search of searches) expect([search, await find(search)]).toEqual([search, [publicId]]);
    });
  });

  it('a search finds an item by its brand and by whole words of its description', async () => {
    const [brand, word] = [uniqueWord(), uniqueWord().replaceAll(/\d/g, 'x')];
    await service.database.models.brands.insertMany([{ _id: 77, title: `Brand ${brand}` }]);
    const publicId = await created('Plain thing', { brandId: 77, description: `Comes with a ${word}, as new.` });
    await eventually(async () => {
      expect(await find(brand)).toEqual([publicId]);
      expect(await find(brand.slice(0, 8))).toEqual([publicId]);
      expect(await find(word)).toEqual([publicId]);
    });
    expect(await find(word.slice(0, 8))).toEqual([]);
  });

  it('a search returns items in list order, page by page, with every filter', async () => {
    const word = uniqueWord();
    const name = `Lamp ${word}`;
    await store(
      service.database,
      record({ name, publicId: 501, categoryId: 5 }),
      record({ name, publicId: 502, status: 'sold', createdAt: new Date(0) }),
      record({ name, publicId: 503, isBoosted: true, boostScore: 1, createdAt: new Date(0) }),
      record({ name, publicId: 504, isVisible: false }),
    );
    expect(await find(word)).toEqual([503, 501, 502]);
    expect(await find(word, { pageSize: 2, page: 2 })).toEqual([502]);
    expect(await find(word, { status: 'sold' })).toEqual([502]);
    expect(await find(word, { categoryId: '5' })).toEqual([501]);
    expect(await find(`${word} desk`)).toEqual([]);
  });

  it.each(['', '   ', '.*', '$', '()[]{}\\', '-'])('getAll treats %j as no search', async (search) => {
    expect(await service.api.getAll({ search, pageSize: 5 })).toEqual(await service.api.getAll({ pageSize: 5 }));
  });

  it('a search considers the first 10 words of the first 200 characters', async () => {
    const words = Array.from({ length: 10 }, uniqueWord);
    const publicId = await created(words.join(' '));
    await eventually(async () => {
      expect(await find(`${words.map((word) => word.slice(0, 6)).join(' ')} missing`)).toEqual([publicId]);
    });
    expect(await find(`${words[0] ?? ''}${' '.repeat(200)}missing`)).toEqual([publicId]);
    expect(await find(`${words[0] ?? ''} missing`)).toEqual([]);
  });

  it('a search finds an item by its new name once maintenance has updated its search terms', async () => {
    const [before, now] = [uniqueWord(), uniqueWord()];
    const [item] = await store(service.database, record({ name: before }));
    const { items } = service.database.models;
    await items.collection.updateOne({ _id: item._id }, { $set: { name: now }, $unset: { searchVersion: 1 } });
    await new SearchBackfill(new MaintenanceRepository(service.database)).run(new Date());
    expect(await find(now)).toEqual([item.publicId]);
    expect(await find(before)).toEqual([]);
  });
});
