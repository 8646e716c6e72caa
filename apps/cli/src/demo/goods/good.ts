/** What is true of a whole family of things: which sentences may describe it. */
export type Kind =
  | 'ride'
  | 'device'
  | 'electronics'
  | 'home'
  | 'household'
  | 'clothing'
  | 'shoes'
  | 'accessories'
  | 'kids'
  | 'media'
  | 'leisure';

/** A brand (null: none), the usual price of its things, and their models; `''` where only the brand is named. */
export type Good = readonly [brand: string | null, price: number, models: string];

export interface Goods {
  readonly title: string;
  readonly kind: Kind;
  readonly emoji: string;
  /** Alternatives separated by `|`, in the units of the kind. */
  readonly sizes?: string;
  /** How many of a language's colours, ordered from common to bold, fit; absent = colour is not worth a word. */
  readonly colours?: number;
  /** Too large for a parcel. */
  readonly bulky?: true;
  /** Can be offered broken, for parts. */
  readonly breaks?: true;
  readonly offers: readonly Good[];
}
