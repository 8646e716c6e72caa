import { uniqueWord, validInput } from './support/items.js';
import { startService, type Service } from './support/service.js';

/** Concurrent reads share work, and results are not cached. `single-flight.spec.ts` covers what reads may share. */
describe('concurrent reads', () => {
  let service: Service;
  beforeAll(async () => {
    service = await startService();
  });
  afterAll(() => service.stop());

  /** Does the work while clients read in a loop. Two are enough to share reads, and more would slow down the creates. */
  async function whileOthersRead<T>(read: () => Promise<unknown>, work: () => Promise<T>): Promise<T> {
    let isOver = false;
    const readers = Array.from({ length: 2 }, async () => {
      while (!isOver) await read();
    });
    return work().finally(async () => {
      isOver = true;
      await Promise.all(readers);
    });
  }

  it('concurrent reads return an item as soon as its create has responded, in a list that many read and by id', async () => {
    const { api } = service;
    const { id: known } = await api.create(validInput());
    const page = { pageSize: 5 };
    const readBoth = (): Promise<unknown> => Promise.all([api.getAll(page), api.call('getById', { id: known })]);
    await whileOthersRead(readBoth, async () => {
      for (let count = 0; count < 30; count++) {
        const created = await api.create(validInput({ name: uniqueWord() }));
        const [list, one] = await Promise.all([api.getAll(page), api.call('getById', { id: created.id })]);
        expect(list[0]).toEqual(created);
        expect(one.body).toEqual(created);
      }
    });
  });

  it('concurrent reads are kept apart when any field differs', async () => {
    const { api } = service;
    const [name, other] = [uniqueWord(), uniqueWord()];
    await api.create(validInput({ name, categoryId: '801' }));
    await api.create(validInput({ name: other, categoryId: '802' }));
    const inputs = [
      { categoryId: '801' },
      { categoryId: '802' },
      { categoryId: '801', status: 'sold' },
      { categoryId: '801', page: 2 },
      { categoryId: '801', userId: 'nobody' },
      { categoryId: '801', search: other },
    ];
    const lists = await Promise.all([...inputs, ...inputs].map((input) => api.getAll(input)));
    const expected = [[name], [other], [], [], [], []];
    expect(lists.map((list) => list.map((item) => item.name))).toEqual([...expected, ...expected]);
  });

  it('concurrent reads respond to each request in its own form', async () => {
    const { api } = service;
    const [plain, enveloped] = await Promise.all([
      api.call<unknown[]>('getAll', { pageSize: 1 }),
      api.call<{ json: unknown[] }>('getAll', { json: { pageSize: 1 } }),
      api.call('getAll', { pageSize: 1 }),
    ]);
    expect(plain.body).toHaveLength(1);
    expect(enveloped.body).toEqual({ json: plain.body });
  });
});
