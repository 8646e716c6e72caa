import { mongo, MongooseError } from 'mongoose';
import { DatabaseTimeout } from './deadline.js';

/**
 * Server errors that say nothing about the operation itself: no primary, shutting down, interrupted,
 * the write concern not confirmed in time.
 * Source: MongoDB's error_codes.yml, categories RetriableError and InterruptionError.
 */
const AWAY_CODES = new Set([
  6, 7, 50, 63, 64, 79, 89, 91, 100, 134, 150, 189, 202, 234, 262, 317, 358, 384, 9001, 10058, 10107, 11600, 11602,
  13388, 13435, 13436, 50915,
]);

const BAD_VALUE = 2;
const UNAUTHORIZED = 13;

/**
 * Whether MongoDB was away, changing its primary or too slow, rather than refusing the operation.
 * A write that failed so may still have been done.
 */
export function isDatabaseAway(error: unknown): boolean {
  if (error instanceof DatabaseTimeout) return true;
  if (error instanceof mongo.MongoBulkWriteError) return isBulkAway(error);
  if (error instanceof mongo.MongoServerError) {
    return error instanceof mongo.MongoWriteConcernError || AWAY_CODES.has(Number(error.code));
  }
  // What the driver throws without an answer of the server is about the way to it, unless the document is to
  // blame. Mongoose's own plain error says that nothing is connected yet; its others are about documents too.
  if (error instanceof mongo.MongoError) return !(error instanceof mongo.MongoInvalidArgumentError);
  return error instanceof MongooseError && error.name === 'MongooseError';
}

/** Whether a query was refused because the index that it was to be served by is not there. */
export function isIndexMissing(error: unknown): boolean {
  return error instanceof mongo.MongoServerError && error.code === BAD_VALUE && error.message.includes('hint');
}

/** Whether MongoDB refused an operation because its user may not do it. */
export function isNotAllowed(error: unknown): boolean {
  return error instanceof mongo.MongoServerError && error.code === UNAUTHORIZED;
}

function isBulkAway(error: mongo.MongoBulkWriteError): boolean {
  if (error.result.getWriteConcernError() !== undefined) return true;
  const codes = [error.writeErrors].flat().map(({ code }) => code);
  // Without errors of single documents it is the whole write that failed; without a code the server never answered.
  return codes.length === 0
    ? error.code === undefined || AWAY_CODES.has(Number(error.code))
    : codes.some((code) => AWAY_CODES.has(code));
}
