import goods from './data/goods.json';
import type { Goods } from './goods.js';

export type CategorySlug = keyof typeof goods;

export interface Category extends Goods {
  readonly id: number;
  readonly slug: CategorySlug;
}

const entries = Object.entries(goods) as [CategorySlug, Goods][];

/** All categories. Ids count from 1. */
export const CATEGORIES: readonly Category[] = entries.map(([slug, kinds], index) => ({
  ...kinds,
  id: index + 1,
  slug,
}));

const titles = CATEGORIES.flatMap(({ offers }) => offers.flatMap(({ brand }) => brand ?? []));

/** The ids of all brands by title, counting from 1. */
export const BRAND_IDS: ReadonlyMap<string, number> = new Map(
  [...new Set(titles)].sort().map((title, index) => [title, index + 1]),
);
