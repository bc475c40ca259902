/** Preparations of documents: files that the reader saves, and servers that the reader starts. */
import { fencedBlocks, guideText, type Preparation } from './shell.js';

const simulating = guideText('docs/simulating.md');
const yaml = fencedBlocks(simulating, 'yaml');
const minority = yaml.find((text) => text.startsWith('title: A stubborn minority'))!;
const sweep = yaml.find((text) => text.startsWith('sweep:'))!;
const sixty = fencedBlocks(guideText('docs/rules.md'), 'yaml').find((text) =>
  text.startsWith('title: Sixty percent of the votes, with'),
)!;
const [sixtyModule, favorite] = fencedBlocks(guideText('docs/rules.md'), 'js') as [string, string];
const town = fencedBlocks(guideText('docs/deciders.md'), 'yaml')[0]!;
const debate = fencedBlocks(guideText('docs/deliberation.md'), 'yaml')[0]!;

const decider = `import { createServer } from 'node:http';
const answer = { do: 'vote', decision: 'approve', reason: 'a test' };
createServer((request, response) => {
  request.resume().on('end', () => {
    response.setHeader('Content-Type', 'application/json');
    response.end(JSON.stringify(answer));
  });
}).listen(8000, '127.0.0.1', () => console.log('"event":"listening"'));
`;

const testServer = 'npx folkmoot serve --limits off --data load-data &\n';

export interface Prepared extends Preparation {
  /** Programs without which the document is skipped. */
  needs?: readonly string[];
}

export const preparations: Readonly<Record<string, Prepared>> = {
  'docs/agents.md': { needs: ['curl'] },
  'docs/archives.md': {
    // The reader has a data folder.
    before:
      'npx folkmoot sim --agents 60 --blocks 20 --out made && mv made/network folkmoot-data\n',
  },
  'docs/cluster.md': {
    needs: ['etcd'],
    addresses: ['10.0.0.1'],
    // The next etcd uses the ports of the first.
    beforeBlock: { 3: 'kill %1 %2 %3 %4 && wait %1 || true\n' },
  },
  'docs/configuration.md': {
    files: { 'folkmoot.yaml': fencedBlocks(guideText('docs/configuration.md'), 'yaml')[0]! },
  },
  'docs/deciders.md': {
    needs: ['python3'],
    files: { 'town.yaml': town, 'decider.mjs': decider },
    before: 'node decider.mjs &\n',
  },
  'docs/deliberation.md': { files: { 'debate.yaml': debate } },
  'docs/load-testing.md': {},
  'docs/own-client.md': {
    files: { 'agent.py': fencedBlocks(guideText('docs/own-client.md'), 'python').join('\n') },
  },
  'docs/page.md': { needs: ['curl'], before: testServer },
  'docs/rules.md': {
    files: { 'sixty.yaml': sixty, 'sixty.js': sixtyModule, 'favorite.js': favorite },
    // The reader has a certificate of a network with this module.
    before:
      'npx folkmoot sim sixty.yaml --set consensus.policy=module ' +
      `--set 'consensus.rule={"file":"sixty.js"}' --set length.blocks=3 --out made && ` +
      'npx folkmoot certify made 1 --out c.json\n' +
      'mkdir polls && for name in a b; do cp sim/scenarios/elections/*.soc polls/$name.soc; done\n',
  },
  'docs/simulating.md': {
    needs: ['curl'],
    files: { 'minority.yaml': minority, 'sweep.yaml': sweep },
    beforeBlock: { 4: 'cat sweep.yaml >> minority.yaml\n' },
  },
  // The tutorial runs the file as printed; here it is smaller.
  'docs/sweeps.md': {
    files: {
      'minority.yaml': `${minority.replace('blocks: 15', 'blocks: 3')}${sweep.replace(
        '[0, 0.1, 0.2, 0.3, 0.4]',
        '[0, 0.2]',
      )}`,
    },
  },
};
