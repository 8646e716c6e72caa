import { issuesOf, type InputIssue } from '@app/contracts';
import type { ZodType } from 'zod';

/** A line of the input and its value, which is not validated yet. */
export interface SourceLine {
  /** Counted from 1. For a record that spans several lines, the number of the first. */
  number: number;
  text: string;
  value: unknown;
}

/** A line that is not stored, and the reasons. */
export interface RejectedLine {
  number: number;
  text: string;
  reasons: InputIssue[];
}

export function rejected({ number, text }: Omit<RejectedLine, 'reasons'>, ...reasons: InputIssue[]): RejectedLine {
  return { number, text, reasons };
}

/** Returns a reason that concerns the line as a whole. */
export function wholeLine(message: string): InputIssue {
  return { path: [], message };
}

/** Returns the lines that match the schema, with their parsed data, and the other lines, with all reasons. */
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
