import { availableParallelism, cpus, totalmem } from 'node:os';
import { median } from './figures.mjs';

/**
 * What a benchmark has found.
 * @typedef {object} Findings
 * @property {string[]} [notes] sentences about how it was measured
 * @property {object[]} rows of {@link import('./figures.mjs').rowOf}
 * @property {string[]} [tables] Markdown that follows the figures
 * @property {Record<string, import('./plots.mjs').Plot>} [plots] by name of the file
 */

/** Returns the report as Markdown: `text` for the terminal, with the targets, and `page` for docs/benchmarks.md. */
export function reportOf({ notes, rows, tables = [] }, { problems, remarks }, versions) {
  const warnings = [...problems.map((problem) => `**${problem}**`), ...remarks].map((warning) => `- ${warning}`);
  const assemble = (figures) =>
    [`${machine(versions)}.`, notes.join(' '), figures, ...tables, warnings.join('\n')].filter(Boolean).join('\n\n');
  const head = ['Figure', 'Measured: median (lowest–highest)'];
  const lines = rows.map((row) => [row.title, measured(row)]);
  const targets = rows.map((row) => [target(row, row.must), target(row, row.aim), verdict(row)]);
  const linesWithTargets = lines.map((line, index) => [...line, ...targets[index]]);
  return {
    text: assemble(rows.length > 0 && table([...head, 'Must', 'Aim', 'Met'], linesWithTargets)),
    page: assemble(rows.length > 0 && table(head, lines)),
  };
}

/** Returns a Markdown table. */
export function table(head, lines) {
  return [head, head.map(() => '---'), ...lines].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

/** Whether the "must" of a figure is met. */
export function isMet(row) {
  return isAsGoodAs(row, row.must ?? NaN);
}

/** A figure that could not be measured does not miss its target, and neither does one without. */
function isAsGoodAs(row, limit) {
  const value = countedValue(row);
  return row.better === 'more' ? !(value < limit) : !(value > limit);
}

/** Returns the strictest target that is met. */
function verdict({ must, aim, ...row }) {
  if (Number.isNaN(countedValue(row))) return '';
  if (aim !== undefined && isAsGoodAs(row, aim)) return 'aim';
  if (must === undefined) return '';
  return isAsGoodAs(row, must) ? 'must' : '**missed**';
}

function countedValue({ values, isWorst, better }) {
  if (!isWorst) return median(values);
  return better === 'more' ? Math.min(...values) : Math.max(...values);
}

function measured({ format, note, ...row }) {
  const value = countedValue(row);
  if (Number.isNaN(value)) return 'not measured here';
  const [lowest, highest] = [Math.min(...row.values), Math.max(...row.values)].map(format);
  const which = row.isWorst ? 'worst round, ' : '';
  const spread = row.values.length > 1 ? ` (${which}${lowest}–${highest})` : '';
  return `**${format(value)}**${spread}${note === undefined ? '' : `; ${note}`}`;
}

function target({ better, format }, limit) {
  return limit === undefined ? '' : `${better === 'more' ? '≥' : '≤'} ${format(limit)}`;
}

function machine({ mongod, redis }) {
  const memory = Math.min(totalmem(), process.constrainedMemory() || Infinity) / 2 ** 30;
  const hardware = `${availableParallelism()} cores (${cpus()[0]?.model.trim()}), ${memory.toFixed(0)} GiB`;
  return `${hardware}; Node.js ${process.versions.node}, MongoDB ${mongod}, Redis ${redis}, all on this machine`;
}
