import { spawn } from 'node:child_process';
import { ROOT } from '../checkout/root.mjs';
import { StepError } from '../steps.mjs';
import { containersOfJson, containersOfTable } from './containers.mjs';

const COMMANDS = [['docker', 'compose'], ['docker-compose']];
const LAST_LINES = 25;

/** One project of Docker Compose, whichever of its generations is installed. */
export class Compose {
  #command;
  #project;
  #env;
  #interrupted;
  #isFirstGeneration;

  /**
   * @param {string} project
   * @param {NodeJS.ProcessEnv} env
   * @param {AbortSignal} interrupted ends what is running
   */
  static async find(project, env, interrupted) {
    for (const command of COMMANDS) {
      const version = await execute([...command, 'version', '--short'], env, interrupted).catch(() => undefined);
      if (version !== undefined) return new Compose(command, version.trim(), project, env, interrupted);
    }
    throw new StepError('Docker Compose is not there', { hint: 'install Docker with its Compose plugin' });
  }

  constructor(command, version, project, env, interrupted) {
    this.#command = command;
    this.#project = project;
    this.#env = env;
    this.#interrupted = interrupted;
    this.#isFirstGeneration = version.startsWith('1.');
    this.name = `${command.join(' ')} ${version}`;
  }

  /** Runs a command of Compose to its end and gives what it printed. */
  async run(...args) {
    return this.#run(args, this.#interrupted);
  }

  /** Ends and removes everything that the project has, volumes and built images too; an interruption does not stop it. */
  async remove() {
    await this.#run(['down', '--volumes', '--rmi', 'local', '--remove-orphans']);
  }

  /** The project's containers, those that have ended too. */
  async containers() {
    if (this.#isFirstGeneration) return containersOfTable(await this.run('ps', '-a'), this.#project);
    return containersOfJson(await this.run('ps', '-a', '--format', 'json'));
  }

  async #run(args, interrupted) {
    const project = ['-f', 'docker-compose.yml', '-p', this.#project];
    return execute([...this.#command, ...project, ...args], this.#env, interrupted);
  }
}

/** In a process group of its own: a terminal's Ctrl-C must reach only the trial, which then takes everything down. */
function execute([file, ...args], env, interrupted) {
  return new Promise((resolve, reject) => {
    interrupted?.throwIfAborted();
    const child = spawn(file, args, { cwd: ROOT, env, stdio: ['ignore', 'pipe', 'pipe'], detached: true });
    const interrupt = () => process.kill(-child.pid, 'SIGINT');
    interrupted?.addEventListener('abort', interrupt);
    let printed = '';
    let all = '';
    child.stdout.setEncoding('utf8').on('data', (text) => {
      printed += text;
      all += text;
    });
    child.stderr.setEncoding('utf8').on('data', (text) => (all += text));
    child.once('error', reject);
    child.once('close', (code) => {
      interrupted?.removeEventListener('abort', interrupt);
      if (interrupted?.aborted) reject(interrupted.reason);
      if (code === 0) resolve(printed);
      const details = all.trimEnd().split(/\r?\n/).slice(-LAST_LINES);
      reject(new StepError(`${[file, ...args].join(' ')} ended with code ${code}`, { details }));
    });
  });
}
