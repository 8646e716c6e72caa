import { ItemLineSchema } from '../import/item-line.js';
import { generatedLines } from './generated-lines.js';

const NOW = new Date('2026-03-01T12:00:00.000Z');

describe('generatedLines', () => {
  it('generatedLines generates lines that import accepts unchanged, each with its own externalId', () => {
    const lines = [...generatedLines(500, 3, NOW)];
    for (const line of lines) {
      const { externalId, ...rest } = JSON.parse(JSON.stringify(line)) as typeof line;
      expect(ItemLineSchema.parse(rest)).toEqual(rest);
      expect(externalId).toMatch(/^generated-3-500-\d+$/);
    }
    expect(new Set(lines.map(({ externalId }) => externalId)).size).toBe(500);
  });

  it('generatedLines generates the same lines for the same arguments', () => {
    const text = (seed: number) => JSON.stringify([...generatedLines(20, seed, NOW)]);
    expect(text(1)).toBe(text(1));
    expect(text(1)).not.toBe(text(2));
  });
});
