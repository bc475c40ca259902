/** The first place where what is stored does not follow from the log. */
import { Fact } from '../../parts/lists/fact.js';
import { moment } from '../../parts/moment.js';
import { plain } from '../../parts/text.js';
import { BlockLink, EntryLink, Who } from '../../parts/who.js';
import type { Parting } from '../../verify/messages.js';

export function Difference({ parting, by }: { parting: Parting; by: string }) {
  const { entry, at, kind, actor, field, expected, found } = parting;
  return (
    <div class="difference" role="alert">
      <p>
        <b>
          It parts at <EntryLink entry={entry} />
        </b>{' '}
        ({plain(kind, 32)}
        {at === null ? '' : `, ${moment(at)}`}). All before it matches; what comes after was not
        recomputed by {by}.
      </p>
      <dl class="facts">
        {actor !== '' && (
          <Fact name="actor">
            <Actor id={actor} />
          </Fact>
        )}
        <Fact name="field">{plain(field, 160)}</Fact>
        <Fact name="follows from the log" whole>
          <code>{plain(expected, 300)}</code>
        </Fact>
        <Fact name="is stored" whole>
          <code>{plain(found, 300)}</code>
        </Fact>
      </dl>
    </div>
  );
}

function Actor({ id }: { id: string }) {
  if (id.startsWith('agent_')) return <Who id={id} />;
  return /^[0-9a-f]{64}$/.test(id) ? <BlockLink hash={id} /> : <span>{plain(id, 80)}</span>;
}
