/** A kind of goods, which determines the sentences that may describe them. */
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

/** A brand (null for none), the usual price of its goods, and their models (`''` if only the brand is named). */
export type Good = readonly [brand: string | null, price: number, models: string];

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
