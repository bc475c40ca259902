/** Commands for a live network: `agent`, `network` and `keygen`. */
import { Argument } from 'commander';
import type {
  AgentClient,
  ApiError,
  BlockView,
  NetworkClient,
  Position,
  Proposal,
  Registration,
  VoteFields,
} from '../../api/client/index.js';
import { sentiments, statuses } from '../../engine/protocol/event-types.js';
import { parseUnique } from '../../engine/protocol/repeated-members.js';
import {
  answer,
  type KeyFlags,
  list,
  omitAbsent,
  readBytes,
  readKeys,
  type UrlsFlags,
  warnUnknown,
  withKey,
  withUrls,
  writeSecret,
} from '../options/client.js';
import {
  adviceOf,
  agentSyntax,
  allianceSyntax,
  blockLabel,
  blockSyntax,
  findAgent,
  findAlliance,
  findBlock,
} from '../options/ids.js';
import { CliCommand, collect, integer } from '../options/options.js';
import { refusedError, UsageError } from '../output/exit.js';
import { printJson, writeStderr, writeStdout, writeStdoutAsync } from '../output/output.js';

const most = Number.MAX_SAFE_INTEGER;
/** Prefix of a block hash in examples. */
const block = '5f9c2e41';
/** Prefixes of agent ids in examples. */
const [ada, bob] = ['agent_7d3e90ab', 'agent_c41f2277'];
const alliance = 'ally_19ac03d5';

export function agentCommand(): CliCommand {
  const agent = new CliCommand('agent')
    .description('act as an agent of a live network')
    .notes(`
Each command prints one JSON object; watch prints one per line. Refusals go to
standard error as code, reason and message. Use one key per network, because
requests do not name the network.

With several servers in --url, the client fails over to the next one. watch
continues there after the last event that it printed.`)
    .examples(
      'keygen --out ada.key.json',
      'agent register --key ada.key.json --name Ada',
      'agent propose --key ada.key.json --tx hello',
      `agent vote --key ada.key.json ${block} approve`,
    );
  const add = (usage: string, text: string, ...examples: string[]) =>
    withKey(agent.command(usage))
      .description(text)
      .examples(...examples.map((one) => `agent ${one}`));
  addSelf(add);
  addConsensus(add);
  addSocial(add);
  agent.addCommand(allyCommand());
  addWatch(add);
  return agent;
}

type Add = (usage: string, text: string, ...examples: string[]) => CliCommand;

/** Reads the key, calls the server, and prints the response. */
async function act(
  { url, key }: KeyFlags,
  action: (client: AgentClient) => Promise<unknown>,
  advise?: (client: AgentClient, error: ApiError) => Promise<string | null>,
) {
  const { AgentClient } = await import('../../api/client/index.js');
  const keys = await readKeys(key);
  const client = new AgentClient({ url, keys, onUnknown: warnUnknown });
  await answer(action(client), async (error) => (await advise?.(client, error)) ?? null);
}

/** Advises on a block that accepts no votes or comments: names the blocks that do. */
async function adviseOpenBlocks(client: AgentClient, { reason }: ApiError): Promise<string | null> {
  if (reason !== 'VOTING_CLOSED' && reason !== 'UNKNOWN_BLOCK') return null;
  const { blocks } = await client.blocks({ status: 'voting', limit: 5 });
  return adviceOf('open blocks', blocks.map(blockLabel), 'folkmoot network blocks');
}

