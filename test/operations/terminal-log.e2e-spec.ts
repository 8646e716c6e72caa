import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { findProgram } from '../support/programs.js';

const run = promisify(execFile);
const LOGGER = join(__dirname, '..', '..', 'dist', 'libs', 'runtime', 'src', 'process', 'logger.js');
const PROGRAM = `
  const { createLogger } = require(${JSON.stringify(LOGGER)});
  createLogger('api', 'info').then((logger) => logger.info({ port: 3000 }, 'listening'));
`;
// That of macOS takes other arguments.
const hasTerminal = process.platform === 'linux' && findProgram('script') !== undefined;
const describeOnTerminal = hasTerminal ? describe : describe.skip;

describe('the log in a pipe', () => {
  it('the log in a pipe has JSON lines', async () => {
    const { stdout } = await run(process.execPath, ['-e', PROGRAM]);
    expect(JSON.parse(stdout)).toMatchObject({ level: 30, name: 'api', port: 3000, msg: 'listening' });
  });
});

describeOnTerminal('the log on a terminal (skipped unless script of util-linux is installed)', () => {
  it('the log on a terminal has readable lines', async () => {
    const env = { ...process.env, NODE: process.execPath, PROGRAM, SHELL: '/bin/sh' };
    const command = '"$NODE" -e "$PROGRAM"';
    const { stdout } = await run('script', ['--quiet', '--return', '--command', command, '/dev/null'], { env });
    expect(stdout).toMatch(/INFO.*\(api\): .*listening/);
    expect(stdout).not.toContain('"msg"');
  });
});
