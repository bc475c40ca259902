/**
 * The cluster of compose.yaml without a container engine: its commands, with an address of the
 * loopback network for each service. FOLKMOOT_IMAGE_ROOT runs the nodes in the root file system of
 * an image: test/deploy/image.sh.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes, randomInt } from 'node:crypto';
import { once } from 'node:events';
import { chmodSync, chownSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { parse } from 'yaml';
import { hasEtcd } from '../support/etcd.js';
import { temporaryFolder } from '../support/fixture.js';
import { main, root } from '../support/paths.js';
import { World } from '../support/service/world.js';

interface ComposeService {
  command?: string[];
  profiles: string[];
  networks: string[] | Record<string, unknown>;
  environment?: Record<string, string>;
  secrets?: string[];
}

interface ComposeFile {
  services: Record<string, ComposeService>;
  networks: Record<string, { internal?: boolean } | null>;
}

const compose = parse(readFileSync(join(root, 'compose.yaml'), 'utf8'), {
  merge: true,
}) as ComposeFile;
const imageRoot = process.env.FOLKMOOT_IMAGE_ROOT;
/** The user of the image. */
const USER = 10_001;
const dockerfile = readFileSync(join(root, 'Dockerfile'), 'utf8');
const entrypoint = JSON.parse(/^ENTRYPOINT (\[.*\])$/m.exec(dockerfile)![1]!) as string[];

/** Differs between processes that run this test at the same time. */
const network = randomInt(1, 255);
const octets: Record<string, number> = { etcd: 2, node: 1 };
const addressOf = (service: string) => {
  const [, kind, number] = /^(etcd|node)(\d)$/.exec(service)!;
  return `127.${network}.${octets[kind!]}.${number}`;
};

/** Replaces the names of services in URLs and addresses, but not the names of nodes and members. */
const withAddresses = (argument: string, service: string) =>
  /^--(?:node|name)=/.test(argument)
    ? argument
    : argument
        .replaceAll(/(?<=\/\/|,|=)(?:etcd|node)\d(?=[:,]|$)/g, addressOf)
        .replaceAll('0.0.0.0', addressOf(service));

interface Service {
  url: string;
  world: World;
  kill(): Promise<void>;
  start(): Promise<void>;
}

function etcdMember(name: string, folder: string): Pick<Service, 'kill' | 'start'> {
  const [program, ...args] = compose.services[name]!.command!;
  const here = args.map((argument) => withAddresses(argument.replace('/data', folder), name));
  return processOf(
    () => spawn(program!, here, { stdio: 'ignore' }),
    async () => {},
  );
}

