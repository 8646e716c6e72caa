// Outlives the launcher that started it. If the launcher is killed before it can clean up, the pipe between them
// closes, and everything that the launcher had started is stopped here.
//
// Lines on stdin: `+{target}` started, `-pid` exited, `~folder` to remove at the end, `done` nothing left to do.
import { createInterface } from 'node:readline';
import { stopInOrder } from './stop-in-order.mjs';
import { removeTemporaryFolder } from './temporary-folder.mjs';

const GRACE_MS = 10_000;

const targets = new Map();
const folders = new Set();
let isDone = false;

const handlers = {
  '+': (text) => {
    const target = JSON.parse(text);
    targets.set(target.pid, { ...target, graceMs: GRACE_MS });
  },
  '-': (text) => targets.delete(Number(text)),
  '~': (text) => folders.add(text),
  d: () => (isDone = true),
};

// The signals that end the launcher must not end the process that cleans up after it.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => {});

for await (const line of createInterface({ input: process.stdin })) handlers[line[0]]?.(line.slice(1));

if (!isDone) {
  await stopInOrder([...targets.values()]);
  for (const folder of folders) removeTemporaryFolder(folder);
}
