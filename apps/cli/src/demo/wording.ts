import type { Category } from './categories.js';
import type { ConditionKey } from './conditions.js';
import type { Language } from './language.js';
import type { Random } from './random.js';

/** The properties of an offer on which its text depends. */
export interface Offer {
  readonly language: Language;
  readonly category: Category;
  readonly brand: string | null;
  readonly model: string;
  readonly condition: ConditionKey;
  readonly city: string;
  readonly delivery: 'pickup' | 'shipping' | 'both';
}

export interface Wording {
  readonly name: string;
  readonly description: string;
  /** The size of clothes or shoes, otherwise null. */
  readonly sizeTitle: string | null;
}

/** Writes a listing in the language of its seller: a name, and a description of two to four sentences. */
export function wording(random: Random, offer: Offer): Wording {
  const size = random.phrase(offer.category.sizes ?? '');
  const item = nameItem(random, offer, size);
  const worn = offer.category.kind === 'clothing' || offer.category.kind === 'shoes';
  return {
    name: decorate(
      random,
      capitalize(addTag(random, offer, item.full, size), offer.language),
      offer.category.emoji,
      0.08,
    ),
    description: decorate(random, describe(random, offer, item.short, size), random.phrase('🙂|😊|👍|🙏|✨'), 0.06),
    sizeTitle: worn ? size : null,
  };
}

/** Names the goods: in full for the name of the listing, and in short for a sentence. */
function nameItem(random: Random, { language, category, brand, model }: Offer, size: string) {
  const nouns = language.nouns[category.slug];
  const common = nouns.split('|', 1).join('');
  if (brand === null && model !== '') return { full: `${common}: ${model}`, short: model };
  const noun = model === '' ? random.phrase(nouns) : common;
  const make = [brand, model].filter(Boolean).join(' ');
  if (make === '') return { full: noun, short: noun };
  const sized = category.kind === 'device' || category.slug === 'skis' ? ` ${size}` : '';
  const full = fill(random.phrase(language.names), { model: make, noun }) + sized;
  return { full, short: model === '' ? full : make };
}

/** Appends the colour, the size or the condition to most names. */
function addTag(random: Random, offer: Offer, name: string, size: string): string {
  const { language, category } = offer;
  const tags = [random.phrase(language.hints[offer.condition])];
  // A noun alone says too little, and can be too short for a name: "沙发".
  if (offer.brand !== null || offer.model !== '') tags.push('');
  if (category.colours !== undefined) tags.push(random.pick(language.colours.slice(0, category.colours)));
  if (category.kind === 'clothing' || category.kind === 'shoes') tags.push(fill(language.sizeTag, { size }));
  return [name, random.pick(tags)].filter(Boolean).join(language.comma);
}

function describe(
  random: Random,
  { language, category, condition, city, delivery }: Offer,
  item: string,
  size: string,
) {
  const intro = fill(random.phrase(language.intros), { item });
  const state = random.phrase(language.states[condition]);
  // Details describe goods that work, so they do not fit goods for parts.
  const detail = condition === 'forParts' ? '' : fill(random.phrase(language.details[category.kind]), { size });
  const closing = fill(random.phrase(delivery === 'pickup' ? language.pickup : language.shipping), { city });
  const brief = random.chance(0.15);
  const sentences = [intro, state, brief ? '' : detail, delivery === 'shipping' ? '' : closing];
  return capitalize(sentences.filter(Boolean).join(language.space), language);
}

function fill(template: string, slots: Readonly<Record<string, string>>): string {
  return template.replace(/\{(\w+)\}/g, (slot, key: string) => slots[key] ?? slot);
}

function capitalize(text: string, { code }: Language): string {
  return text.replace(/^\p{Ll}/u, (letter) => letter.toLocaleUpperCase(code));
}

function decorate(random: Random, text: string, emoji: string, probability: number): string {
  return random.chance(probability) ? `${text} ${emoji}` : text;
}