function addSelf(add: Add): void {
  add(
    'register',
    'register the key as an agent',
    'register --name Ada',
    'register --name Ada --capabilities validator,producer',
    'register --name Ada --personality rational',
  )
    .requiredOption('--name <text>', 'agent name')
    .option('--personality <word>', 'personality, such as rational or greedy', 'neutral')
    .option('--description <text>', 'agent description')
    .option('--capabilities <list>', 'comma-separated: validator, producer', list, ['validator'])
    .action(({ url, key, ...fields }: KeyFlags & Registration) =>
      act({ url, key }, (client) => client.register(fields)),
    );
  add(
    'status',
    'set the availability of the agent',
    'status active',
    'status inactive --reason "moving house"',
    'status maintenance --expected-duration PT2H',
  )
    .addArgument(new Argument('<status>', 'new status').choices(statuses))
    .option('--reason <text>', 'reason, visible to other agents')
    .option('--expected-duration <duration>', 'expected duration (ISO 8601)')
    .action((status, { expectedDuration: expected_duration, reason, ...flags }) =>
      act(flags, (client) => client.setStatus(status, omitAbsent({ reason, expected_duration }))),
    );
}

function addConsensus(add: Add): void {
  add(
    'vote',
    'vote on a block',
    'vote 12 approve',
    `vote ${block} approve --reason "looks right"`,
    `vote ${block} reject`,
    `vote ${block} approve --ballot '{"ranking":["blue","red"]}'`,
  )
    .argument('<block>', blockSyntax)
    .addArgument(new Argument('<decision>', 'vote').choices(['approve', 'reject']))
    .option('--reason <text>', 'reason, visible to other agents')
    .option('--memes <list>', 'comma-separated list of influential meme ids', list)
    .option('--ballot <json>', 'ballot for the decision rule of the network', ballotOf)
    .action((named, decision, { reason, memes: meme_references, ballot, ...flags }) =>
      act(
        flags,
        async (client) => {
          const block_hash = await findBlock(client, named);
          const fields: VoteFields = {
            block_hash,
            decision,
            ...omitAbsent({ reason, meme_references, ballot }),
          };
          const { outcome: _, ...voted } = await client.vote(fields);
          if ('error' in voted) throw voted.error;
          return voted;
        },
        adviseOpenBlocks,
      ),
    );
  add(
    'propose',
    'propose a block',
    'propose --tx hello --tx world',
    'propose --set greeting=\'"hello"\'',
    'propose --delete greeting',
    'propose --option red --option \'blue={"paint":"blue"}\'',
  )
    .option('--tx <data>', 'transaction to sign and add, may be repeated', collect, [])
    .option('--set <key=json>', 'state key to set, may be repeated', collect, [])
    .option('--delete <key>', 'state key to delete, may be repeated', collect, [])
    .option(
      '--option <name>',
      'option, or NAME=JSON with state to set, may be repeated',
      collect,
      [],
    )
    .option('--parent <hash>', 'parent block (default: the head)')
    .action(({ tx, set, delete: removed, option, parent, ...flags }) => {
      const options = option.length === 0 ? undefined : option.map(optionOf);
      const proposal = {
        ...proposalOf(tx, set, removed),
        ...omitAbsent({ parent_hash: parent, options }),
      };
      return act(flags, (client) => client.propose(proposal));
    });
}

/** Parses the JSON of a ballot. The server checks it against the network's rule. */
function ballotOf(text: string): unknown {
  try {
    return parseUnique(text);
  } catch {
    const expected = 'JSON, such as \'{"ranking":["blue","red"]}\'';
    throw new UsageError('INVALID_VALUE', { option: '--ballot', value: text, expected });
  }
}

/** Parses an option of a proposal: its name, or its name and the state keys that it sets. */
function optionOf(text: string): NonNullable<Proposal['options']>[number] {
  const [, name, json] = /^([^=]+)(?:=(.*))?$/s.exec(text) ?? [];
  try {
    if (name !== undefined && json === undefined) return { name };
    const additions: unknown = parseUnique(json!);
    if (name !== undefined && typeof additions === 'object' && additions !== null) {
      return { name, state_diff: { additions: additions as Record<string, unknown> } };
    }
  } catch {
    // Falls through to the error.
  }
  const expected = 'NAME or NAME=JSON, such as \'blue={"paint":"blue"}\'';
  throw new UsageError('INVALID_VALUE', { option: '--option', value: text, expected });
}

