/** `folkmoot explore`: shows a network that is kept in a folder, on a page, and changes nothing. */
import { Command, Option } from 'commander';
import type { Server } from '../../../api/index.js';
import type { KeptNetwork } from '../../../engine/internal.js';
import { print, printJson, say } from '../../output/output.js';
import { doorOptions, openDoor } from '../page/door.js';
import { Stopping } from '../serve/stopping.js';
import { openIfWanted } from './browser.js';
import { FolderControl } from './control.js';
import type { ExploreFlags } from './flags.js';
import { exploreLoad, isLoadRun } from './load-run.js';
import { keptScenario } from './scenario.js';

export function exploreCommand(): Command {
  const command = new Command('explore')
    .description('show a kept run or a data folder on a page, also while it is written')
    .argument('<dir>', 'a folder that sim --out, serve --data or load --out wrote');
  for (const option of doorOptions()) command.addOption(option);
  return command
    .addOption(
      new Option('--open <when>', 'open it in a browser; default: yes, at a terminal').choices([
        'yes',
        'no',
      ]),
    )
    .option('--verify', 'the page recomputes the log in the browser as soon as it is opened')
    .addOption(
      new Option(
        '--export [file]',
        'write the page and all that it shows as one new .html file, which needs no server; ' +
          'default: run.html in the folder of a kept run',
      ).conflicts(['port', 'host', 'open', 'verify']),
    )
    .option('--json', 'print {event, …} when it listens, or when the file is there')
    .addHelpText(
      'after',
      `
Nothing in the folder is changed but view/ and history/, where what the page is shown is kept and
which may be deleted; files there that this installation did not write are made again. Requests
that would write are refused (READ_ONLY). What another process adds to the folder appears as it is
committed; when the folder is deleted meanwhile, what was read is still shown. A damaged folder is
refused, with exit code 13 and the reason. SIGTERM and SIGINT end it.

With --export the log is recomputed first, and a folder that differs is refused. The file opens in a
browser without a network, at any entry: run.html?at=1200. It has what the page shows, memes up to
256 KiB and proposals up to 1 MB; what only the log has, signatures and the requests themselves, is
not in it. A run of 100,000 events takes about half a megabyte; 2,000,000 are the most. Beside the
report of a run as run.html, the report leads into it.

Of a load run that load --out kept, its result is shown: verdict, rates and times over time, errors.

Examples:
  $ folkmoot sim healthy-town --out runs/town && folkmoot explore runs/town
  $ folkmoot explore folkmoot-data --port 8081 --open no      beside the server that writes it
  $ folkmoot explore runs/town --verify                       its log, recomputed in the browser
  $ folkmoot explore runs/town --export                       runs/town/run.html, to pass on
  $ folkmoot explore folkmoot-data --export today.html
  $ folkmoot explore runs/town --json                         for a program that starts it
  $ folkmoot explore runs/votes                               what a load run measured`,
    )
    .action(async (folder: string, flags: ExploreFlags) => {
      if (flags.export === undefined || isLoadRun(folder)) {
        return run(folder, flags, new Stopping());
      }
      const { writeExport } = await import('./export.js');
      await writeExport(folder, flags.export === true ? null : flags.export, flags);
    });
}

async function run(folder: string, flags: ExploreFlags, stopping: Stopping): Promise<void> {
  try {
    await start(folder, flags, stopping);
    await stopping.asked;
  } finally {
    await stopping.closeAll();
  }
  process.exit(0);
}

/** Opens one thing after the other; nothing more once it is asked to stop. */
async function start(folder: string, flags: ExploreFlags, stopping: Stopping): Promise<void> {
  if (isLoadRun(folder)) return exploreLoad(folder, flags, stopping);
  const { KeptNetwork } = await import('../../../engine/internal.js');
  const { storeFolder } = await import('../../options/folder.js');
  const path = storeFolder(folder);
  const network = KeptNetwork.open({
    path,
    onLost(why) {
      say(`folkmoot: ${why}`);
      control.changed();
    },
  });
  stopping.opened(() => network.close());
  const control = new FolderControl(network, folder);
  stopping.opened(async () => control.close());
  if (await stopping.isAsked()) return;
  const more = await keptScenario(folder, network);
  const server = await openDoor(network, flags, { control, ...more });
  stopping.opened(() => server.close());
  if (await stopping.isAsked()) return;
  announce(folder, flags, network, server);
}

function announce(folder: string, flags: ExploreFlags, network: KeptNetwork, server: Server): void {
  const { seq } = network.read.position;
  const { network_id } = network.genesis;
  const { url } = server;
  const page = flags.verify ? verifying(server.page!) : server.page!;
  if (flags.json) {
    printJson({ event: 'listening', url, page, folder, network_id, entries: seq + 1 });
  } else {
    print(`${page} shows ${folder}: ${network_id}, entries 0 to ${seq}; Ctrl+C to stop`);
  }
  openIfWanted(page, flags);
}

/** The view that recomputes, told to begin. */
function verifying(page: string): string {
  const { hash } = new URL(page);
  return `${new URL('explore?verify=1', page).href}${hash}`;
}
