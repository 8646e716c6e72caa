import { existsSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { parseYaml } from '@redocly/openapi-core';

const ROOT = join(__dirname, '..', '..');

/** The parts of a service that are tested. All lists are in Compose's short syntax. */
interface Service {
  profiles?: string[];
  read_only?: boolean;
  privileged?: boolean;
  cap_drop?: string[];
  cap_add?: string[];
  security_opt?: string[];
  pids_limit?: number;
  mem_limit?: string;
  network_mode?: string;
  networks?: string[];
  ports?: string[];
  volumes?: string[];
  environment?: Record<string, string | null>;
}
interface ComposeFile {
  services: Record<string, Service>;
  networks: Record<string, { internal?: boolean }>;
}

/** Capabilities that a service keeps, because its entry point needs them. All others have none. */
const CAPABILITIES: Record<string, string[]> = {
  passwords: ['CHOWN'],
  mongo: ['CHOWN', 'DAC_OVERRIDE', 'SETGID', 'SETUID'],
  redis: ['CHOWN', 'DAC_OVERRIDE', 'SETGID', 'SETUID'],
};

const GRAFANA_PROVISIONING = ['datasources', 'dashboards'].map((name) => `deploy/grafana/provisioning/${name}`);

// Resolves anchors and merge keys.
const { services, networks } = parseYaml(readFileSync(join(ROOT, 'docker-compose.yml'), 'utf8')) as ComposeFile;

function serviceOf(name: string): Service {
  const service = services[name];
  if (service === undefined) throw new Error(`docker-compose.yml has no service ${name}`);
  return service;
}

/** Returns the files of this checkout that a service reads: those named in its definition, in the folders it mounts. */
function mountedFiles(service: Service): string[] {
  const mounts = (service.volumes ?? []).filter((volume) => volume.startsWith('./')).map((volume) => volume.split(':'));
  const named = [...JSON.stringify(service).matchAll(/\/etc\/[\w/-]+\.\w+/g)].map(([path]) => path);
  return mounts.flatMap(([source = '', target = '']) => {
    const files = named.filter((path) => path.startsWith(`${target}/`));
    return [source, ...files.map((path) => source + path.slice(target.length))].map((path) => posix.normalize(path));
  });
}

describe('docker-compose.yml', () => {
  describe.each(Object.keys(services))('for the service %s', (name) => {
    const service = serviceOf(name);

    it('a service has a read-only file system', () => {
      expect(service.read_only).toBe(true);
    });

    it('a service allows no new privileges, and only the capabilities of its entry point', () => {
      expect(service.cap_drop).toEqual(['ALL']);
      expect(service.cap_add).toEqual(CAPABILITIES[name]);
      expect(service.security_opt).toEqual(['no-new-privileges:true']);
      expect(service.privileged).toBeUndefined();
    });

    it('a service limits memory and processes', () => {
      expect(service.mem_limit).toMatch(/^(\$\{\w+:-)?\d+[mg]\}?$/);
      expect(service.pids_limit).toBeGreaterThan(0);
    });

    it('a service publishes ports on 127.0.0.1 only', () => {
      expect((service.ports ?? []).filter((port) => !port.startsWith('127.0.0.1:'))).toEqual([]);
    });
  });

  it.each(['mongo', 'redis'])(
    'docker-compose.yml keeps %s in a network without access to the host and the internet',
    (name) => {
      const { networks: own, network_mode, ports } = serviceOf(name);
      expect([own, network_mode, ports]).toEqual([['stores'], undefined, undefined]);
      expect(networks['stores']).toEqual({ internal: true });
    },
  );

  it('docker-compose.yml publishes ports of the API and of the profile observability only', () => {
    const published = Object.keys(services).filter((name) => serviceOf(name).ports !== undefined);
    expect(published).toEqual(['api', 'prometheus', 'grafana']);
  });

  it('docker-compose.yml passes the settings of commands to the services in which they run', () => {
    const config = readFileSync(join(ROOT, 'libs', 'runtime', 'src', 'config', 'config.ts'), 'utf8');
    const [, commands = ''] = /^export function loadCliConfig([^]*?)^}/m.exec(config) ?? [];
    const settings = [...commands.matchAll(/read\(env, '(\w+)'\)/g)].map(([, name = '']) => name);
    expect(settings.length).toBeGreaterThan(3);
    const passed = ['setup', 'demo'].flatMap((name) => Object.keys(serviceOf(name).environment ?? {}));
    expect(settings.filter((name) => !passed.some((each) => each === name || each === `${name}_FILE`))).toEqual([]);
  });

  it('docker-compose.yml has only Prometheus and Grafana in a profile, which is observability', () => {
    const inProfiles = Object.entries(services).filter(([, { profiles }]) => profiles !== undefined);
    expect(inProfiles.map(([name, { profiles }]) => [name, profiles])).toEqual([
      ['prometheus', ['observability']],
      ['grafana', ['observability']],
    ]);
  });

  it('docker-compose.yml hides no folder of provisioning that the image of Grafana has', () => {
    const targets = (serviceOf('grafana').volumes ?? []).map((volume) => volume.split(':')[1]);
    expect(targets).not.toContain('/etc/grafana/provisioning');
  });

  it('docker-compose.yml lets Grafana report nothing, and download nothing', () => {
    expect(serviceOf('grafana').environment).toMatchObject({
      GF_ANALYTICS_REPORTING_ENABLED: 'false',
      GF_ANALYTICS_CHECK_FOR_UPDATES: 'false',
      GF_ANALYTICS_CHECK_FOR_PLUGIN_UPDATES: 'false',
      GF_PLUGINS_PREINSTALL_DISABLED: 'true',
    });
  });

  it.each([
    ['prometheus', ['deploy/prometheus/prometheus.yml']],
    ['grafana', [...GRAFANA_PROVISIONING, 'deploy/grafana/dashboards/item-listing.json']],
  ])('docker-compose.yml mounts files that exist into %s', (name, expected) => {
    const files = mountedFiles(serviceOf(name));
    expect(files).toEqual(expect.arrayContaining(expected));
    expect(files.filter((file) => !existsSync(join(ROOT, file)))).toEqual([]);
  });
});