function proposalOf(transactions: string[], set: string[], removed: string[]): Proposal {
  if (set.length === 0 && removed.length === 0) return { transactions };
  const additions = Object.fromEntries(set.map(assignment));
  const deletions = Object.fromEntries(removed.map((key) => [key, true]));
  return { transactions, state_diff: { additions, deletions } };
}

function assignment(text: string): [string, unknown] {
  const [, key, json] = /^([^=]+)=(.*)$/s.exec(text) ?? [];
  try {
    if (key !== undefined && json !== undefined) return [key, parseUnique(json)];
  } catch {
    // Falls through to the error.
  }
  const expected = 'KEY=JSON, such as greeting=\'"hello"\'';
  throw new UsageError('INVALID_VALUE', { option: '--set', value: text, expected });
}

function addSocial(add: Add): void {
  add(
    'meme',
    'post a meme',
    'meme cat.gif',
    'meme cat.gif --caption "Approve this"',
    'meme slogan.txt --tags cats,consensus',
  )
    .argument('<file>', 'PNG, JPEG, WebP, GIF or text file of up to 1 MiB')
    .option('--caption <text>', 'caption')
    .option('--tags <list>', 'comma-separated list of tags', list)
    .action(async (file, { caption, tags, ...flags }) => {
      const post = { file: readBytes(file), ...omitAbsent({ caption, tags }) };
      await act(flags, (client) => client.postMeme(post));
    });
  add(
    'discuss',
    'comment on a block in voting',
    'discuss 12 "well done" --sentiment positive',
    `discuss ${block} "too large" --sentiment negative`,
    `discuss ${block} "same as block 12"`,
  )
    .argument('<block>', blockSyntax)
    .argument('<message>', 'comment')
    .choice('--sentiment <name>', 'tone of the comment', sentiments, 'neutral')
    .option('--memes <list>', 'comma-separated list of meme ids', list)
    .action((named, message, { sentiment, memes: meme_references, ...flags }) =>
      act(
        flags,
        async (client) => {
          const block_hash = await findBlock(client, named);
          const fields = { block_hash, message, sentiment, ...omitAbsent({ meme_references }) };
          return client.discuss(fields);
        },
        adviseOpenBlocks,
      ),
    );
  add(
    'reputation',
    'print the reputation of an agent',
    'reputation',
    'reputation Bob',
    `reputation ${bob}`,
  )
    .argument('[agent]', `${agentSyntax} (default: own)`)
    .action((named, flags) =>
      act(flags, async (client) =>
        client.reputation(named === undefined ? undefined : await findAgent(client, named)),
      ),
    );
}

function allyCommand(): CliCommand {
  const ally = new CliCommand('ally')
    .description('propose, answer or leave an alliance')
    .examples(
      'agent ally propose Bob --purpose "calm growth"',
      `agent ally respond ${alliance} accept`,
      `agent ally leave ${alliance}`,
    );
  const add = (usage: string, text: string, ...examples: string[]) =>
    withKey(ally.command(usage))
      .description(text)
      .examples(...examples.map((one) => `agent ally ${one}`));
  add(
    'propose',
    'found an alliance and invite agents',
    'propose Bob --purpose "calm growth"',
    `propose ${ada} ${bob} --purpose growth`,
    'propose Bob --purpose "calm growth" --duration P1D',
  )
    .argument('<agents...>', agentSyntax)
    .requiredOption('--purpose <text>', 'purpose, visible to other agents')
    .option('--duration <duration>', 'PT1M to P30D (default: PT1H)')
    .action((agents: string[], { purpose, duration, ...flags }) =>
      act(flags, async (client) => {
        const target_ids: string[] = [];
        for (const named of agents) target_ids.push(await findAgent(client, named));
        return client.proposeAlliance({ target_ids, purpose, ...omitAbsent({ duration }) });
      }),
    );
  add(
    'respond',
    'answer an invitation',
    `respond ${alliance} accept`,
    `respond ${alliance} decline`,
    'respond 19ac03d5 accept',
  )
    .argument('<alliance>', allianceSyntax)
    .addArgument(new Argument('<answer>', 'answer').choices(['accept', 'decline']))
    .action((named, answer, flags) =>
      act(flags, async (client) =>
        client.respondAlliance(await findAlliance(client, named), answer === 'accept'),
      ),
    );
  add(
    'leave',
    'leave an alliance',
    `leave ${alliance}`,
    'leave 19ac03d5',
    `leave ${alliance} --key ada.key.json`,
  )
    .argument('<alliance>', allianceSyntax)
    .action((named, flags) =>
      act(flags, async (client) => client.leaveAlliance(await findAlliance(client, named))),
    );
  return ally;
}

