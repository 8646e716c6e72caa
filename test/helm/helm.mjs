import { join } from 'node:path';
import { ROOT } from '../../tools/checkout/root.mjs';
import { findBinary } from '../../tools/embedded/find-binary.mjs';

const MODULE = 'helm.sh/helm/v3/cmd/helm@v3.22.0';
const CHART = join(ROOT, 'deploy', 'helm', 'item-listing');
/** Without a cluster, Helm assumes the release of Kubernetes that it was built for, which a build by Go does not know. */
const CLUSTER = ['--kube-version', '1.30.0'];
/** Release and namespace of rendered manifests. */
const RELEASE = ['items', '--namespace', 'shop', ...CLUSTER];

/** Built by Go, whose module proxy is reachable where Helm's download site is not. Go verifies it by its checksum. */
const GO_MODULE = {
  title: `built by Go (${MODULE})`,
  folder: MODULE.replaceAll('/', '-'),
  async fetch(launcher, folder) {
    await launcher.run('go', ['install', MODULE], { env: { ...process.env, GOBIN: folder } });
  },
};

const HELM = {
  title: 'Helm',
  name: 'helm',
  programs: ['helm'],
  variable: 'HELM_RELEASE',
  versionArguments: ['version', '--short'],
  versionPattern: /^v(\d+\.\d+[.\d]*)/m,
  minimum: '3.18',
  sources: [GO_MODULE],
  hint: 'install Helm 3.18 or newer, so that `helm` is on PATH, or Go',
};

/** Runs Helm on the chart. */
export class Helm {
  #launcher;
  #path;

  static async find(launcher) {
    const { path } = await findBinary(launcher, HELM);
    return new Helm(launcher, path);
  }

  constructor(launcher, path) {
    this.#launcher = launcher;
    this.#path = path;
  }

  /** @param {string[]} values options that set values. @throws StepError that contains Helm's output */
  async lint(values) {
    await this.#run(['lint', '--strict', ...CLUSTER, CHART, ...values]);
  }

  /**
   * Returns the manifests as YAML.
   * @param {string[]} values options that set values
   * @throws StepError that contains Helm's output
   */
  async template(values) {
    return this.#run(['template', ...RELEASE, CHART, ...values]);
  }

  #run(args) {
    return this.#launcher.run(this.#path, args, { name: `helm ${args[0]}`, cwd: ROOT });
  }
}
