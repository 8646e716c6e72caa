import { mongo } from 'mongoose';

const LIMITS = { serverSelectionTimeoutMS: 2000, socketTimeoutMS: 30_000 };

/** Runs an administrative command. Ignores errors with one of these codes, which mean that it was applied already. */
export type RunAdminCommand = (command: mongo.Document, done: readonly number[]) => Promise<void>;

/**
 * Connects to the servers of a URI, and disconnects after `use`.
 *
 * @throws if no server responds
 */
export async function withAdmin(uri: string, use: (run: RunAdminCommand) => Promise<void>): Promise<void> {
  const client = new mongo.MongoClient(uri, LIMITS);
  try {
    await client.connect();
    await use(async (command, done) => {
      try {
        await client.db('admin').command(command);
      } catch (error) {
        if (!hasCode(error, done)) throw error;
      }
    });
  } finally {
    await client.close();
  }
}

/** Whether MongoDB replied with one of these error codes. */
export function hasCode(error: unknown, codes: readonly number[]): boolean {
  return error instanceof mongo.MongoServerError && codes.includes(Number(error.code));
}
