/** `folkmoot agent`: acts as an agent of a live network, and follows its events. */
import { Argument, Command, Option } from 'commander';
import type { AgentClient, Proposal, Registration, VoteFields } from '../../api/client/index.js';
import { sentiments, statuses } from '../../engine/protocol/event-types.js';
import {
  answer,
  collect,
  howToRegister,
  type KeyFlags,
  list,
  omitAbsent,
  readBytes,
  readKeys,
  warnUnknown,
  withKey,
} from '../options/client.js';
import {
  agentSyntax,
  allianceSyntax,
  blockSyntax,
  findAgent,
  findAlliance,
  findBlock,
} from '../options/ids.js';
import { integer } from '../options/options.js';
import { RefusedError, UsageError } from '../output/exit.js';
import { writeStdoutAsync } from '../output/output.js';

const most = Number.MAX_SAFE_INTEGER;
const hash = '5f'.repeat(32);

export function agentCommand(): Command {
  const agent = new Command('agent')
    .description('act as an agent of a live network: register, vote, propose, watch, ...')
    .addHelpText(
      'after',
      `
Each prints one JSON object; watch prints one a line. Exit codes: 0 done, 1 refused by the server
(code, reason and message on standard error) or unreachable, 2 usage. --url and --key may stand in
FOLKMOOT_URL and FOLKMOOT_KEY. One key per network: requests do not name the network. With several
servers of one network, --url http://a:8080,http://b:8080, whoever does not answer is left for the
next, and watch goes on there after the last event it printed.

Examples:
  $ folkmoot keygen --out ada.key.json && export FOLKMOOT_KEY=ada.key.json
  $ folkmoot agent register --name Ada --capabilities validator,producer
  $ folkmoot agent propose --tx hello
  $ folkmoot agent vote ${hash.slice(0, 8)}... approve --reason "looks right"`,
    );
  const add = (usage: string, text: string, ...examples: string[]) =>
    withKey(agent.command(usage)).description(text).addHelpText('after', examplesOf(examples));
  addSelf(add);
  addConsensus(add);
  addSocial(add);
  agent.addCommand(allyCommand());
  addWatch(add);
  return agent;
}

type Add = (usage: string, text: string, ...examples: string[]) => Command;

const examplesOf = (examples: readonly string[]) =>
  `\nExamples:\n${examples.map((one) => `  $ folkmoot agent ${one}`).join('\n')}`;

/** What is done with a client, after the key was read; what it gives is printed. */
async function act({ url, key }: KeyFlags, action: (client: AgentClient) => Promise<unknown>) {
  const { AgentClient } = await import('../../api/client/index.js');
  const keys = await readKeys(key);
  await answer(action(new AgentClient({ url, keys, onUnknown: warnUnknown })));
}

function addSelf(add: Add): void {
  add('register', 'register the key as an agent', 'register --name Ada --personality rational')
    .requiredOption('--name <text>', 'what it is called')
    .option('--personality <word>', 'such as rational, greedy, chaotic', 'neutral')
    .option('--description <text>', 'who it is')
    .option('--capabilities <list>', 'validator, producer, or both', list, ['validator'])
    .action(({ url, key, ...fields }: KeyFlags & Registration) =>
      act({ url, key }, (client) => client.register(fields)),
    );
  add('status', 'say whether the agent is available', 'status maintenance --expected-duration PT2H')
    .addArgument(new Argument('<status>').choices(statuses))
    .option('--reason <text>', 'why')
    .option('--expected-duration <duration>', 'for how long, ISO 8601')
    .action((status, { expectedDuration: expected_duration, reason, ...flags }) =>
      act(flags, (client) => client.setStatus(status, omitAbsent({ reason, expected_duration }))),
    );
}

function addConsensus(add: Add): void {
  add('vote', 'vote on a block', `vote ${hash} approve`)
    .argument('<block>', blockSyntax)
    .addArgument(new Argument('<decision>').choices(['approve', 'reject']))
    .option('--reason <text>', 'why')
    .option('--memes <list>', 'ids of memes that moved you', list)
    .action((block, decision, { reason, memes: meme_references, ...flags }) =>
      act(flags, async (client) => {
        const block_hash = await findBlock(client, block);
        const fields: VoteFields = {
          block_hash,
          decision,
          ...omitAbsent({ reason, meme_references }),
        };
        return client.vote(fields);
      }),
    );
  add(
    'propose',
    'propose a block on the head',
    'propose --tx hello --tx world',
    'propose --set greeting=\'"hello"\' --delete farewell',
  )
    .option('--tx <data>', 'a transaction, signed by this agent; repeatable', collect, [])
    .option('--set <key=json>', 'what becomes state if finalized; repeatable', collect, [])
    .option('--delete <key>', 'what state loses if finalized; repeatable', collect, [])
    .option('--parent <hash>', 'build on this block; default: the head')
    .action(({ tx, set, delete: removed, parent, ...flags }) => {
      const proposal = { ...proposalOf(tx, set, removed), ...omitAbsent({ parent_hash: parent }) };
      return act(flags, (client) => client.propose(proposal));
    });
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
    if (key !== undefined && json !== undefined) return [key, JSON.parse(json)];
  } catch {
    // Told below.
  }
  throw new UsageError(`--set ${text}: expected key=JSON, such as greeting='"hello"'`);
}

