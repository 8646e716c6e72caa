import { unwrap } from './envelope.js';

/** Returns the class name of each field of an input. For a marked field it is the name that zod's messages show. */
const classesIn = (input: unknown): Record<string, string> =>
  Object.fromEntries(
    Object.entries(input as object).map(([field, value]) => [field, (value as object).constructor.name]),
  );

describe('unwrap', () => {
  it.each([[{ json: 1 }], [{ json: {}, meta: [] }], [{ json: null, meta: [[99, 'x']] }]])(
    'unwrap returns the input of the envelope %j',
    (body) => {
      expect(unwrap(body)).toEqual({ input: body.json, enveloped: true });
    },
  );

  it.each([
    [null],
    [undefined],
    ['json'],
    [[]],
    [{}],
    [{ page: 1 }],
    [{ meta: [] }],
    [{ json: {}, meta: {} }],
    [{ json: {}, meta: null }],
    [{ json: {}, more: 1 }],
    [Object.create({ json: {} })],
    [JSON.parse('{"json":{},"__proto__":1}')],
  ])('unwrap treats %j as the input itself', (body: unknown) => {
    expect(unwrap(body)).toEqual({ input: body, enveloped: false });
    expect(unwrap(body).input).toBe(body);
  });

  it('unwrap marks each field that meta names by the first step of its path', () => {
    const meta = [
      [1, 'a'],
      [0, 'b', 0, 'c'],
      ['date', 'absent'],
    ];
    const { input } = unwrap({ json: { a: 1, b: [{ c: 1 }], d: 2 }, meta });
    const native = 'a native type (oRPC meta)';
    expect(classesIn(input)).toEqual({ a: native, b: native, absent: native, d: 'Number' });
  });

  it.each([[[1, 0]], [[1, null]], [[1, {}]], [[1, ['a']]]])(
    'unwrap ignores a path that names no field: %j',
    (entry) => {
      expect(unwrap({ json: { a: 1 }, meta: [entry] }).input).toEqual({ a: 1 });
    },
  );

  it.each([[[]], [[1]], [1], [null], ['a'], [{}]])(
    'unwrap returns no input for a meta entry without a path: %j',
    (entry) => {
      expect(unwrap({ json: { a: 1 }, meta: [[1, 'a'], entry] })).toEqual({ input: undefined, enveloped: true });
    },
  );

  it.each([[[1]], ['x'], [null], [5]])('unwrap returns the input %j, which has no fields, unchanged', (json) => {
    expect(unwrap({ json, meta: [[1, 'a']] }).input).toBe(json);
  });

  it('unwrap never sets the prototype of the input', () => {
    const { input } = unwrap({
      json: { a: 1 },
      meta: [
        [1, '__proto__', 'polluted'],
        [1, 'constructor'],
      ],
    });
    expect(Object.getPrototypeOf(input)).toBe(Object.prototype);
    expect(Object.keys(input as object).sort()).toEqual(['__proto__', 'a', 'constructor']);
    expect({}).not.toHaveProperty('polluted');
  });

  it('unwrap does not modify the body', () => {
    const body = { json: { a: 1 }, meta: [[1, 'a']] };
    unwrap(body);
    expect(body).toEqual({ json: { a: 1 }, meta: [[1, 'a']] });
  });
});
