import { preferencesOf, type Preferences } from './prefer.js';

const NONE: Preferences = { respondAsync: false };

describe('preferencesOf', () => {
  it.each<[string | string[] | undefined, Preferences]>([
    [undefined, NONE],
    ['', NONE],
    ['respond-async', { respondAsync: true }],
    ['Respond-Async', { respondAsync: true }],
    ['respond-async=""', { respondAsync: true }],
    ['wait=5', { respondAsync: false, waitMs: 5000 }],
    ['wait=0', { respondAsync: false, waitMs: 0 }],
    ['WAIT = "5"', { respondAsync: false, waitMs: 5000 }],
    ['respond-async, wait=5', { respondAsync: true, waitMs: 5000 }],
    [' wait=5 ,respond-async ', { respondAsync: true, waitMs: 5000 }],
    [['respond-async', 'wait=5'], { respondAsync: true, waitMs: 5000 }],
    ['wait=5; for="ever", respond-async; now', { respondAsync: true, waitMs: 5000 }],
    ['return=minimal, handling=lenient, wait=1', { respondAsync: false, waitMs: 1000 }],
    ['wait=1, wait=9', { respondAsync: false, waitMs: 1000 }],
    ['wait=99999999999', { respondAsync: false, waitMs: 99_999_999_999_000 }],
    [`wait=${'9'.repeat(400)}`, { respondAsync: false, waitMs: Infinity }],
  ])('preferencesOf parses %j', (header, preferences) => {
    expect(preferencesOf(header)).toEqual(preferences);
  });

  it.each([
    'respond-async=yes',
    'respond-asynchronously',
    'respond async',
    'respond-async"',
    '"respond-async"',
    'wait',
    'wait=',
    'wait=-1',
    'wait=1.5',
    'wait=1e3',
    'wait=soon',
    'wait=5 5',
    'wait="5',
    '=5',
    ';;, ,,',
    'note="a, respond-async, wait=5"',
  ])('preferencesOf ignores a malformed or unknown preference: %j', (header) => {
    expect(preferencesOf(header)).toEqual(NONE);
  });

  it('preferencesOf parses valid preferences next to malformed ones', () => {
    expect(preferencesOf('wait=soon, =, respond-async, wait=2')).toEqual({ respondAsync: true, waitMs: 2000 });
  });
});
