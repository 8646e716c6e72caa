import { cp, mkdtemp, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** The folder of the project. */
export const ROOT = join(__dirname, '..', '..');

/** Copies files and folders of the project to a new folder, and links its `node_modules` there. Returns the folder. */
export async function copyCheckout(prefix: string, names: readonly string[]): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), prefix));
  for (const name of names) await cp(join(ROOT, name), join(folder, name), { recursive: true });
  await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'), 'junction');
  return folder;
}
