import { availableParallelism, cpus, totalmem } from 'node:os';
import { median } from './rounds.mjs';
import { countedValue, duration, isMet, metTarget } from './rows.mjs';

const PROCESSES = { api: 'CPU per create: API', worker: 'worker', mongod: 'MongoDB', redis: 'Redis' };

/**
 * @typedef {object} Result of a benchmark
 * @property {string} text Markdown for the terminal, with the targets
 * @property {string} page Markdown for docs/benchmarks.md
 * @property {Record<string, string>} plots SVGs by name
 * @property {boolean} passed whether every "must" is met
 */

/**
 * Returns the result of a benchmark.
 * @param {object} report
 * @param {{mongod: string, redis: string}} report.versions
 * @param {string[]} report.notes sentences about how it was measured
 * @param {import('./rows.mjs').Row[]} report.rows
 * @param {string[]} [report.more] tables and paragraphs that follow the figures
 * @param {import('./meter.mjs').Meter} [report.meter] what it has reported is part of the result
 * @param {Record<string, string>} [report.plots]
 * @returns {Result}
 */
export function resultOf({ versions, notes, rows, more = [], meter = { problems: [], remarks: [] }, plots = {} }) {
  const warnings = [...meter.problems.map((problem) => `**${problem}**`), ...meter.remarks];
  const assemble = (figures) =>
    [`${machine(versions)}.`, notes.join(' '), figures, ...more, warnings.map((warning) => `- ${warning}`).join('\n')]
      .filter(Boolean)
      .join('\n\n');
  return {
    text: assemble(figuresTable(rows)),
    page: assemble(plainTable(rows)),
    plots,
    passed: rows.every(isMet) && meter.problems.length === 0,
  };
}

/** Returns a Markdown table of the figures, their targets and whether they are met. */
function figuresTable(rows) {
  const lines = rows.map((row) => [
    row.figure,
    limit(row, row.must),
    limit(row, row.aim),
    measured(row),
    metTarget(row),
  ]);
  return table(['Figure', 'Must', 'Aim', 'Measured: median (lowest–highest)', 'Met'], lines);
}

/** Returns a Markdown table of the figures. */
function plainTable(rows) {
  const lines = rows.map((row) => [row.figure, measured(row)]);
  return table(['Figure', 'Measured: median (lowest–highest)'], lines);
}

/**
 * Returns a Markdown table of the absolute values from which the ratios were computed.
 * @param {{connections: number, title: string, rounds: import('./meter.mjs').Measured[]}[]} loads
 */
export function absolutesTable(loads) {
  const lines = loads.map(({ connections, title, rounds }) => {
    const of = (figure) => median(rounds.map(({ creates, cpuMs }) => figure(creates, cpuMs)));
    const cpu = Object.keys(PROCESSES).map((name) => of(({ responses }, cpuMs) => cpuMs[name] / responses[200]));
    const together = cpu.filter((ms) => !Number.isNaN(ms)).reduce((sum, ms) => sum + ms, 0);
    return [
      `${title}, ${connections} connections`,
      of(({ perSecond }) => perSecond).toFixed(0),
      duration(of(({ ms }) => ms.p50)),
      duration(of(({ ms }) => ms.p99)),
      ...[...cpu, together].map((ms) => (Number.isNaN(ms) ? '' : `${ms.toFixed(2)} ms`)),
    ];
  });
  return table(['', 'creates/s', 'p50', 'p99', ...Object.values(PROCESSES), 'together'], lines);
}

/** Returns a line about the machine and the versions of the programs. */
function machine({ mongod, redis }) {
  const memory = Math.min(totalmem(), process.constrainedMemory() || Infinity) / 2 ** 30;
  const hardware = `${availableParallelism()} cores (${cpus()[0]?.model.trim()}), ${memory.toFixed(0)} GiB`;
  return `${hardware}; Node.js ${process.versions.node}, MongoDB ${mongod}, Redis ${redis}, all on this machine`;
}

function limit({ better, unit = '' }, value) {
  return value === undefined ? '' : `${better === 'more' ? '≥' : '≤'} ${value}${unit}`;
}

function measured({ unit = '', digits = 0, note, ...row }) {
  const [value, lowest, highest] = [countedValue(row), Math.min(...row.values), Math.max(...row.values)];
  if (Number.isNaN(value)) return 'not measured here';
  const spread = row.values.length > 1 ? ` (${lowest.toFixed(digits)}–${highest.toFixed(digits)})` : '';
  return `**${value.toFixed(digits)}${unit}**${spread}${note === undefined ? '' : `; ${note}`}`;
}

/** Returns a Markdown table. */
export function table(head, lines) {
  return [head, head.map(() => '---'), ...lines].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}
