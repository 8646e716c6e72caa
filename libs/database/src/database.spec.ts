import { ConfigError } from '@app/runtime';
import { mongo } from 'mongoose';
import { checkMongodbUri, Database } from './database.js';

const [UNAUTHORIZED, DOCUMENT_VALIDATION_FAILURE] = [13, 121];

describe('checkMongodbUri', () => {
  it.each([
    ['is not a URI of MongoDB', 'http://127.0.0.1', 'MONGODB_URI is not valid'],
    ['asks for stale reads', 'mongodb://a/?readPreference=secondary&maxStalenessSeconds=120', 'maxStalenessSeconds'],
  ])('throws a ConfigError if the URI %s', (_, uri, message) => {
    expect(() => {
      checkMongodbUri(uri);
    }).toThrow(ConfigError);
    expect(() => {
      checkMongodbUri(uri);
    }).toThrow(message);
  });
});

describe('Database.skipValidator', () => {
  let database: Database;
  let options: object[];
  beforeEach(() => {
    database = new Database({ uri: 'mongodb://127.0.0.1:1', serverSelectionMs: 1, socketMs: 1 });
    options = [];
  });
  afterEach(() => database.close());

  /** A write of a user without the privilege. */
  const write = (option: { bypassDocumentValidation: boolean }): Promise<string> => {
    options.push(option);
    return option.bypassDocumentValidation
      ? Promise.reject(new mongo.MongoServerError({ code: UNAUTHORIZED }))
      : Promise.resolve('written');
  };

  it('writes again with the validator if the user may not skip it, and does not ask again', async () => {
    expect(await database.skipValidator(write)).toBe('written');
    expect(await database.skipValidator(write)).toBe('written');
    expect(options.map(Object.values).flat()).toEqual([true, false, false]);
  });

  it('does not write again after another error', async () => {
    const error = new mongo.MongoServerError({ code: DOCUMENT_VALIDATION_FAILURE });
    const failing = database.skipValidator((option) => {
      options.push(option);
      return Promise.reject(error);
    });
    await expect(failing).rejects.toBe(error);
    expect(options).toHaveLength(1);
  });
});
