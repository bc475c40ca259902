/** Tools of an agent about itself: register, and say whether it takes part. */
import { RegisterBody, StatusBody, Type } from '../../../../engine/internal.js';
import { given } from '../../../options/client.js';
import { marked, sentence } from '../untrusted.js';
import { described, oneOf } from './fields.js';
import { type Tool, tool } from './tool.js';

const register = tool({
  name: 'register',
  title: 'Register as an agent',
  description:
    'Registers this key as an agent of the network: needed once, before anything but ' +
    'looking. To register the same again is harmless; with other data it is refused. The ' +
    'agent is active at once and is then waited for in votes: set_status "inactive" when it ' +
    'stops taking part.',
  input: {
    name: described(RegisterBody.properties.name, 'What the agent is called; others see it.'),
    personality: Type.Optional(
      described(
        RegisterBody.properties.personality,
        'One word for how it judges, such as rational, lawful, chaotic. Default: neutral.',
      ),
    ),
    description: Type.Optional(
      described(RegisterBody.properties.description, 'Who it is, in a sentence or two.'),
    ),
    capabilities: Type.Optional(
      described(
        RegisterBody.properties.capabilities,
        'validator: may vote; producer: may propose blocks. Fixed for ever. Default: both.',
      ),
    ),
  },
  hints: { idempotentHint: true, destructiveHint: false },
  acts: true,
  async call({ name, personality = 'neutral', description, capabilities }, { by }) {
    const answer = await by.client.register({
      name,
      personality,
      capabilities: capabilities ?? ['validator', 'producer'],
      ...given({ description }),
    });
    const said = sentence`Registered as ${answer.agent_id}, which is ${answer.status}.`;
    return { said, data: marked(answer) as Record<string, unknown> };
  },
});

const setStatus = tool({
  name: 'set_status',
  title: 'Say whether the agent takes part',
  description:
    'Says whether the agent is available. Only an active one is in the electorate of blocks ' +
    'that are proposed from then on, and is waited for there.',
  input: {
    status: oneOf(['active', 'inactive', 'maintenance'], 'The new status.'),
    reason: Type.Optional(described(StatusBody.properties.reason, 'Why; others see it.')),
    expected_duration: Type.Optional(
      described(StatusBody.properties.expected_duration, 'For how long, ISO 8601, such as PT2H.'),
    ),
  },
  hints: { idempotentHint: true, destructiveHint: false },
  acts: true,
  async call({ status, reason, expected_duration }, { by }) {
    const answer = await by.client.setStatus(status, given({ reason, expected_duration }));
    const said = sentence`The agent is ${answer.status}; it was ${answer.previous_status}.`;
    return { said, data: marked(answer) as Record<string, unknown> };
  },
});

export const selfTools: readonly Tool[] = [register, setStatus];
