import type { Goods } from './goods/good.js';
import { home } from './goods/home.js';
import { leisure } from './goods/leisure.js';
import { technology } from './goods/technology.js';
import { wardrobe } from './goods/wardrobe.js';

const goods = { ...technology, ...home, ...wardrobe, ...leisure };

export type CategorySlug = keyof typeof goods;

export interface Category extends Goods {
  readonly id: number;
  readonly slug: CategorySlug;
}

const slugs = Object.keys(goods) as CategorySlug[];

/** All categories. Ids count from 1. */
export const CATEGORIES: readonly Category[] = slugs.map((slug, index) => ({ ...goods[slug], id: index + 1, slug }));

const titles = CATEGORIES.flatMap(({ offers }) => offers.flatMap(([brand]) => brand ?? []));

/** The ids of all brands by title, counting from 1. */
export const BRAND_IDS: ReadonlyMap<string, number> = new Map(
  [...new Set(titles)].sort().map((title, index) => [title, index + 1]),
);
