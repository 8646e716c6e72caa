import { mongo } from 'mongoose';
import { hasCode } from '../connection/database-errors.js';

const LIMITS = { serverSelectionTimeoutMS: 2000, socketTimeoutMS: 30_000 };

/**
 * Runs an administrative command on the servers of a URI. Ignores errors with one of the codes `done`, which mean that it
 * was applied already.
 *
 * @throws if no server responds
 */
export async function runAdminCommand(uri: string, command: mongo.Document, done: readonly number[]): Promise<void> {
  const client = new mongo.MongoClient(uri, LIMITS);
  try {
    await client.db('admin').command(command);
  } catch (error) {
    if (!hasCode(error, ...done)) throw error;
  } finally {
    await client.close();
  }
}
