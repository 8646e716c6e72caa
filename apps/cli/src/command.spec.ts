import { printResult, type Result } from './command.js';

describe('printResult', () => {
  const printed = (result: Result, isJson: boolean): string => {
    const lines: string[] = [];
    printResult((line) => lines.push(line), result, isJson);
    return lines.join('\n');
  };

  it('printResult escapes control characters, except for the line breaks and tabs of stacks', () => {
    expect(printed({ lines: ['a\u001B[2J\r', 'Error: b\n\tat c'], json: null }, false)).toBe(
      'a\\u001b[2J\\u000d\nError: b\n\tat c',
    );
  });

  it('printResult escapes in JSON what JSON.stringify leaves', () => {
    const json = { reason: '\u009B2J\u202E' };
    const text = printed({ lines: [], json }, true);
    expect(text).toBe('{"reason":"\\u009b2J\\u202e"}');
    expect(JSON.parse(text)).toEqual(json);
  });
});
