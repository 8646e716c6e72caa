import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { format, resolveConfig } from 'prettier';
import { ROOT } from '../tools/checkout/root.mjs';
import { StepError } from '../tools/steps.mjs';

const PAGE = join(ROOT, 'docs', 'benchmarks.md');
const PLOTS = join(ROOT, 'docs', 'benchmarks');

/**
 * Replaces the part of docs/benchmarks.md that belongs to a benchmark, and its plots.
 * @param {string} name of the benchmark
 * @param {string} results Markdown
 * @param {Record<string, import('./plots.mjs').Plot>} plots by name; the title becomes the alternative text
 */
export async function writePage(name, results, plots) {
  const [begin, end] = [`<!-- ${name}: written by the benchmark -->`, `<!-- end of ${name} -->`];
  const [before, rest] = readFileSync(PAGE, 'utf8').split(begin);
  const after = rest?.split(end)[1];
  if (after === undefined) throw new StepError(`docs/benchmarks.md has no part for ${name}`);
  mkdirSync(PLOTS, { recursive: true });
  for (const [file, { svg }] of Object.entries(plots)) writeFileSync(join(PLOTS, `${file}.svg`), svg);
  const images = Object.entries(plots).map(([file, { title }]) => `![Plot: ${title}](benchmarks/${file}.svg)`);
  const text = `${before}${begin}\n\n${[...images, results].join('\n\n')}\n\n${end}${after}`;
  writeFileSync(PAGE, await format(text, { ...(await resolveConfig(PAGE)), filepath: PAGE }));
}
