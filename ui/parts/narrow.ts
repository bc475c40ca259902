/** Whether there is as little room as on a telephone. */
import { useEffect, useState } from 'preact/hooks';

const query = matchMedia('(max-width: 640px)');

export function useNarrow(): boolean {
  const [narrow, setNarrow] = useState(query.matches);
  useEffect(() => {
    const change = () => setNarrow(query.matches);
    query.addEventListener('change', change);
    return () => query.removeEventListener('change', change);
  }, []);
  return narrow;
}