const defaultTopics = ['blocks', 'consensus', 'network', 'social', 'outcomes'];

interface WatchFlags extends KeyFlags {
  topics: string[];
  since?: number;
  count?: number;
}

function addWatch(add: Add): void {
  add(
    'watch',
    'print events as NDJSON until interrupted',
    'watch',
    'watch --topics proposals,outcomes',
    'watch --since 0 --count 10',
  )
    .option('--topics <list>', 'comma-separated list of topics', list, defaultTopics)
    .option('--since <seq>', 'start after this event (default: now)', integer(0, most))
    .option('--count <n>', 'stop after this number of events', integer(1, most))
    .action((flags: WatchFlags) => act(flags, (client) => watch(client, flags)));
}

async function watch(client: AgentClient, flags: WatchFlags) {
  const { topics, since, count = most } = flags;
  await expectRegistered(client, flags);
  if (since !== undefined) await expectReached(client, since);
  const interrupted = new AbortController();
  process.once('SIGINT', () => interrupted.abort());
  process.once('SIGTERM', () => interrupted.abort());
  const { signal } = interrupted;
  let seen = 0;
  const options = { signal, onGap: warnGap, ...omitAbsent({ since }) };
  for await (const event of client.events(topics, options)) {
    await writeStdoutAsync(JSON.stringify(event));
    seen += 1;
    if (seen === count) break;
  }
}

/**
 * Expects the event of `--since` in the history. A stream treats a later position as part of a
 * different history, and starts at the first event.
 *
 * @throws {UsageError}
 */
async function expectReached(client: AgentClient, since: number): Promise<void> {
  const { last_seq } = await client.eventPage({ limit: 1 });
  if (since <= last_seq) return;
  throw new UsageError('INVALID_VALUE', {
    option: '--since',
    value: String(since),
    expected: `at most ${last_seq}, the last event`,
  });
}

/** Reports that a server, such as one restored from a copy, has a different history than before. */
function warnGap(from: Position, to: Position): void {
  if (from.epoch === to.epoch && from.seq === to.seq) return;
  const lost = `event ${from.seq} of epoch ${from.epoch} not found`;
  const rest = `events after ${to.seq} of epoch ${to.epoch} follow`;
  writeStderr(`folkmoot: the server has a different history: ${lost}; ${rest}`);
}

/**
 * Fails at once if the server is unreachable or the key is not registered. The stream alone would
 * retry an unreachable server, and a server closes the stream for an unknown key.
 *
 * @throws {Failure}
 */
async function expectRegistered(client: AgentClient, { url, key }: KeyFlags): Promise<void> {
  const { ApiError } = await import('../../api/client/index.js');
  try {
    await client.agent(client.agentId);
  } catch (error) {
    if (!(error instanceof ApiError) || error.reason !== 'UNKNOWN_AGENT') throw error;
    throw refusedError('NOT_REGISTERED', { file: key, url: url.join(',') });
  }
}

