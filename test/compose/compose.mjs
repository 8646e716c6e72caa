import { spawn } from 'node:child_process';
import { ROOT } from '../../tools/checkout/root.mjs';
import { StepError } from '../../tools/steps.mjs';
import { containersOfJson, containersOfTable } from './containers.mjs';

const COMMANDS = [['docker', 'compose'], ['docker-compose']];
/** Options of Compose: also use the services of this profile. */
export const OBSERVABILITY = ['--profile', 'observability'];
const LAST_LINES = 25;
const VOLUMES = ['mongo-data', 'redis-data', 'store-passwords', 'mongodb-admin'];

/** A Docker Compose project. Works with the Compose plugin and the standalone binary, including Compose 1. */
export class Compose {
  #command;
  #project;
  #env;
  #interrupted;
  #isCompose1;

  /**
   * @param {string} project
   * @param {NodeJS.ProcessEnv} env
   * @param {AbortSignal} interrupted stops the running command
   */
  static async find(project, env, interrupted) {
    for (const command of COMMANDS) {
      const version = await execute([...command, 'version', '--short'], env, interrupted).catch(() => undefined);
      if (version !== undefined) return new Compose(command, version.trim(), project, env, interrupted);
    }
    throw new StepError('Docker Compose is not installed', { hint: 'install Docker with its Compose plugin' });
  }

  constructor(command, version, project, env, interrupted) {
    this.#command = command;
    this.#project = project;
    this.#env = env;
    this.#interrupted = interrupted;
    this.#isCompose1 = version.startsWith('1.');
    this.name = `${command.join(' ')} ${version}`;
  }

  /** Runs a Compose command to completion and returns its stdout. */
  async run(...args) {
    return this.#run(args, this.#interrupted);
  }

  /** Removes everything the project has created, including volumes and built images. Ignores interruptions. */
  async remove() {
    await this.#run([...OBSERVABILITY, 'down', '--volumes', '--rmi', 'local', '--remove-orphans']);
  }

  /** Copies the volumes to an archive, as docs/operations.md shows. */
  async copyVolumes(archive) {
    await this.#runWithVolumes(`mongo:7 tar -C /volumes -cz . > ${archive}`);
  }

  /** Fills new volumes from an archive, as docs/operations.md shows. */
  async fillVolumes(archive) {
    await this.#runWithVolumes(`-i mongo:7 tar -C /volumes -xz < ${archive}`);
  }

  async #runWithVolumes(command) {
    const volumes = VOLUMES.map((name) => `-v ${this.#project}_${name}:/volumes/${name}`);
    const script = ['docker run --rm --network none', ...volumes, command].join(' ');
    await execute(['sh', '-c', script], this.#env, this.#interrupted);
  }

  /** Returns the name of a service's image if no image of that name is on this machine. */
  async missingImage(service) {
    const config = await this.run(...OBSERVABILITY, 'config');
    const [, image] = new RegExp(`^  ${service}:\\n[^]*?^    image: (\\S+)$`, 'm').exec(config) ?? [];
    const found = execute(['docker', 'image', 'inspect', image], this.#env, this.#interrupted);
    return found.then(
      () => undefined,
      () => image,
    );
  }

  /** Returns the project's containers, including those that have exited. */
  async containers() {
    if (this.#isCompose1) return containersOfTable(await this.run('ps', '-a'), this.#project);
    return containersOfJson(await this.run('ps', '-a', '--format', 'json'));
  }

  /** Returns what Docker shows about each container of the project, including its environment and arguments. */
  async inspect() {
    const ids = (await this.run('ps', '-a', '-q')).split('\n').filter(Boolean);
    return execute(['docker', 'inspect', ...ids], this.#env, this.#interrupted);
  }

  async #run(args, interrupted) {
    const project = ['--env-file', 'test/compose/empty.env', '-f', 'docker-compose.yml', '-p', this.#project];
    return execute([...this.#command, ...project, ...args], this.#env, interrupted);
  }
}

/** Uses a separate process group: Ctrl-C in the terminal must reach only the test, which then removes everything. */
function execute([file, ...args], env, interrupted) {
  return new Promise((resolve, reject) => {
    interrupted?.throwIfAborted();
    const child = spawn(file, args, { cwd: ROOT, env, stdio: ['ignore', 'pipe', 'pipe'], detached: true });
    const interrupt = () => process.kill(-child.pid, 'SIGINT');
    interrupted?.addEventListener('abort', interrupt);
    let stdout = '';
    let output = '';
    child.stdout.setEncoding('utf8').on('data', (text) => {
      stdout += text;
      output += text;
    });
    child.stderr.setEncoding('utf8').on('data', (text) => (output += text));
    child.once('error', reject);
    child.once('close', (code) => {
      interrupted?.removeEventListener('abort', interrupt);
      if (interrupted?.aborted) reject(interrupted.reason);
      if (code === 0) resolve(stdout);
      const details = output.trimEnd().split(/\r?\n/).slice(-LAST_LINES);
      reject(new StepError(`${[file, ...args].join(' ')} exited with code ${code}`, { details }));
    });
  });
}
