import type { BlockView, NetworkClient } from '../../api/client/index.js';
import { answer, type UrlsFlags, warnUnknown, withUrls } from '../options/client.js';
import { CliCommand, integer } from '../options/options.js';

const rows = integer(1, 1_000);

export function networkCommand(): CliCommand {
  const network = new CliCommand('network')
    .description('read the state of a live network')
    .explain({
      notes: 'Each command prints one JSON object. No key is needed.',
      examples: [
        'network state',
        'network agents --limit 10',
        'network blocks --status finalized --limit 3',
      ],
    });
  withUrls(network.command('state'))
    .description('print height, head, active agents and throughput')
    .explain({
      examples: [
        'network state',
        'network state --url http://10.0.0.1:8080',
        'network state | jq .block_height',
      ],
    })
    .action((flags: UrlsFlags) => look(flags, (client) => client.networkState()));
  withUrls(network.command('agents'))
    .description('list the active validators and producers')
    .option('--limit <n>', 'maximum number of each', rows)
    .explain({
      examples: [
        'network agents',
        'network agents --limit 10',
        'network agents --url http://10.0.0.1:8080',
      ],
    })
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
    .explain({
      examples: [
        'network blocks',
        'network blocks --status voting',
        'network blocks --status finalized --limit 3',
      ],
    })
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
