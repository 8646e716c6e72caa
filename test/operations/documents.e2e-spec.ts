import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';

const ROOT = join(__dirname, '..', '..');
const DOCUMENTS = [
  ...readdirSync(ROOT).filter((name) => name.endsWith('.md')),
  join('libs', 'client', 'README.md'),
  ...readdirSync(join(ROOT, 'docs'), { recursive: true })
    .map((name) => join('docs', String(name)))
    .filter((name) => name.endsWith('.md')),
];

function read(document: string): string {
  return readFileSync(join(ROOT, document), 'utf8');
}

/** Returns the anchors of a document's headings, as GitHub makes them. */
function anchorsOf(document: string): string[] {
  const headings = withoutCode(read(document)).match(/^#{1,6} .+$/gm) ?? [];
  return headings.map((heading) =>
    heading
      .replace(/^#+ /, '')
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );
}

function withoutCode(text: string): string {
  return text.replace(/^```[\s\S]*?^```/gm, '');
}

/** Returns the relative links of a document whose file or heading does not exist. */
function brokenLinksOf(document: string): string[] {
  const links = [...withoutCode(read(document)).matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = '']) => link);
  return links.filter((link) => {
    if (/^(https?|mailto):/.test(link)) return false;
    const [path = '', anchor] = link.split('#');
    const target = path === '' ? document : normalize(join(dirname(document), path));
    if (!existsSync(join(ROOT, target))) return true;
    return anchor !== undefined && !anchorsOf(target).includes(anchor);
  });
}

const FOLDERS = ['apps', 'libs', 'tools', 'bench', 'test', 'deploy', 'docs'];
const PATH = new RegExp(`\`((?:${FOLDERS.join('|')})(?:/[\\w.-]+)*)\``, 'g');

function pathsIn(text: string): string[] {
  return [...text.matchAll(PATH)].map(([, path = '']) => path);
}

/** Returns the folders of the files that a text names, and the folders themselves. */
function foldersIn(text: string): string[] {
  return pathsIn(text).map((path) => (path.includes('.') ? dirname(path) : path));
}

/**
 * Returns the names of files, other than whole paths, that are wrong: not exactly once in the folders that their row or
 * sentence names, or else those of the first line of their section. If neither names any, the file may be anywhere.
 */
function wrongNamesIn(document: string): string[] {
  const files = FOLDERS.flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true }).map((name) => `${folder}/${String(name)}`),
  );
  return document.split(/^## .*\n+/m).flatMap((section) => {
    const lines = section.split('\n');
    const shared = foldersIn(lines[0] ?? '');
    const parts = lines.flatMap((line) => (line.startsWith('|') ? [line] : line.split(/(?<=\.) /)));
    return parts.flatMap((part) => {
      const folders = [foldersIn(part), shared].find(({ length }) => length > 0);
      const names = [...part.matchAll(/`([\w./-]+\.m?[jt]s)`/g)].map(([, name = '']) => name);
      return names.flatMap((name) => {
        if (pathsIn(part).includes(name)) return [];
        const found = files.filter((file) => file.endsWith(`/${name}`));
        if (folders === undefined) return found.length > 0 ? [] : [name];
        const inside = found.filter((file) => folders.some((folder) => file.startsWith(`${folder}/`)));
        return inside.length === 1 ? [] : [name];
      });
    });
  });
}

describe('the documents', () => {
  it.each(DOCUMENTS)('documents have links that lead somewhere: %s', (document) => {
    expect(brokenLinksOf(document)).toEqual([]);
  });

  it('ARCHITECTURE.md names files and folders that exist', () => {
    const architecture = read('ARCHITECTURE.md');
    const paths = pathsIn(architecture);
    expect(paths.length).toBeGreaterThan(20);
    const rows = [...architecture.matchAll(/^\| `([^`]+)` +\|/gm)].map(([, path = '']) => path);
    expect(rows.length).toBeGreaterThan(20);
    expect([...paths, ...rows].filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
    expect(wrongNamesIn(architecture)).toEqual([]);
  });

  it.each([
    ['README.md', 150],
    ['ARCHITECTURE.md', 120],
  ])('documents stay short: %s has at most %i lines', (document, most) => {
    expect(read(document).split('\n').length - 1).toBeLessThanOrEqual(most);
  });

  it('docs/configuration.md describes every setting', () => {
    const source = readFileSync(join(ROOT, 'libs', 'runtime', 'src', 'config', 'settings.ts'), 'utf8');
    const settings = [...source.matchAll(/^ {2}([A-Z][A-Z_]+): /gm)].map(([, name = '']) => name);
    expect(settings.length).toBeGreaterThan(15);
    const documented = read(join('docs', 'configuration.md'));
    expect(settings.filter((name) => !documented.includes(`\`${name}\``))).toEqual([]);
  });

  it('docs/configuration.md names every variable that docker-compose.yml passes on, among them the files of all secrets', () => {
    // Those without a value in docker-compose.yml.
    const passed = [...read('docker-compose.yml').matchAll(/^ +([A-Z_]+):$/gm)].map(([, name = '']) => name);
    const [, section = ''] = read(join('docs', 'configuration.md')).split('## Docker Compose');
    const documented = [...section.matchAll(/`([A-Z_]+\*?)`/g)].map(([, name = '']) => name);
    const isDocumented = (name: string): boolean =>
      documented.some((each) => each === name || (each.endsWith('*') && name.startsWith(each.slice(0, -1))));
    expect(passed.length).toBeGreaterThan(15);
    expect(passed.filter((name) => !isDocumented(name))).toEqual([]);
    const settings = read(join('libs', 'runtime', 'src', 'config', 'settings.ts'));
    const secrets = [...settings.matchAll(/^ {2}([A-Z_]+): (?:SECRET|secret\()/gm)].map(([, name = '']) => name);
    expect(secrets.length).toBeGreaterThan(5);
    // Compose sets the files of these itself.
    const own = ['MONGODB_URI', 'REDIS_URL'];
    expect(secrets.filter((name) => !own.includes(name) && !passed.includes(`${name}_FILE`))).toEqual([]);
  });
});
