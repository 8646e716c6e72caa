import { deepStrictEqual, strictEqual } from 'node:assert';
import { loadCatalogue } from './catalogue.mjs';
import { number, ratio, READS_PER_SECOND } from './figures.mjs';
import { chosen, measureGroups, sameLoad } from './groups.mjs';
import { freePort } from './processes.mjs';
import { readQueries } from './read-queries.mjs';
import { call, startSubject, titleOf } from './subjects.mjs';

const CONNECTIONS = 32;

/** Compares reading with what a team would write instead, all on the same items of one database. */
export async function measure(bench) {
  const { meter, size, options } = bench;
  const { items, warmUpMs, ms, initialWarmUpMs } = size;
  const { env, db } = await loadCatalogue(bench, items);
  const subjects = {};
  // No worker, because it would clear lapsed boosts while the peers are measured.
  for (const name of ['service', ...(options.against ? ['other'] : []), 'direct', 'minimal'])
    subjects[name] = await startSubject(bench, name, { ...env, PORT: await freePort() }, { processes: ['api'] });

  const groups = {};
  for (const [title, query] of Object.entries(chosen(await readQueries(db, size.ids), options.only))) {
    const { operation, inputs, against } = options.against ? { ...query, against: { other: [] } } : query;
    const peers = Object.keys(against);
    for (const peer of peers) await requireSameItems(subjects.service, subjects[peer], operation, inputs);
    const names = ['service', ...peers];
    const reads = { operation, inputs, connections: CONNECTIONS, warmUpMs, ms };
    const measured = names.map((name) => subjects[name]);
    await meter.warmUp(measured, { reads: { ...reads, ms: initialWarmUpMs } });
    groups[title] = {
      variants: sameLoad(names, { reads }),
      figures: Object.entries(against).map(([peer, targets]) => {
        const figure = { ...READS_PER_SECOND, title: `${title}, ${CONNECTIONS} connections` };
        return ratio(figure, `, against ${titleOf(peer)}`, ['service', peer], ...targets);
      }),
    };
  }
  const { rows } = await measureGroups(bench, subjects, groups);
  return { notes: [`${number(items)} items, read by all from the same collection by the same indexes.`], rows };
}

/** Requires that a peer returns the same items: a benchmark of different results would be worthless. */
async function requireSameItems(service, { port, title }, operation, inputs) {
  for (const input of [inputs[0], inputs.at(-1)]) {
    const ours = await call(service.port, operation, input);
    if (operation === 'getAll') strictEqual(ours.length, input.pageSize, `a page of ${JSON.stringify(input)}`);
    const theirs = await call(port, operation, input);
    deepStrictEqual(theirs, ours, `${title} returns something else for ${operation} ${JSON.stringify(input)}`);
  }
}
