/** `folkmoot network`: looks at a live network. No key is needed. */
import { Command, Option } from 'commander';
import type { BlockView, NetworkClient } from '../../api/client/index.js';
import { answer, type UrlsFlags, warnUnknown, withUrls } from '../options/client.js';
import { integer } from '../options/options.js';

const rows = integer({ least: 1, most: 1_000 });

export function networkCommand(): Command {
  const network = new Command('network')
    .description('look at a live network: state, agents, blocks')
    .addHelpText(
      'after',
      `
Each prints one JSON object. Exit codes: 0 done, 1 refused or unreachable, 2 usage.

Examples:
  $ folkmoot network state
  $ folkmoot network blocks --status finalized --limit 3 --url http://127.0.0.1:8080`,
    );
  withUrls(network.command('state'))
    .description('height, head, who is active, throughput')
    .addHelpText('after', '\nExample:\n  $ folkmoot network state')
    .action((flags: UrlsFlags) => look(flags, (client) => client.networkState()));
  withUrls(network.command('agents'))
    .description('the active validators and producers')
    .option('--limit <n>', 'of each, at most', rows)
    .addHelpText('after', '\nExample:\n  $ folkmoot network agents --limit 10')
    .action(({ url, ...query }: UrlsFlags & { limit?: number }) =>
      look({ url }, (client) => client.agents(query)),
    );
  withUrls(network.command('blocks'))
    .description('blocks, the newest first')
    .addOption(
      new Option('--status <name>', 'only those that are').choices([
        'voting',
        'finalized',
        'rejected',
        'expired',
        'orphaned',
      ]),
    )
    .option('--limit <n>', 'at most', rows)
    .option('--cursor <text>', 'the next_cursor of the page before')
    .addHelpText('after', '\nExample:\n  $ folkmoot network blocks --status voting')
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
