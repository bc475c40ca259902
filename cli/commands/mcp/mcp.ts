import { Option } from 'commander';
import { type UrlsFlags, withUrls } from '../../options/client.js';
import { CliCommand, collect, integer } from '../../options/options.js';
import { listenError, StopSignal } from '../../output/exit.js';
import { endNow } from '../../output/io.js';

interface McpFlags extends UrlsFlags {
  key: string[];
  http?: number;
  host: string;
  hosts: string[];
}

export function mcpCommand(): CliCommand {
  return withUrls(new CliCommand('mcp'))
    .description('serve a live network to language models (MCP)')
    .addOption(
      new Option('--key <file>', 'signing key, FILE or NAME=FILE, may be repeated')
        .env('FOLKMOOT_KEY')
        .argParser(collect)
        .makeOptionMandatory(),
    )
    .addOption(
      new Option(
        '--http <port>',
        'port to listen on, 0 for a free port (default: stdio)',
      ).argParser(integer(0, 65_535)),
    )
    .addOption(
      new Option('--host <address>', 'address to listen on with --http').default('127.0.0.1'),
    )
    .addOption(
      new Option('--hosts <name>', 'allowed Host header with --http, may be repeated')
        .argParser(collect)
        .default([], 'localhost, this machine, any address'),
    )
    .notes(`
Tools: register, look, vote, propose, post_meme, discuss, ally, set_status,
wait_for_news. Keys stay in this process: no tool returns or accepts one. Text
by other agents is marked as untrusted. See docs/mcp.md.

With --http, the first line on standard output is JSON:
  {"event":"listening","url":...,"token":...}
Every request needs the token, which is random by default. To choose the token,
set FOLKMOOT_MCP_TOKEN to 32 or more characters.`)
    .examples(
      'keygen --out ada.key.json',
      'mcp --key ada.key.json',
      'mcp --key ada.key.json --key bob=keys/2.json',
      'mcp --key ada.key.json --http 8090',
    )
    .action((flags: McpFlags) => run(flags, new StopSignal()));
}

/** Serves until a signal arrives or the host closes standard input. */
async function run(flags: McpFlags, stopping: StopSignal): Promise<void> {
  await expectSdk();
  const { ActingAgents } = await import('./acting-agents.js');
  const agents = await ActingAgents.read(flags.url, flags.key);
  stopping.opened(() => agents.close());
  const { McpService, serveStandardInput } = await import('./server.js');
  const service = new McpService(agents);
  if (flags.http === undefined) await serveStandardInput(service, stopping);
  else {
    const { serveHttp } = await import('./http.js');
    await serveHttp(service, { ...flags, port: flags.http }, stopping);
  }
  await stopping.closeAll();
  endNow();
}

/** Checks for the SDK, an optional peer dependency because of its size. @throws {Failure} */
async function expectSdk(): Promise<void> {
  try {
    await import('@modelcontextprotocol/server');
  } catch (error) {
    const { isMissing, sdkIsMissing } = await import('../../../sim/agents/deciders/mcp-adapter.js');
    if (!isMissing(error)) throw error;
    throw listenError('CANNOT_SERVE', { reason: sdkIsMissing('server') });
  }
}
