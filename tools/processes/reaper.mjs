// Outlives the launcher that started it. If the launcher is killed before it can clean up, the IPC channel between them
// closes, and everything that the launcher had started is stopped here.
import { rmSync } from 'node:fs';
import { stopInOrder } from './stop-in-order.mjs';

const MAX_GRACE_MS = 10_000;

// Not `node`, so that `killall node` does not end it together with the launcher.
process.title = 'item-reaper';

/** What is running, and what to remove. */
let state = { targets: [], paths: [] };

process.on('message', (message) => (state = message));
process.on('disconnect', async () => {
  const { targets, paths } = state;
  await stopInOrder(targets.map((target) => ({ ...target, graceMs: Math.min(target.graceMs, MAX_GRACE_MS) })));
  for (const path of paths) rmSync(path, { recursive: true, force: true, maxRetries: 3 });
});
