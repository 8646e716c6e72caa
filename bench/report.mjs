import { availableParallelism, cpus, totalmem } from 'node:os';
import { median } from './rounds.mjs';
import { countedValue, duration, verdict } from './rows.mjs';

const PROCESSES = { api: 'CPU a create: API', worker: 'worker', mongod: 'MongoDB', redis: 'Redis' };

/** Returns a Markdown table of the figures and their verdicts. */
export function figuresTable(rows) {
  const lines = rows.map((row) => [row.figure, limit(row, row.must), limit(row, row.aim), measured(row), verdict(row)]);
  return table(['Figure', 'Must', 'Aim', 'Measured: median (lowest–highest)', 'Met'], lines);
}

/**
 * Returns a Markdown table of the absolute values from which the ratios were computed.
 * @param {{connections: number, title: string, rounds: import('./meter.mjs').Measured[]}[]} loads
 */
export function absolutesTable(loads) {
  const lines = loads.map(({ connections, title, rounds }) => {
    const of = (figure) => median(rounds.map(({ creates, cpuMs }) => figure(creates, cpuMs)));
    const cpu = Object.keys(PROCESSES).map((name) => of(({ answers }, cpuMs) => cpuMs[name] / answers[200]));
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

/**
 * Returns a line about the machine and the versions of the programs.
 * @param {{mongod: string, redis: string}} versions
 */
export function machine({ mongod, redis }) {
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
