/** `folkmoot why`: why a block ended as it did. */
import { Command } from 'commander';
import { printed, printJson } from '../../output/output.js';

interface Flags {
  json?: boolean;
}

export function whyCommand(): Command {
  return new Command('why')
    .description('say why a block ended as it did: who was pivotal, and what else would have')
    .argument('<dir>', 'a folder that sim --out or serve --data wrote')
    .argument('<block>', 'its hash, 8 of its digits or more, or the height of a final block')
    .option('--json', 'print one JSON object')
    .addHelpText(
      'after',
      `
Power is what the weights give, whoever decides how: exact Banzhaf and Shapley-Shubik indices of the
electorate that was in force. A swing vote is one that, had it been another or none, would have
changed the outcome of the votes that were cast. What is counted again without an agent, a meme or
an alliance is mechanical: nobody was asked again. docs/attribution.md defines each.

Examples:
  $ folkmoot why runs/7 12                  the block that is final at height 12
  $ folkmoot why folkmoot-data 3f9a0c11     of a server's folder, also while it is served
  $ folkmoot why runs/7 12 --json | jq .swings`,
    )
    .action(run);
}

async function run(folder: string, block: string, flags: Flags): Promise<void> {
  const { explain } = await import('../../../sim/why/index.js');
  const { openForReading } = await import('../../options/folder.js');
  const store = openForReading(folder);
  try {
    const explanation = explain(store, folder, block);
    if (flags.json) return printJson(explanation);
    const { explanationLines } = await import('./lines.js');
    await printed(...explanationLines(explanation));
  } finally {
    await store.close();
  }
}
