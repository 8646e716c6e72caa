/**
 * @typedef {object} Container
 * @property {string} service
 * @property {string} state `healthy`, `starting`, `unhealthy`, `exit 0`; `running` without a health check
 */

/**
 * Parses the output of `ps -a --format json`: one line per container, or an array in early versions.
 * @returns {Container[]}
 */
export function containersOfJson(text) {
  const trimmed = text.trim();
  const entries = trimmed.startsWith('[')
    ? JSON.parse(trimmed)
    : trimmed
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line));
  return entries.map(({ Service: service, State: state, Health: health, ExitCode: code }) => ({
    service,
    state: state === 'exited' ? `exit ${code}` : health || state,
  }));
}

/**
 * Parses the table that `ps -a` prints, the only format of Compose 1.
 * @param {string} text
 * @param {string} project
 * @returns {Container[]}
 */
export function containersOfTable(text, project) {
  const rows = text.split('\n').map((line) => line.trim().split(/\s{2,}/));
  return rows.flatMap(([name = '', , state = '']) => {
    const service = name.startsWith(`${project}_`) ? name.slice(project.length + 1).replace(/_\d+$/, '') : undefined;
    return service ? [{ service, state: stateOfTable(state) }] : [];
  });
}

function stateOfTable(state) {
  const [, health] = /^Up \((?:health: )?(\w+)\)$/.exec(state) ?? [];
  return health ?? (state === 'Up' ? 'running' : state.toLowerCase());
}

/**
 * Describes the services whose containers are not in the expected states.
 * @param {Container[]} containers
 * @param {Record<string, string[]>} expected states by service
 * @returns {string | undefined} undefined if there are none
 */
export function unexpectedStates(containers, expected) {
  const deviations = Object.entries(expected).flatMap(([service, states]) => {
    const found = containers.filter((container) => container.service === service).map(({ state }) => state);
    return [...found].sort().join() === [...states].sort().join()
      ? []
      : [`${service}: ${found.join(', ') || 'no container'}`];
  });
  return deviations.length > 0 ? deviations.join('; ') : undefined;
}
