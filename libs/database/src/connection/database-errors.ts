import { TimeoutError } from '@app/runtime';
import mongoose, { mongo, MongooseError } from 'mongoose';

/**
 * Server errors that say nothing about the operation itself: no primary, a shutdown, an interruption, a cursor that was
 * lost, an index that was dropped while a query used it, a collection that is too new for a snapshot, a write concern
 * that was not satisfied in time, or a password that was changed. Source: MongoDB's error_codes.yml, categories
 * RetriableError and Interruption, CursorNotFound, FailedToSatisfyReadPreference, QueryPlanKilled, SnapshotUnavailable and
 * AuthenticationFailed.
 */
const UNAVAILABLE_CODES = new Set([
  6, 7, 18, 43, 50, 63, 64, 79, 89, 91, 100, 133, 134, 150, 175, 189, 202, 234, 237, 246, 262, 317, 358, 384, 9001,
  10058, 10107, 11600, 11601, 11602, 13388, 13435, 13436, 50915,
]);

/** Errors of Node's sockets, which the driver does not wrap if a server closes a connection at that moment. */
const SOCKET_CODES = new Set(['EPIPE', 'ECONNRESET']);

/** Errors of reads that took too long, or that an operator has killed: MaxTimeMSExpired, CursorKilled, Interrupted. */
const ENDED_READ_CODES = new Set([50, 237, 11601]);

const BAD_VALUE = 2;
const UNAUTHORIZED = 13;
const USER_WRITES_BLOCKED = 371;

/**
 * Returns whether MongoDB was unavailable, electing a primary or too slow, rather than rejecting the operation.
 * A write that fails with such an error may still have been applied.
 */
export function isDatabaseUnavailable(error: unknown): boolean {
  if (error instanceof TimeoutError || isOverloaded(error)) return true;
  if (error instanceof mongo.MongoBulkWriteError) return isBulkUnavailable(error);
  if (error instanceof mongo.MongoServerError) {
    return error instanceof mongo.MongoWriteConcernError || UNAVAILABLE_CODES.has(Number(error.code));
  }
  // An error that the driver throws without a response from the server is about the connection, unless an argument is
  // invalid. Mongoose's base error means that there is no connection yet. Its subclasses are about documents.
  if (error instanceof mongo.MongoError) return !(error instanceof mongo.MongoInvalidArgumentError);
  if (error instanceof MongooseError) return error.name === 'MongooseError';
  return error instanceof Error && 'code' in error && SOCKET_CODES.has(String(error.code));
}

/** Returns whether connecting failed because the servers belong to a replica set that has never been initiated. */
export function isReplicaSetMissing(error: unknown): boolean {
  if (!(error instanceof mongoose.Error.MongooseServerSelectionError)) return false;
  const { reason } = error as { reason?: mongo.TopologyDescription };
  const servers = [...(reason?.servers.values() ?? [])];
  // A single member may have been replaced. The set still exists if another member may hold its configuration.
  return servers.length > 0 && servers.every(({ type }) => type === mongo.ServerType.RSGhost);
}

/**
 * Returns in one line why MongoDB does not do what it was asked to. The line has no credentials. Do not use it for
 * errors about the data of an operation, whose messages quote the data.
 */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown error';
  // After this, MongoDB quotes the whole command.
  const [reason = ''] = error.message.split(/\n| to execute command /);
  return reason === '' ? error.name : reason;
}

/**
 * Returns whether another attempt to read may succeed: the connection broke, or the server is no longer primary. A read
 * that took too long, or that an operator has killed, would only be repeated. An overloaded server needs time first.
 */
export function isReadRetryable(error: unknown): boolean {
  if (error instanceof mongo.MongoServerError)
    return isDatabaseUnavailable(error) && !isOverloaded(error) && !ENDED_READ_CODES.has(Number(error.code));
  return error instanceof mongo.MongoNetworkError;
}

/** Returns whether MongoDB responded with one of these error codes. */
export function hasCode(error: unknown, ...codes: readonly number[]): error is mongo.MongoServerError {
  return error instanceof mongo.MongoServerError && codes.includes(Number(error.code));
}

/** Returns whether a query was rejected because the index in its hint does not exist. */
export function isIndexMissing(error: unknown): boolean {
  return hasCode(error, BAD_VALUE) && error.message.includes('hint');
}

/** Returns whether MongoDB rejected an operation because the user is not authorized. */
export function isNotAllowed(error: unknown): boolean {
  return hasCode(error, UNAUTHORIZED);
}

/**
 * Returns whether MongoDB rejects all writes at present, whatever they contain: the user is not authorized, for example
 * because it has lost its role, or writes are blocked, for example during a migration.
 */
export function areWritesRefused(error: unknown): boolean {
  return hasCode(error, UNAUTHORIZED, USER_WRITES_BLOCKED);
}

/** Returns the error of a bulk write in which MongoDB rejected single documents. Throws any other error. */
export function partialFailure(error: unknown): mongo.MongoBulkWriteError {
  const isPartial = error instanceof mongo.MongoBulkWriteError && [error.writeErrors].flat().length > 0;
  if (!isPartial || isDatabaseUnavailable(error)) throw error;
  return error;
}

/** Returns whether a server is overloaded (https://www.mongodb.com/docs/atlas/overload-errors/), whatever the code. */
function isOverloaded(error: unknown): boolean {
  return error instanceof mongo.MongoError && error.hasErrorLabel(mongo.MongoErrorLabel.SystemOverloadedError);
}

function isBulkUnavailable(error: mongo.MongoBulkWriteError): boolean {
  if (error.result.getWriteConcernError() !== undefined) return true;
  const codes = [error.writeErrors].flat().map(({ code }) => code);
  // Without errors for single documents, the whole write failed. Without a code, the server never responded.
  return codes.length === 0
    ? error.code === undefined || UNAVAILABLE_CODES.has(Number(error.code))
    : codes.some((code) => UNAVAILABLE_CODES.has(code));
}
