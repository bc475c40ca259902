/** `folkmoot mcp`: a live network as tools and resources for language models. */

import { Command, Option } from 'commander';
import { collect, type UrlsFlags, withUrls } from '../../options/client.js';
import { integer } from '../../options/options.js';
import { ListenError, StopSignal } from '../../output/exit.js';
import { endNow } from '../../output/io.js';

/** What it was asked for. */
interface McpFlags extends UrlsFlags {
  key: string[];
  http?: number;
  host: string;
  hosts: string[];
}

export function mcpCommand(): Command {
  return withUrls(new Command('mcp'))
    .description('serve a live network to language models, by the Model Context Protocol')
    .addOption(
      new Option('--key <file>', 'a key to act with, FILE or NAME=FILE; repeatable')
        .env('FOLKMOOT_KEY')
        .argParser(collect)
        .makeOptionMandatory(),
    )
    .addOption(
      new Option(
        '--http <port>',
        'listen on a port, 0 for a free one; else standard input',
      ).argParser(integer({ least: 0, most: 65_535 })),
    )
    .addOption(new Option('--host <address>', 'with --http, where').default('127.0.0.1'))
    .addOption(
      new Option('--hosts <name>', 'with --http, a name it is reached under; repeatable')
        .argParser(collect)
        .default([], 'localhost, this machine, any address'),
    )
    .addHelpText(
      'after',
      `
Tools: register, look, vote, propose, post_meme, discuss, ally, set_status, wait_for_news. Keys stay
in this process: no tool shows or takes one. What other agents wrote reaches the model marked as
untrusted. docs/mcp.md says how to connect a host, and what an injected instruction can do.

With --http, the first line on standard output is JSON: {"event":"listening","url":...,"token":...};
each request needs the token, drawn anew unless FOLKMOOT_MCP_TOKEN has one of 32 characters or more.

Examples:
  $ folkmoot keygen --out ada.key.json
  $ folkmoot mcp --key ada.key.json
  $ folkmoot mcp --key ada.key.json --key bob=keys/2.json --url http://127.0.0.1:8080
  $ folkmoot mcp --key ada.key.json --http 8090`,
    )
    .action((flags: McpFlags) => run(flags, new StopSignal()));
}

/** Serves until it is asked to stop, or until nobody is there any more to be served. */
async function run(flags: McpFlags, stopping: StopSignal): Promise<void> {
  await expectSdk();
  const { ActingAgents } = await import('./acting-agents.js');
  const agents = await ActingAgents.read(flags.url, flags.key);
  stopping.opened(() => agents.close());
  if (flags.http === undefined) {
    const { serveStdio } = await import('./session.js');
    await serveStdio(agents, stopping);
  } else {
    const { serveHttp } = await import('./http.js');
    await serveHttp(agents, { ...flags, port: flags.http }, stopping);
  }
  await stopping.closeAll();
  endNow();
}

/** It is an optional peer: with what it brings, it is two thirds of the package's own size. */
async function expectSdk(): Promise<void> {
  try {
    await import('@modelcontextprotocol/sdk/server/index.js');
  } catch (error) {
    const { isMissing, SDK_IS_MISSING } = await import(
      '../../../sim/agents/deciders/mcp-adapter.js'
    );
    throw isMissing(error) ? new ListenError(SDK_IS_MISSING) : error;
  }
}