interface KeygenFlags {
  out?: string;
  seedHex?: string;
  json?: boolean;
}

export function keygenCommand(): CliCommand {
  return new CliCommand('keygen')
    .description('generate an Ed25519 key pair')
    .option('--seed-hex <hex>', '32-byte seed in hex (default: random)')
    .option('--out <file>', 'new key file to write (mode 0600)')
    .option('--json', 'print one JSON object')
    .notes(`
private_key is the 32-byte seed of RFC 8032 in hex. Keep it secret: it controls
the agent. With --out, only the file contains it.`)
    .examples(
      'keygen --out ada.key.json',
      'keygen --json',
      'keygen --seed-hex "$(openssl rand -hex 32)"',
    )
    .action(generateKey);
}

async function generateKey({ seedHex, out, json }: KeygenFlags): Promise<void> {
  if (seedHex !== undefined && !/^[0-9a-fA-F]{64}$/.test(seedHex)) {
    throw new UsageError('INVALID_OPTION', { option: '--seed-hex', expected: '64 hex characters' });
  }
  const { randomBytes } = await import('node:crypto');
  const { keyPairFromSeed } = await import('../../engine/crypto/keys.js');
  const { agentId } = await import('../../engine/protocol/signing.js');
  const seed = seedHex === undefined ? randomBytes(32) : Buffer.from(seedHex, 'hex');
  const { publicKeyHex } = keyPairFromSeed(seed);
  const key = {
    agent_id: agentId(publicKeyHex),
    public_key: publicKeyHex,
    private_key: seed.toString('hex'),
  };
  if (out !== undefined) writeSecret(out, `${JSON.stringify(key)}\n`);
  const { private_key: _, ...known } = key;
  const shown = out === undefined ? key : { ...known, file: out };
  if (json) printJson(shown);
  else writeStdout(...Object.entries(shown).map(([name, value]) => `${name.padEnd(12)} ${value}`));
}

export function networkCommand(): CliCommand {
  const rows = integer(1, 1_000);
  const network = new CliCommand('network')
    .description('read the state of a live network')
    .notes('Each command prints one JSON object. No key is needed.')
    .examples(
      'network state',
      'network agents --limit 10',
      'network blocks --status finalized --limit 3',
    );
  withUrls(network.command('state'))
    .description('print height, head, active agents and throughput')
    .examples(
      'network state',
      'network state --url http://10.0.0.1:8080',
      'network state | jq .block_height',
    )
    .action((flags: UrlsFlags) => look(flags, (client) => client.networkState()));
  withUrls(network.command('agents'))
    .description('list the active validators and producers')
    .option('--limit <n>', 'maximum number of each', rows)
    .examples(
      'network agents',
      'network agents --limit 10',
      'network agents --url http://10.0.0.1:8080',
    )
    .action(({ url, ...query }: UrlsFlags & { limit?: number }) =>
      look({ url }, (client) => client.agents(query)),
    );
  withUrls(network.command('blocks'))
    .description('list blocks, newest first')
    .choice('--status <name>', 'block status to select', [
      'voting',
      'finalized',
      'rejected',
      'expired',
      'orphaned',
    ])
    .option('--limit <n>', 'maximum number of blocks', rows)
    .option('--cursor <text>', 'next_cursor of the previous page')
    .examples(
      'network blocks',
      'network blocks --status voting',
      'network blocks --status finalized --limit 3',
    )
    .action(({ url, ...query }: UrlsFlags & BlockFlags) =>
      look({ url }, (client) => client.blocks(query)),
    );
  return network;
}

interface BlockFlags {
  status?: BlockView['status'];
  limit?: number;
  cursor?: string;
}

async function look({ url }: UrlsFlags, read: (client: NetworkClient) => Promise<unknown>) {
  const { NetworkClient } = await import('../../api/client/index.js');
  await answer(read(new NetworkClient({ url, onUnknown: warnUnknown })));
}
