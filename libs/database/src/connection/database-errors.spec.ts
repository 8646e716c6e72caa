import { mongo } from 'mongoose';
import { isDatabaseUnavailable, isReadRetryable } from './database-errors.js';

const { MongoBulkWriteError, MongoErrorLabel, MongoServerError } = mongo;
const [DUPLICATE_KEY, RATE_LIMIT_EXCEEDED] = [11000, 462];
const OVERLOADED = {
  message: 'too many requests',
  code: RATE_LIMIT_EXCEEDED,
  errorLabels: [MongoErrorLabel.SystemOverloadedError, MongoErrorLabel.RetryableError],
};

/** Returns the error of a bulk write whose command failed. */
const bulkError = (error: mongo.MongoServerError): mongo.MongoBulkWriteError => {
  const result = { getWriteConcernError: () => undefined } as mongo.BulkWriteResult;
  return new MongoBulkWriteError(error, result);
};

describe('isDatabaseUnavailable', () => {
  it.each(['EPIPE', 'ECONNRESET'])(
    'isDatabaseUnavailable returns true for the %s of a socket, which the driver passes on',
    (code) => {
      expect(isDatabaseUnavailable(Object.assign(new Error('This socket has been ended'), { code }))).toBe(true);
    },
  );

  it('isDatabaseUnavailable returns true for an error of an overloaded server, whatever its code', () => {
    expect(isDatabaseUnavailable(new MongoServerError(OVERLOADED))).toBe(true);
    expect(isDatabaseUnavailable(bulkError(new MongoServerError(OVERLOADED)))).toBe(true);
    const unlabelled = { ...OVERLOADED, errorLabels: [] };
    expect(isDatabaseUnavailable(new MongoServerError(unlabelled))).toBe(false);
    expect(isDatabaseUnavailable(bulkError(new MongoServerError(unlabelled)))).toBe(false);
  });

  it.each([
    ['the cursor of a read was lost with its server', 43],
    ['a sharded cluster finds no primary', 133],
    ['the cursor of a read was killed', 237],
  ])('isDatabaseUnavailable returns true if %s', (_, code) => {
    expect(isDatabaseUnavailable(new MongoServerError({ message: 'failed', code }))).toBe(true);
  });

  it.each([
    new Error('a bug'),
    Object.assign(new Error('a bug'), { code: 'ERR_INVALID_ARG_TYPE' }),
    new MongoServerError({ message: 'duplicate key', code: DUPLICATE_KEY }),
    undefined,
  ])('isDatabaseUnavailable returns false for other errors: %s', (error) => {
    expect(isDatabaseUnavailable(error)).toBe(false);
  });
});

describe('isReadRetryable', () => {
  it.each([
    ['the cursor was lost with its server', 43, true],
    ['a sharded cluster finds no primary', 133, true],
    ['the cursor was killed', 237, false],
    ['the query was killed', 11601, false],
    ['the time limit has passed', 50, false],
  ])('if %s (%i), isReadRetryable returns %s', (_, code, expected) => {
    expect(isReadRetryable(new MongoServerError({ message: 'failed', code }))).toBe(expected);
  });

  it('isReadRetryable returns false if the server is overloaded, whatever the code', () => {
    expect(isReadRetryable(new MongoServerError(OVERLOADED))).toBe(false);
    expect(isReadRetryable(new MongoServerError({ ...OVERLOADED, code: 189 }))).toBe(false);
  });
});
