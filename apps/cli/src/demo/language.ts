import type { ConditionKey } from './conditions.js';
import type { CategorySlug } from './categories.js';
import type { Kind } from './goods/good.js';

/**
 * What one language needs to offer anything. Texts hold alternatives separated by `|`, and the slots
 * `{item}` (brand and model, or the noun), `{size}`, `{city}`. Slots stand where no case, gender or
 * number is asked of them, most often behind a colon, so that any noun fits as it is listed.
 */
export interface Language {
  /** BCP 47, for capitals. */
  readonly code: string;
  /** Ways to join `{model}` and `{noun}` into a name. */
  readonly names: string;
  /** Between the parts of a name. */
  readonly comma: string;
  /** Between sentences. */
  readonly space: string;
  /** A size of clothes or shoes, as part of a name. */
  readonly sizeTag: string;
  /** From common to bold: black, white, grey, blue, green, red. */
  readonly colours: readonly [string, string, string, string, string, string];
  readonly cities: string;
  /** The condition as part of a name. */
  readonly hints: Readonly<Record<ConditionKey, string>>;
  /** The condition in a sentence. */
  readonly states: Readonly<Record<ConditionKey, string>>;
  /** The first sentence: what and why. */
  readonly intros: string;
  /** What is worth saying of a kind of thing. */
  readonly details: Readonly<Record<Kind, string>>;
  /** The last sentence where only pickup is offered. */
  readonly pickup: string;
  /** The last sentence where pickup and shipping are offered. */
  readonly shipping: string;
  /** The first noun goes with every brand of the category; the others are more specific. */
  readonly nouns: Readonly<Record<CategorySlug, string>>;
}
