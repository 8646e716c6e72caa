import { faults } from './faults.js';
import { Stores } from './stores.js';
import { expectSurvived } from './trial.js';

jest.setTimeout(600_000);

const { steppedDown, ...others } = faults;

describe.each([
  { members: 1, fault: Object.values(others) },
  { members: 3, fault: [steppedDown] },
] as const)('no item is lost or duplicated with $members MongoDB', ({ members, fault }) => {
  let stores: Stores;
  const survivals: string[] = [];

  beforeAll(async () => {
    stores = await Stores.start(members);
    survivals.push(`With ${await stores.versions()}:\n`);
  });
  afterAll(async () => {
    await stores.remove();
    process.stdout.write(survivals.join(''));
  });

  it.each([...fault])('despite $name', async (fault) => {
    const { attempts, recoveredMs } = await expectSurvived(stores, fault);
    survivals.push(`${fault.name}: ${String(attempts)} attempts, recovered after ${String(recoveredMs)} ms\n`);
  });
});
