import { faults } from './faults.js';
import { Stores } from './stores.js';
import { expectSurvived } from './survival.js';

jest.setTimeout(600_000);

const { steppedDown, ...others } = faults;

describe.each([
  { members: 1, fault: Object.values(others) },
  { members: 3, fault: [steppedDown] },
] as const)('no item is lost or duplicated with $members MongoDB', ({ members, fault }) => {
  let stores: Stores;
  const report: string[] = [];

  beforeAll(async () => {
    stores = await Stores.start(members);
    report.push(`With ${await stores.versions()}:\n`);
  });
  afterAll(async () => {
    await stores.remove();
    process.stdout.write(report.join(''));
  });

  it.each([...fault])('no item is lost or duplicated despite $name', async (fault) => {
    const { attempts, recoveredMs } = await expectSurvived(stores, fault);
    report.push(`${fault.name}: ${String(attempts)} attempts, recovered after ${String(recoveredMs)} ms\n`);
  });
});
