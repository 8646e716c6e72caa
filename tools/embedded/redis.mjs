import { mkdirSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { RANK } from '../processes/stop-in-order.mjs';
import { recordDataVersion, requireReadableData } from './data-version.mjs';
import { lastLinesOf, waitUntilReady } from './readiness.mjs';

const GRACE_MS = 15_000;

/**
 * Starts Redis on 127.0.0.1. It keeps the queue when it is killed (append-only file, flushed every second) and never
 * evicts keys, because an evicted key would be a lost job.
 * @param {import('../processes/launcher.mjs').Launcher} launcher
 * @param {{binary: {path: string, version: string}, dataDir: string, port: number}} options
 * @returns {Promise<{uri: string, child: import('../processes/child.mjs').Child}>}
 */
export async function startRedis(launcher, { binary, dataDir, port }) {
  mkdirSync(dataDir, { recursive: true });
  requireReadableData(dataDir, 'Redis', binary.version);
  const logFile = join(dataDir, 'redis.log');
  rmSync(logFile, { force: true });
  const args = settings({ dataDir, port, logFile });
  const child = launcher.start('Redis', binary.path, args, { rank: RANK.redis, graceMs: GRACE_MS });
  child.reportLines = () => [...child.kept, ...lastLinesOf(logFile)];
  await waitUntilReady(child, () => isReady(port, child.identity.pid));
  recordDataVersion(dataDir, binary.version);
  return { uri: `redis://127.0.0.1:${port}`, child };
}

function settings({ dataDir, port, logFile }) {
  return Object.entries({
    bind: '127.0.0.1',
    port,
    dir: dataDir,
    logfile: logFile,
    appendonly: 'yes',
    appendfsync: 'everysec',
    save: '',
    'maxmemory-policy': 'noeviction',
  }).flatMap(([name, value]) => [`--${name}`, String(value)]);
}

/** Checks the pid too, because another program may have taken the port first. */
async function isReady(port, pid) {
  const reply = await sendCommands(port, 'PING\r\nINFO server\r\n');
  return reply.startsWith('+PONG') && reply.includes(`process_id:${pid}\r\n`);
}

function sendCommands(port, commands) {
  return new Promise((resolve, reject) => {
    let reply = '';
    const socket = connect({ host: '127.0.0.1', port }, () => socket.write(`${commands}QUIT\r\n`));
    socket.setEncoding('utf8').setTimeout(1000, () => socket.destroy(new Error('no reply')));
    socket
      .on('data', (chunk) => (reply += chunk))
      .on('end', () => resolve(reply))
      .on('error', reject);
  });
}
