import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { format, resolveConfig } from 'prettier';
import { ROOT } from '../tools/checkout/root.mjs';

const DOCS = join(ROOT, 'docs');
const PAGES = ['benchmarks.md', 'metrics.md'].map((file) => join(DOCS, file));
const PLOTS = join(DOCS, 'benchmarks');

/**
 * Replaces the part of docs/benchmarks.md or docs/metrics.md that belongs to a benchmark, and its plots.
 * @param {string} name of the benchmark
 * @param {string} results Markdown
 * @param {Record<string, import('./plots.mjs').Plot>} plots by name; the title becomes the alternative text
 */
export async function writePage(name, results, plots) {
  const [begin, end] = [`<!-- ${name}: written by the benchmark -->`, `<!-- end of ${name} -->`];
  const page = PAGES.find((file) => readFileSync(file, 'utf8').includes(begin));
  if (page === undefined) throw new Error(`no page in docs/ has a part for ${name}: ${begin}`);
  const [before, rest] = readFileSync(page, 'utf8').split(begin);
  const [, after] = rest.split(end);
  mkdirSync(PLOTS, { recursive: true });
  for (const [file, { svg }] of Object.entries(plots)) writeFileSync(join(PLOTS, `${file}.svg`), svg);
  const images = Object.entries(plots).map(([file, { title }]) => `![Plot: ${title}](benchmarks/${file}.svg)`);
  const text = `${before}${[begin, ...images, results, end].join('\n\n')}${after}`;
  writeFileSync(page, await format(text, { ...(await resolveConfig(page)), filepath: page }));
}
