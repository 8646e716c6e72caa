import { parseExactJson } from '@app/contracts';

/** Readers for cells that are not text. An empty cell is an absent field, or null if create requires the field. */
const KINDS = new Map<string, (cell: string) => unknown>(
  Object.entries({
    id: number,
    price: number,
    stock: number,
    brandId: number,
    conditionId: number,
    boostScore: number,
    favouriteCount: number,
    viewCount: number,
    deliveryCost: number,
    isFeatured: boolean,
    isBoosted: boolean,
    isVisible: boolean,
    freeShipping: boolean,
    images: list,
    deliveryOptions: list,
    photos: json,
  }),
);
const NULL_WHEN_EMPTY = new Set(['brandId', 'conditionId', 'isFeatured']);

const NUMBER = /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/;

/**
 * Converts a CSV record to the value that the same line of NDJSON would have. Numbers have a decimal point, booleans
 * are `true` or `false`, lists are a JSON array or separated by `|`, and `photos` are JSON. A cell that does not fit
 * its field stays text, which validation then rejects.
 */
export function valuesOf(names: readonly string[], cells: readonly string[]): Record<string, unknown> {
  const values: Record<string, unknown> = {};
  names.forEach((name, index) => {
    const cell = cells[index] ?? '';
    if (cell !== '') values[name] = (KINDS.get(name) ?? asIs)(cell);
    else if (NULL_WHEN_EMPTY.has(name)) values[name] = null;
  });
  return values;
}

function asIs(cell: string): string {
  return cell;
}

function number(cell: string): unknown {
  return NUMBER.test(cell) ? parseExactJson(cell) : cell;
}

function boolean(cell: string): unknown {
  return cell === 'true' ? true : cell === 'false' ? false : cell;
}

function list(cell: string): unknown {
  return cell.startsWith('[') ? json(cell) : cell.split('|').map((element) => element.trim());
}

function json(cell: string): unknown {
  try {
    return parseExactJson(cell);
  } catch {
    return cell;
  }
}
