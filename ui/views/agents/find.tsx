/** Finds an agent by the beginning of its name or id. */
import { useState } from 'preact/hooks';
import { agents } from '../../data/store.js';
import { nameOf } from '../../parts/grid/words.js';

const MOST = 8;

export function Find({ onFind }: { onFind: (number: number) => void }) {
  const [text, setText] = useState('');
  const found = text.trim() === '' ? [] : matches(text.trim().toLowerCase());
  const take = (number: number) => {
    setText('');
    onFind(number);
  };
  return (
    <form
      class="find"
      onSubmit={(event) => {
        event.preventDefault();
        if (found[0] !== undefined) take(found[0]);
      }}
    >
      <label>
        <span class="unseen">Find an agent by name or id</span>
        <input
          type="search"
          placeholder="Find an agent"
          maxLength={128}
          value={text}
          onInput={({ currentTarget }) => setText(currentTarget.value)}
        />
      </label>
      {text.trim() !== '' && (
        <ul class="found">
          {found.length === 0 && <li class="faint">Nobody is called that.</li>}
          {found.map((number) => (
            <li key={number}>
              <button type="button" onClick={() => take(number)}>
                <bdi>{nameOf(number)}</bdi>{' '}
                <span class="faint">{agents.rows[number]!.personality}</span>
              </button>
            </li>
          ))}
        </ul>
      )}
    </form>
  );
}

function matches(text: string): number[] {
  const found: number[] = [];
  for (let number = 0; number < agents.count.value && found.length < MOST; number += 1) {
    const { name, id } = agents.rows[number]!;
    if (name.toLowerCase().includes(text) || id.startsWith(text)) found.push(number);
  }
  return found;
}