function addSocial(add: Add): void {
  add('meme', 'post a meme', 'meme cat.gif --caption "Approve this" --tags cats,consensus')
    .argument('<file>', 'PNG, JPEG, WebP, GIF or text, at most 1 MiB')
    .option('--caption <text>', 'its caption')
    .option('--tags <list>', 'its tags', list)
    .action(async (file, { caption, tags, ...flags }) => {
      const post = { file: readBytes(file), ...omitAbsent({ caption, tags }) };
      await act(flags, (client) => client.postMeme(post));
    });
  add('discuss', 'speak on a block in voting', `discuss ${hash} "too large" --sentiment negative`)
    .argument('<block>', blockSyntax)
    .argument('<message>', 'what to say')
    .addOption(new Option('--sentiment <name>').choices(sentiments).default('neutral'))
    .option('--memes <list>', 'ids of memes to refer to', list)
    .action((block, message, { sentiment, memes: meme_references, ...flags }) =>
      act(flags, async (client) => {
        const block_hash = await findBlock(client, block);
        const fields = { block_hash, message, sentiment, ...omitAbsent({ meme_references }) };
        return client.discuss(fields);
      }),
    );
  add('reputation', 'reputation of this agent, or of another', 'reputation')
    .argument('[agent]', `${agentSyntax}; default: this agent`)
    .action((named, flags) =>
      act(flags, async (client) =>
        client.reputation(named === undefined ? undefined : await findAgent(client, named)),
      ),
    );
}

function allyCommand(): Command {
  const example = `ally_${hash.slice(0, 32)}`;
  const ally = new Command('ally')
    .description('propose, answer or leave an alliance')
    .addHelpText(
      'after',
      examplesOf([
        `ally propose agent_${hash.slice(0, 32)} --purpose "calm growth" --duration P1D`,
        `ally respond ${example} accept`,
        `ally leave ${example}`,
      ]),
    );
  const add = (usage: string, text: string, instance: string) =>
    withKey(ally.command(usage))
      .description(text)
      .addHelpText('after', examplesOf([`ally ${instance}`]));
  add('propose', 'invite agents', `propose agent_${hash.slice(0, 32)} --purpose "calm growth"`)
    .argument('<agents...>', `agents to invite, each by ${agentSyntax}`)
    .requiredOption('--purpose <text>', 'what for')
    .option('--duration <duration>', 'PT1M to P30D, ISO 8601; default: PT1H')
    .action((agents: string[], { purpose, duration, ...flags }) =>
      act(flags, async (client) => {
        const target_ids: string[] = [];
        for (const named of agents) target_ids.push(await findAgent(client, named));
        return client.proposeAlliance({ target_ids, purpose, ...omitAbsent({ duration }) });
      }),
    );
  add('respond', 'answer an invitation', `respond ${example} accept`)
    .argument('<alliance>', allianceSyntax)
    .addArgument(new Argument('<answer>').choices(['accept', 'decline']))
    .action((named, said, flags) =>
      act(flags, async (client) =>
        client.respondAlliance(await findAlliance(client, named), said === 'accept'),
      ),
    );
  add('leave', 'leave an alliance', `leave ${example}`)
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
    'print events as they happen, one JSON object a line, until interrupted',
    'watch',
    'watch --topics proposals,outcomes --since 0 --count 10',
  )
    .option('--topics <list>', 'what to listen to', list, defaultTopics)
    .option('--since <seq>', 'begin after this event, not now', integer({ least: 0, most }))
    .option('--count <n>', 'end after so many', integer({ least: 1, most }))
    .action((flags: WatchFlags) => act(flags, (client) => watch(client, flags)));
}

async function watch(client: AgentClient, flags: WatchFlags) {
  const { topics, since, count = most } = flags;
  await expectRegistered(client, flags);
  const interrupted = new AbortController();
  process.once('SIGINT', () => interrupted.abort());
  process.once('SIGTERM', () => interrupted.abort());
  const { signal } = interrupted;
  let seen = 0;
  for await (const event of client.events(topics, { signal, ...omitAbsent({ since }) })) {
    await writeStdoutAsync(JSON.stringify(event));
    seen += 1;
    if (seen === count) break;
  }
}

/**
 * The stream itself waits for a server that is gone, and a server ends the connection of a key that
 * it does not know: both are said at once.
 */
async function expectRegistered(client: AgentClient, { url, key }: KeyFlags): Promise<void> {
  const { ApiError } = await import('../../api/client/index.js');
  try {
    await client.agent(client.agentId);
  } catch (error) {
    if (!(error instanceof ApiError) || error.reason !== 'UNKNOWN_AGENT') throw error;
    throw new RefusedError(`the key in ${key} is no agent at ${url}; ${howToRegister}`);
  }
}
