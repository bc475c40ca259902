/** How a block ended, as a shape: told apart without colour. */

const paths: Record<string, string> = {
  finalized: 'M2.5 8.5 6.3 12 13.5 4',
  rejected: 'M3.5 3.5 12.5 12.5M12.5 3.5 3.5 12.5',
  expired: 'M8 2.2A5.8 5.8 0 1 0 8 13.8 5.8 5.8 0 1 0 8 2.2M8 5V8.3L10.6 9.8',
  orphaned: 'M3 13 7 9M9 7 13 3M4.5 7.5 3 9 3 13 7 13 8.5 11.5M11.5 8.5 13 7 13 3 9 3 7.5 4.5',
  voting: 'M3.2 8H3.3M8 8H8.1M12.7 8H12.8',
};

/** Words for readers who have not met the network's own. */
export const outcomes: Readonly<Record<string, string>> = {
  finalized: 'finalized: enough weight approved it',
  rejected: 'rejected: it cannot be finalized any more',
  expired: 'expired: its deadline came first',
  orphaned: 'orphaned: another block took its place',
  voting: 'in voting',
};

export function Glyph({ status }: { status: string }) {
  return (
    <svg class={`glyph ${status}`} viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">
      <path d={paths[status] ?? ''} />
    </svg>
  );
}