function node(name: string, folder: string, secret: string): Service {
  const url = `http://${addressOf(name)}:8080`;
  const args = compose.services[name]!.command!.map((argument) =>
    withAddresses(argument.replace('/run/secrets/peer', secret), name),
  );
  const env = {
    ...{ PATH: process.env.PATH, FOLKMOOT_HOST: addressOf(name), FOLKMOOT_PORT: '8080' },
    ...{ FOLKMOOT_LIMITS: 'bench', FOLKMOOT_DATA: join(folder, 'network') },
    XDG_STATE_HOME: join(folder, 'state'),
  };
  const [, ...flags] = entrypoint;
  const program = imageRoot
    ? ['chroot', `--userspec=${USER}:${USER}`, imageRoot, '/usr/local/bin/node', ...flags]
    : [process.execPath, ...flags.map((flag) => (flag.startsWith('/app/') ? main : flag))];
  const start = () =>
    spawn(program[0]!, [...program.slice(1), ...args], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  const listening = async (child: ChildProcess) => {
    let log = '';
    child.stderr!.setEncoding('utf8').on('data', (text: string) => {
      log += text;
    });
    const ended = once(child, 'exit').then(([code]) => {
      throw new Error(`${name} ended with ${code}: ${log}`);
    });
    ended.catch(() => {});
    await Promise.race([once(createInterface(child.stdout!), 'line'), ended]);
  };
  const world = new World({ url, wsUrl: `${url.replace('http', 'ws')}/ws/v1` });
  return { url, world, ...processOf(start, listening) };
}

function processOf(start: () => ChildProcess, ready: (child: ChildProcess) => Promise<void>) {
  let child: ChildProcess | null = null;
  const kill = async () => {
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
  };
  onTestFinished(kill);
  return {
    kill,
    async start() {
      child = start();
      await ready(child);
    },
  };
}

/** Creates the folders of a node: outside, and as the node sees them. */
function nodeFolders(names: readonly string[]): { secret: string; folders: string[] } {
  const top = imageRoot ? temporaryFolder(join(imageRoot, 'tmp')) : temporaryFolder();
  const inside = (path: string) => (imageRoot ? path.slice(imageRoot.length) : path);
  const own = (path: string) => {
    if (imageRoot) chownSync(path, USER, USER);
    return inside(path);
  };
  chmodSync(top, 0o755);
  const secret = join(top, 'peer.secret');
  writeFileSync(secret, randomBytes(32).toString('hex'), { mode: 0o600 });
  const folders = names.map((name) => {
    mkdirSync(join(top, name), { mode: 0o700 });
    return own(join(top, name));
  });
  return { secret: own(secret), folders };
}

const networksOf = (service: string) => {
  const { networks } = compose.services[service]!;
  return Array.isArray(networks) ? networks : Object.keys(networks);
};

test('compose: every service is confined, and only the nodes share a network with etcd', () => {
  const confined = {
    ...{ read_only: true, tmpfs: ['/tmp'], cap_drop: ['ALL'] },
    security_opt: ['no-new-privileges:true'],
  };
  for (const [name, service] of Object.entries(compose.services)) {
    expect(service, name).toMatchObject(confined);
    expect(networksOf(name).includes('order'), name).toBe(/^(etcd|node)\d$/.test(name));
    if (name.startsWith('etcd')) expect(networksOf(name)).toEqual(['order']);
  }
  expect(compose.networks.order).toEqual({ internal: true });
  const { environment, secrets } = compose.services.grafana!;
  expect(environment).toHaveProperty('GF_SECURITY_ADMIN_PASSWORD__FILE', '/run/secrets/grafana');
  expect(secrets).toEqual(['grafana']);
});

test('.dockerignore: keeps keys and secrets in every folder out of the image', () => {
  const patterns = readFileSync(join(root, '.dockerignore'), 'utf8').split('\n');
  for (const kind of ['key', 'key.json', 'pem', 'secret'])
    expect(patterns).toContain(`**/*.${kind}`);
});

test.skipIf(!hasEtcd || process.platform !== 'linux')(
  'compose: the cluster loses nothing when nodes and an etcd member are killed',
  async () => {
    const etcdNames = ['etcd1', 'etcd2', 'etcd3'];
    const names = ['node1', 'node2', 'node3'];
    const members = etcdNames.map((name) => etcdMember(name, temporaryFolder()));
    for (const member of members) await member.start();
    const { secret, folders } = nodeFolders(names);
    const nodes = names.map((name, index) => node(name, folders[index]!, secret));
    await nodes[0]!.start();
    await Promise.all(nodes.slice(1).map(({ start }) => start()));
    const [first, second, third] = nodes as [Service, Service, Service];
    const agents = await first.world.joinAll('Ada', 'Bob', 'Cyd');
    const block = await second.world.propose(agents[0]!);
    await third.world.vote(agents[0]!, block);

    await second.kill();
    await members[2]!.kill();
    agents.push(await first.world.join('Dan'));
    await third.world.vote(agents[1]!, block);
    await members[2]!.start();
    await second.start();
    await second.world.vote(agents[2]!, block);
    agents.push(await second.world.join('Eve'));

    await Promise.all(nodes.map(({ kill }) => kill()));
    await Promise.all(nodes.map(({ start }) => start()));
    agents.push(await third.world.join('Fay'));
    for (const { world } of nodes) {
      await expect
        .poll(async () => (await world.get(`/api/v1/agents/${agents.at(-1)!.agentId}`)).status)
        .toBe(200);
      for (const { agentId } of agents) await world.read(`/api/v1/agents/${agentId}`);
      expect(await world.read(`/api/v1/blocks/${block}`)).toMatchObject({ status: 'finalized' });
    }
    const digests = async () => {
      const read = await Promise.all(nodes.map(({ world }) => world.digest()));
      return new Set(read).size;
    };
    await expect.poll(digests).toBe(1);
  },
);
