import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { expect } from '../compose/expect.mjs';
import { Helm } from './helm.mjs';
import { REFUSALS } from './refusals.mjs';
import { RULES } from './rules.mjs';
import { Schemas } from './schemas.mjs';
import { VALUE_SETS } from './value-sets.mjs';

const file = (name) => ['--values', join(import.meta.dirname, 'values', `${name}.yaml`)];

/**
 * @param {import('../../tools/processes/launcher.mjs').Launcher} launcher
 * @param {import('../compose/checks.mjs').Checks} checks
 */
export async function scenario(launcher, checks) {
  const helm = await Helm.find(launcher);
  const schemas = await Schemas.install(launcher);
  for (const set of VALUE_SETS) await checkValues(checks, { helm, schemas, set });
  for (const { values, message } of REFUSALS) {
    await checks.run(`refused: ${values}`, () => expectRefusal(helm, values, message));
  }
}

async function checkValues(
  checks,
  { helm, schemas, set: { name, files, manifests: expected, specs, drainSeconds, settings } },
) {
  const values = files.flatMap(file);
  await checks.run(`${name}: helm lint --strict`, () => helm.lint(values));
  let manifests = [];
  await checks.require(`${name}: helm template renders ${expected.length} manifests`, async () => {
    manifests = schemas.parse(await helm.template(values));
    const names = manifests.map(({ kind, metadata }) => `${kind} ${metadata.name}`).sort();
    expect(names.join('\n') === [...expected].sort().join('\n'), `They are:\n${names.join('\n')}`);
  });
  await checks.run(`${name}: every value conforms to its schema`, () => schemas.expectValid(manifests));
  await checks.run(`${name}: every field is in its schema`, () => schemas.expectKnownFields(manifests));
  await checks.run(`${name}: network policies, autoscalers and Secrets are as the values say`, () => {
    const found = Object.entries(specs).flatMap(([manifest, fields]) => differences(manifests, manifest, fields));
    expect(found.length === 0, found.join('\n'));
  });
  await checks.run(`${name}: the API sleeps before SIGTERM as long as the values say`, () => {
    const api = manifests.find(({ kind, metadata }) => kind === 'Deployment' && metadata.name.endsWith('-api'));
    const sleeps = api.spec.template.spec.containers[0].lifecycle?.preStop.sleep.seconds;
    expect(sleeps === drainSeconds, `It sleeps for ${sleeps} s`);
  });
  await checks.run(`${name}: the settings of one process take precedence`, () => {
    for (const [process, wanted] of Object.entries(settings)) {
      const workload = manifests.find(({ kind, metadata }) => kind === 'Deployment' && metadata.name.endsWith(process));
      const { env } = workload.spec.template.spec.containers[0];
      for (const [setting, value] of Object.entries(wanted)) {
        const found = env.find(({ name }) => name === setting)?.value;
        expect(found === value, `${setting} of the ${process} is ${found}`);
      }
    }
  });
  for (const { title, problems } of RULES) {
    await checks.run(`${name}: ${title}`, () => {
      const found = problems(manifests);
      expect(found.length === 0, found.join('\n'));
    });
  }
}

/** Returns a line for each field of a specification that differs. */
function differences(manifests, name, fields) {
  const { spec } = manifests.find(({ kind, metadata }) => `${kind} ${metadata.name}` === name);
  return Object.entries(fields).flatMap(([path, wanted]) => {
    const found = path.split('.').reduce((value, key) => value?.[key], spec);
    return isDeepStrictEqual(found, wanted) ? [] : [`${name}: ${path} is ${JSON.stringify(found)}`];
  });
}

async function expectRefusal(helm, values, message) {
  const reason = await helm.template([...file('required'), '--set', values]).then(
    () => undefined,
    ({ details }) => details.join('\n'),
  );
  expect(reason !== undefined, 'It was rendered');
  const isClear = typeof message === 'string' ? reason.includes(message) : message.test(reason);
  expect(isClear, `The message is: ${reason}`);
}
