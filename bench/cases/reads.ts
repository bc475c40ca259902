/**
 * Reads: `GET /api/v1/network/state` relative to a bare uWebSockets.js handler that sends the same
 * bytes.
 */
import { defineCase, type Round, type Row } from '../case.js';
import { getRate } from '../clients/clients.js';
import { withBare, withFolkmoot } from '../servers/processes.js';

interface ReadsOptions {
  seconds: number;
}

const PATH = '/api/v1/network/state';

async function measureReads({ seconds }: ReadsOptions, { r }: Round): Promise<Row[]> {
  const { folkmoot, body } = await withFolkmoot(async (server) => {
    const body = await (await fetch(server.url + PATH)).text();
    return { folkmoot: await getRate(server, PATH, seconds), body };
  });
  const bare = await withBare(body, (server) => getRate(server, PATH, seconds));
  const row = (name: string, { perSecond, cpuUs }: typeof bare): Row => ({
    name,
    per_s: perSecond,
    of_r: perSecond / r,
    cpu_us: cpuUs,
  });
  const answers = 'GET network/state: responses/s, relative to a bare handler';
  const cpu = 'GET network/state: responses per CPU time, relative to a bare handler';
  return [
    row(`GET ${PATH}`, folkmoot),
    row('the same bytes, bare uWebSockets.js', bare),
    { name: answers, ratio: folkmoot.perSecond / bare.perSecond, wanted: 0.5 },
    { name: cpu, ratio: bare.cpuUs / folkmoot.cpuUs, wanted: 0.75 },
  ];
}

export const readsCase = defineCase<ReadsOptions>({
  name: 'reads',
  about: 'GET network/state of a server, relative to a bare uWebSockets.js handler',
  everyRound: true,
  sizes: { small: { seconds: 1 }, large: { seconds: 10 } },
  run: measureReads,
});
