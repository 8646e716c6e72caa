import { deepStrictEqual, strictEqual } from 'node:assert';
import { loadavg } from 'node:os';
import { LOCAL, ROOT } from '../tools/checkout/root.mjs';
import { anyFreePort } from '../tools/processes/ports.mjs';
import { startService } from '../tools/start/services.mjs';
import { loadCatalogue } from './catalogue.mjs';
import { Databases } from './databases.mjs';
import { Meter } from './meter.mjs';
import { compilePeers, startPeer } from './peers.mjs';
import { prepare } from './prepared.mjs';
import { readGroups } from './read-groups.mjs';
import { resultOf } from './report.mjs';
import { interleave } from './rounds.mjs';
import { faster } from './rows.mjs';
import { call, environment } from './subjects.mjs';

const FULL = { items: 100_000, ids: 20_000, rounds: 5, warmUpMs: 500, ms: 3000, initialWarmUpMs: 4000 };
const QUICK = { items: 10_000, ids: 5000, rounds: 3, warmUpMs: 200, ms: 1000, initialWarmUpMs: 1500 };
const CONNECTIONS = 32;
const TITLES = {
  service: 'this service',
  direct: '(a) direct',
  minimal: '(c) node:http + driver',
  other: 'the other tree',
};

/**
 * Compares reading with what a team would write instead, all on the same items of one database.
 * @param {import('../tools/processes/launcher.mjs').Launcher} launcher
 * @param {{quick: boolean, only: string[], data?: string, rounds?: number, against?: string}} options
 * @returns {Promise<import('./report.mjs').Result>}
 */
export async function runBenchmark(launcher, { quick, only, data, rounds, against: otherTree }) {
  const [loadBefore] = loadavg();
  const defaults = quick ? QUICK : FULL;
  const size = { ...defaults, rounds: rounds ?? defaults.rounds };
  const databases = await Databases.start(launcher, { data });
  const versions = await databases.versions();
  const { name: database } = await loadCatalogue(launcher, databases, size.items);
  const subjects = await startSubjects(launcher, databases, database, otherTree);
  const isSelected = ({ figure }) => only.length === 0 || only.some((part) => figure.includes(part));
  const groups = (await readGroups(databases.db(database), size.ids)).filter(isSelected);
  for (const group of groups) await requireSameItems(subjects, group);

  const meter = new Meter(launcher, databases, { keyed: false });
  const rows = [];
  const folder = launcher.temporaryFolder(LOCAL);
  for (const group of groups) {
    const { figure, operation, inputs } = group;
    const against = otherTree === undefined ? group.against : { other: {} };
    const file = prepare(folder, 'requests', { operation, inputs });
    const read = (name, times) =>
      meter.measure(subjects[name], { prepared: { file, connections: CONNECTIONS, ...times } });
    const names = ['service', ...Object.keys(against)];
    const results = await launcher.steps.run(figure, async () => {
      for (const name of names) await read(name, { warmUpMs: 0, ms: size.initialWarmUpMs });
      return interleave(names, size.rounds, (name) => read(name, size));
    });
    for (const [peer, targets] of Object.entries(against)) {
      const row = { figure: `${figure}, ${CONNECTIONS} connections, against ${TITLES[peer]}`, ...targets };
      rows.push(faster(results, peer, row, ({ reads }) => reads.perSecond));
    }
  }
  await databases.close();

  const notes = [
    `${size.items.toLocaleString('en')} items, read by all from the same collection by the same indexes.`,
    `${size.rounds} interleaved rounds of ${size.ms / 1000} s; a ratio is taken in each round.`,
    `Load average before: ${loadBefore.toFixed(1)}.`,
  ];
  return resultOf({ versions, notes, rows, meter });
}

/** Starts no worker, because it would clear lapsed boosts while the peers are measured. */
async function startSubjects(launcher, databases, database, otherTree) {
  const env = await environment(databases, database);
  const folder = await compilePeers(launcher);
  const tree = async (port, root) => {
    await startService(launcher, 'api', port, { ...env, PORT: String(port) }, root);
    return launcher.targets.findLast(({ name }) => name === 'api').pid;
  };
  const starts = {
    service: (port) => tree(port, ROOT),
    ...(otherTree === undefined ? {} : { other: (port) => tree(port, otherTree) }),
    direct: (port) => startPeer(launcher, folder, 'direct', { ...env, PORT: String(port) }),
    minimal: (port) => startPeer(launcher, folder, 'minimal', { ...env, PORT: String(port) }),
  };
  const subjects = {};
  for (const [name, start] of Object.entries(starts)) {
    const port = await anyFreePort();
    subjects[name] = { title: TITLES[name], port, pids: { api: await start(port) }, countItems: async () => 0 };
  }
  return subjects;
}

/** Requires that all subjects return the same items: a benchmark of different results would be worthless. */
async function requireSameItems({ service, ...others }, { operation, inputs, against }) {
  const peers = Object.entries(others).filter(([name]) => name === 'other' || name in against);
  for (const input of [inputs[0], inputs.at(-1)]) {
    const ours = await call(service.port, operation, input);
    if (operation === 'getAll') strictEqual(ours.length, input.pageSize, `a page of ${JSON.stringify(input)}`);
    for (const [, { port, title }] of peers) {
      const theirs = await call(port, operation, input);
      deepStrictEqual(theirs, ours, `${title} returns something else for ${operation} ${JSON.stringify(input)}`);
    }
  }
}
