import { setImmediate as nextTurn } from 'node:timers/promises';
import { NewConnections } from './new-connections.js';

describe('NewConnections', () => {
  let connections: NewConnections;
  beforeEach(() => {
    connections = new NewConnections();
  });
  afterEach(() => {
    jest.restoreAllMocks();
  });

  it('the wait for new connections is skipped if no connection has arrived', () => {
    expect(connections.accepted).toBeUndefined();
  });

  it('the wait for new connections ends after a turn without one', async () => {
    // A pause of this process must not use up the longest wait.
    jest.spyOn(performance, 'now').mockReturnValue(0);
    let isAccepted = false;
    connections.add();
    void connections.accepted?.then(() => (isAccepted = true));
    for (let turn = 0; turn < 3; turn += 1) {
      await nextTurn();
      expect(isAccepted).toBe(false);
      connections.add();
    }
    await connections.accepted;
    expect(connections.accepted).toBeUndefined();
  });

  it('the wait for new connections is short even while connections keep arriving', async () => {
    connections.add();
    const isAccepted = connections.accepted?.then(() => true);
    const since = performance.now();
    while (performance.now() - since < 100) {
      connections.add();
      await nextTurn();
    }
    expect(await Promise.race([isAccepted, nextTurn(false)])).toBe(true);
  });
});
