import type { IncomingMessage } from 'node:http';

/** Returns how many headers of a request have this name. Node.js silently uses the first. @param name in lower case */
export function countHeader({ rawHeaders }: IncomingMessage, name: string): number {
  let count = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const each = rawHeaders[index];
    if (each?.length === name.length && each.toLowerCase() === name) count++;
  }
  return count;
}
