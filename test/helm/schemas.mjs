import { existsSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ROOT } from '../../tools/checkout/root.mjs';
import { cacheFolder } from '../../tools/embedded/cache-folder.mjs';
import { StepError } from '../../tools/steps.mjs';

/** Not among the dependencies of this checkout, because only this test needs them. They run on Node.js 20 too. */
const PACKAGES = {
  'kubernetes-models': '5.1.0',
  '@kubernetes-models/keda': '2.0.0',
  '@kubernetes-models/prometheus-operator': '6.0.0',
  yaml: '2.9.1',
};
const PACKAGE_OF_GROUP = {
  'keda.sh': '@kubernetes-models/keda',
  'monitoring.coreos.com': '@kubernetes-models/prometheus-operator',
};
const FOLDER = `kubernetes-models-${Object.values(PACKAGES).join('-')}`;
const INSTALL = ['install', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
const TSC = join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc');
const TSC_OPTIONS = ['--ignoreConfig', '--noEmit', '--strict', '--skipLibCheck', '--module', 'nodenext'];

/** The schemas of all kinds of manifests. */
export class Schemas {
  #launcher;
  #folder;
  #load;
  #yaml;

  /** Installs the schemas into the user's cache, unless they exist already. */
  static async install(launcher) {
    const folder = join(cacheFolder(), FOLDER);
    if (!existsSync(folder)) await launcher.steps.run('Install schemas (npm)', () => install(launcher, folder));
    const { load } = await import(pathToFileURL(join(folder, 'load.mjs')));
    return new Schemas(launcher, folder, load, await load('yaml'));
  }

  constructor(launcher, folder, load, yaml) {
    this.#launcher = launcher;
    this.#folder = folder;
    this.#load = load;
    this.#yaml = yaml;
  }

  /** Parses YAML. Returns its documents, except for empty ones. */
  parse(text) {
    const documents = this.#yaml.parseAllDocuments(text);
    const [error] = documents.flatMap(({ errors }) => errors);
    if (error) throw new StepError(error.message);
    return documents.map((document) => document.toJS()).filter((manifest) => manifest !== null);
  }

  /** @throws StepError if a manifest has a missing or invalid value, or is of a kind that has no schema */
  async expectValid(manifests) {
    const problems = await Promise.all(manifests.map((manifest) => this.#problemOf(manifest)));
    const found = problems.filter(Boolean);
    if (found.length > 0) throw new StepError('Not valid', { details: found });
  }

  /** The schemas ignore unknown fields, as a cluster does. TypeScript refuses them in an object literal. */
  async expectKnownFields(manifests) {
    const statements = manifests.map((manifest, i) => {
      const { apiVersion, kind } = manifest;
      const type = `import(${JSON.stringify(moduleOf(apiVersion))}).I${kind}`;
      return `export const manifest${i}: ${type} = ${JSON.stringify(manifest, null, 2)};`;
    });
    const folder = this.#launcher.temporaryFolder(this.#folder);
    writeFileSync(join(folder, 'manifests.mts'), statements.join('\n'));
    const args = [TSC, ...TSC_OPTIONS, 'manifests.mts'];
    await this.#launcher.run(process.execPath, args, { name: 'tsc', cwd: folder });
  }

  async #problemOf(manifest) {
    const { apiVersion, kind, metadata } = manifest;
    const { [kind]: Model } = await this.#load(moduleOf(apiVersion)).catch(() => ({}));
    if (Model === undefined) return `${kind} ${metadata.name}: there is no schema for ${apiVersion}`;
    try {
      new Model(manifest).validate();
      return undefined;
    } catch (error) {
      return `${kind} ${metadata.name}: ${error.message}`;
    }
  }
}

function moduleOf(apiVersion) {
  const [group] = apiVersion.split('/');
  return `${PACKAGE_OF_GROUP[group] ?? 'kubernetes-models'}/${apiVersion}`;
}

async function install(launcher, folder) {
  const fresh = launcher.temporaryFolder(cacheFolder());
  writeFileSync(join(fresh, 'package.json'), JSON.stringify({ private: true, dependencies: PACKAGES }));
  // Resolves packages from its own folder.
  writeFileSync(join(fresh, 'load.mjs'), 'export const load = (name) => import(name);\n');
  await launcher.run('npm', INSTALL, { name: 'npm install', cwd: fresh });
  renameSync(fresh, folder);
}
