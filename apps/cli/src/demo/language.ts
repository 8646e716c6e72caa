import type { ConditionKey } from './conditions.js';
import type { CategorySlug } from './categories.js';
import type { Kind } from './goods.js';

/**
 * The texts of one language, a file in `data/languages`. They contain alternatives, separated by `|`, and the slots
 * `{item}` (brand and model, or the noun), `{size}` and `{city}`. A slot is placed where grammar requires no case,
 * gender or number, usually after a colon, so that any noun fits as listed.
 */
export interface Language {
  /** BCP 47 language tag, for capitalization. */
  readonly code: string;
  /** Ways to join `{model}` and `{noun}` into a name. */
  readonly names: string;
  /** Separator between the parts of a name. */
  readonly comma: string;
  /** Separator between sentences. */
  readonly space: string;
  /** A size of clothes or shoes, as part of a name. */
  readonly sizeTag: string;
  /** Six, from common to bold: black, white, grey, blue, green, red. */
  readonly colours: readonly string[];
  readonly cities: string;
  /** The condition as part of a name. */
  readonly hints: Readonly<Record<ConditionKey, string>>;
  /** The condition in a sentence. */
  readonly states: Readonly<Record<ConditionKey, string>>;
  /** The first sentence: what and why. */
  readonly intros: string;
  /** A sentence about the properties of a kind of goods. */
  readonly details: Readonly<Record<Kind, string>>;
  /** The last sentence where only pickup is offered. */
  readonly pickup: string;
  /** The last sentence where pickup and shipping are offered. */
  readonly shipping: string;
  /** The first noun fits every brand of the category. The others are more specific. */
  readonly nouns: Readonly<Record<CategorySlug, string>>;
}
