import { itemSlug } from './slug.js';

describe('itemSlug', () => {
  it.each([
    ['Red Bike, 26"', 'red-bike-26-7'],
    ['Crème brûlée Straße', 'creme-brulee-strasse-7'],
    ['Горный велосипед', 'gornyy-velosiped-7'],
    ['Ποδήλατο', 'podilato-7'],
    ['دراجة هوائية', 'drja-hwiya-7'],
    ['Объявление, Львів', 'obyavlenie-lviv-7'],
    ['山地自行车', 'shan-di-zi-xing-che-7'],
    ['İstanbul ışık', 'istanbul-isik-7'],
    ['🚲 Bike 🚲', 'bike-7'],
    ['🚲🚲🚲', 'item-7'],
    ['---', 'item-7'],
  ])('itemSlug turns %s into %s', (name, slug) => {
    expect(itemSlug(name, 7)).toBe(slug);
  });

  it('the slug of an item has at most 80 characters of the name and no trailing dash', () => {
    expect(itemSlug('a'.repeat(200), 12)).toBe(`${'a'.repeat(80)}-12`);
    expect(itemSlug(`${'a'.repeat(79)} bcd`, 12)).toBe(`${'a'.repeat(79)}-12`);
  });

  it('the slug of an item stays short for a name of a megabyte', () => {
    const slug = itemSlug('山'.repeat(300_000), 1);
    expect(slug.length).toBeLessThanOrEqual(82);
  });
});
