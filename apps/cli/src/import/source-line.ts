import { issuesOf, type InputIssue } from '@app/contracts';
import type { ZodType } from 'zod';

/** One line of the input and its value, not validated yet. */
export interface SourceLine {
  /** Counted from 1; of a record that spans several lines, the first. */
  number: number;
  text: string;
  value: unknown;
}

/** A line that is not stored, and why. */
export interface RejectedLine {
  number: number;
  text: string;
  reasons: InputIssue[];
}

export function rejected({ number, text }: Omit<RejectedLine, 'reasons'>, ...reasons: InputIssue[]): RejectedLine {
  return { number, text, reasons };
}

/** A reason that is about the line as a whole. */
export function wholeLine(message: string): InputIssue {
  return { path: [], message };
}

/** The lines that fit the schema, each with what it says, and the others with all their reasons. */
export function validate<Valid>(
  schema: ZodType<Valid>,
  lines: readonly SourceLine[],
): { valid: (SourceLine & { data: Valid })[]; rejects: RejectedLine[] } {
  const valid: (SourceLine & { data: Valid })[] = [];
  const rejects: RejectedLine[] = [];
  for (const line of lines) {
    const result = schema.safeParse(line.value);
    if (result.success) valid.push({ ...line, data: result.data });
    else rejects.push(rejected(line, ...issuesOf(result.error)));
  }
  return { valid, rejects };
}
