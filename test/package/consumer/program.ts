/** A program that uses each entry point of the package. */
import * as moot from 'folkmoot';
import { startServer } from 'folkmoot/api';
import { AgentClient, generateKeys } from 'folkmoot/client';
import { sha256Hex } from 'folkmoot/signing';
import { completeScenario, type SimResult, simulate } from 'folkmoot/sim';
import { checkDeterminism } from 'folkmoot/testing';

const verifier = moot.createVerifier('inline');
const genesis = { network_id: 'consumer', min_validators: 1 };
const network: moot.Network = await moot.Network.open({ memory: true, genesis, verifier });
const server = await startServer({ network, version: '0', limits: 'bench' });
const ada = new AgentClient({ url: server.url, keys: generateKeys() });
await ada.register({ name: 'Ada', personality: 'lawful', capabilities: ['validator', 'producer'] });
const { block_hash } = await ada.propose({ transactions: ['hello'] });
await ada.vote({ block_hash, decision: 'approve' });
const page = await fetch(`${server.url}/docs`);
const viewer = await fetch(`${server.url}/docs/rapidoc-min.js`);
const { block_height } = network.read.networkState();
await server.close();
await network.close();
await verifier.close();

const scenario = completeScenario({
  ...{ title: 'Small', agents: [{ group: 'all', producers: 2 }], population: 12 },
  length: { blocks: 2 },
});
const result: SimResult = await simulate(scenario, { store: 'memory' });
const { same } = await checkDeterminism(scenario);

const found = {
  ...{ height: block_height, pages: [page.status, viewer.status], verdict: result.verdict },
  ...{ transport: server.transport, same, digits: sha256Hex('').length },
};
process.stdout.write(`${JSON.stringify(found)}\n`);
