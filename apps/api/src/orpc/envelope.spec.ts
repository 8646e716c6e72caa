import { unwrap } from './envelope.js';

/** The names of the classes of an input's fields: those marked as native tell theirs to zod's messages. */
const classesIn = (input: unknown): Record<string, string> =>
  Object.fromEntries(
    Object.entries(input as object).map(([field, value]) => [field, (value as object).constructor.name]),
  );

describe('unwrap', () => {
  it.each([[{ json: 1 }], [{ json: {}, meta: [] }], [{ json: null, meta: [[99, 'x']] }]])('opens %j', (body) => {
    expect(unwrap(body)).toEqual({ input: body.json, enveloped: true });
  });

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
  ])('leaves %j as it is', (body: unknown) => {
    expect(unwrap(body)).toEqual({ input: body, enveloped: false });
    expect(unwrap(body).input).toBe(body);
  });

  it('marks each field that meta names, by the first step of its path', () => {
    const meta = [
      [1, 'a'],
      [0, 'b', 0, 'c'],
      ['date', 'absent'],
    ];
    const { input } = unwrap({ json: { a: 1, b: [{ c: 1 }], d: 2 }, meta });
    const native = 'a native type (oRPC meta)';
    expect(classesIn(input)).toEqual({ a: native, b: native, absent: native, d: 'Number' });
  });

  it.each([[[1, 0]], [[1, null]], [[1, {}]], [[1, ['a']]]])('passes over a path that names no field: %j', (entry) => {
    expect(unwrap({ json: { a: 1 }, meta: [entry] }).input).toEqual({ a: 1 });
  });

  it.each([[[]], [[1]], [1], [null], ['a'], [{}]])('takes nothing for the input where no path is: %j', (entry) => {
    expect(unwrap({ json: { a: 1 }, meta: [[1, 'a'], entry] })).toEqual({ input: undefined, enveloped: true });
  });

  it.each([[[1]], ['x'], [null], [5]])('leaves the input %j, which has no fields', (json) => {
    expect(unwrap({ json, meta: [[1, 'a']] }).input).toBe(json);
  });

  it('never sets a prototype', () => {
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

  it('keeps the body it was given', () => {
    const body = { json: { a: 1 }, meta: [[1, 'a']] };
    unwrap(body);
    expect(body).toEqual({ json: { a: 1 }, meta: [[1, 'a']] });
  });
});
