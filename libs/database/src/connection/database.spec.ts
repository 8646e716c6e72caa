import { ConfigError } from '@app/runtime';
import { checkMongodbUri } from './database.js';

describe('checkMongodbUri', () => {
  it.each([
    ['is not a URI of MongoDB', 'http://127.0.0.1', 'MONGODB_URI is not valid'],
    ['asks for stale reads', 'mongodb://a/?readPreference=secondary&maxStalenessSeconds=120', 'maxStalenessSeconds'],
  ])('checkMongodbUri throws a ConfigError if the URI %s', (_, uri, message) => {
    expect(() => {
      checkMongodbUri(uri);
    }).toThrow(ConfigError);
    expect(() => {
      checkMongodbUri(uri);
    }).toThrow(message);
  });
});
