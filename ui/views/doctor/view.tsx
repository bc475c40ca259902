/** Why a request was refused: pasted here, the server says what it would have verified. */
import { useState } from 'preact/hooks';
import { Lacking } from '../../parts/lacking.js';
import { asked } from '../../parts/server/api.js';
import { Found } from './found.js';
import { type Described, requestIn } from './read.js';
import type { Verification } from './verification.js';

const EXAMPLE = `POST /api/v1/consensus/vote
X-Agent-Public-Key: 0123…
Content-Type: application/json

{"block_hash":"…","decision":"approve","timestamp":"2026-01-01T00:00:00Z","signature":"…"}`;

type State =
  | { is: 'idle' }
  | { is: 'asking' }
  | { is: 'answered'; request: Described; answer: Verification }
  | { is: 'failed'; why: string };

export function View() {
  const [text, write] = useState('');
  const [state, set] = useState<State>({ is: 'idle' });
  const ask = async () => {
    const request = requestIn(text);
    if (typeof request === 'string') return set({ is: 'failed', why: request });
    set({ is: 'asking' });
    try {
      const answer = await asked('/api/v1/debug/verify', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(request),
      });
      const { data } = (await answer.json()) as { data: Verification };
      set({ is: 'answered', request, answer: data });
    } catch (error) {
      set({ is: 'failed', why: error instanceof Error ? error.message : String(error) });
    }
  };
  return (
    <div class="doctor">
      <header class="view-head">
        <h1>
          Request doctor <span class="faint">says what a refused request should have signed</span>
        </h1>
      </header>
      <Lacking what="server">
        <form
          class="panel"
          onSubmit={(event) => {
            event.preventDefault();
            void ask();
          }}
        >
          <label for="request">
            <b>The request</b>{' '}
            <span class="faint">
              as it was sent: a curl command, the raw HTTP, or JSON of method, target, headers and
              body. Nothing is changed by it, and no private key belongs here.
            </span>
          </label>
          <textarea
            id="request"
            rows={12}
            spellcheck={false}
            autocomplete="off"
            placeholder={EXAMPLE}
            value={text}
            onInput={(event) => write(event.currentTarget.value)}
          />
          <p class="proof-ask">
            <button
              type="submit"
              class="button"
              disabled={state.is === 'asking' || text.trim() === ''}
            >
              {state.is === 'asking' ? 'Asking …' : 'What is wrong with it?'}
            </button>
          </p>
        </form>
        {state.is === 'failed' && (
          <p class="panel" role="alert">
            {state.why}
          </p>
        )}
        {state.is === 'answered' && <Found request={state.request} answer={state.answer} />}
      </Lacking>
    </div>
  );
}
