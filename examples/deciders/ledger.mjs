/**
 * A decider that is a tool on an MCP server over stdio. Keeps a ledger of producers of unsound
 * blocks. Returns the ledger as memory, so any process can answer the next question, even after a
 * restart.
 */
import { Server } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';

const decide = {
  name: 'decide',
  description: 'Decides for an agent of a folkmoot simulation, see docs/deciders.schema.json',
  inputSchema: { type: 'object', properties: { view: { type: 'object' } }, required: ['view'] },
};

function answerTo({ view: { block, memory } }) {
  const { ledger = {} } = memory;
  const { producer, soundness } = block;
  const before = ledger[producer] ?? 0;
  const decision = soundness >= 80 && before < 2 ? 'approve' : 'reject';
  const debt = Math.max(0, before + (soundness >= 80 ? -1 : 1));
  const reason = `${soundness} % sound, producer debt ${before}`;
  return {
    commands: [{ do: 'vote', decision, reason }],
    memory: { ledger: { ...ledger, [producer]: debt } },
  };
}

serveStdio(() => {
  const server = new Server({ name: 'ledger', version: '1.0.0' }, { capabilities: { tools: {} } });
  server.setRequestHandler('tools/list', () => ({ tools: [decide] }));
  server.setRequestHandler('tools/call', ({ params }) => {
    const answer = answerTo(params.arguments);
    return { content: [{ type: 'text', text: JSON.stringify(answer) }], structuredContent: answer };
  });
  return server;
});
