import { once } from 'node:events';
import { parseArgs } from 'node:util';
import { CommandError, endWithOutput, runCommand } from './command.js';
import { generatedLines } from './demo/generated-lines.js';

const USAGE = 'usage: generate N [--seed S] [--now TIME]';
/** Fixed, so that the same command always writes the same bytes. */
const NOW = '2026-11-01T00:00:00.000Z';
const LINES_PER_WRITE = 100;

/** Writes realistic listings for `import` to stdout, as fast as they are read. */
runCommand(USAGE, async () => {
  const { positionals, values } = parseArgs({
    allowPositionals: true,
    options: { seed: { type: 'string', default: '1' }, now: { type: 'string', default: NOW } },
  });
  const [count = '', ...rest] = positionals;
  const now = new Date(values.now);
  if (![count, values.seed].every((text) => /^\d{1,9}$/.test(text)) || rest.length > 0 || Number.isNaN(now.getTime())) {
    throw new CommandError(USAGE);
  }
  endWithOutput();
  let text = '';
  let lines = 0;
  for (const line of generatedLines(Number(count), Number(values.seed), now)) {
    text += `${JSON.stringify(line)}\n`;
    lines += 1;
    if (lines % LINES_PER_WRITE > 0) continue;
    if (!process.stdout.write(text)) await once(process.stdout, 'drain');
    text = '';
  }
  process.stdout.write(text);
});
