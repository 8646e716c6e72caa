import type english from './data/languages/english.json';

/** A kind of goods, which determines the sentences that may describe them. */
export type Kind = keyof typeof english.details;

export interface Good {
  /** Null if the goods have no brand. */
  readonly brand: string | null;
  /** The usual price. */
  readonly price: number;
  /** Alternatives separated by `|`. Empty if only the brand is named. */
  readonly models: string;
}

/** An entry of `data/goods.json`. */
export interface Goods {
  readonly title: string;
  readonly kind: Kind;
  readonly emoji: string;
  /** Alternatives separated by `|`, in the units of the kind. */
  readonly sizes?: string;
  /** How many of a language's colours fit, from common to bold. Absent if colours are not mentioned. */
  readonly colours?: number;
  /** Too large for a parcel. */
  readonly bulky?: true;
  /** May be offered broken, for parts. */
  readonly breaks?: true;
  readonly offers: readonly Good[];
}
