/** The map, drawn: agents as marks, alliances as hulls. */
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { AllianceRow } from '../../../api/view/model.js';
import { counted } from '../../../report/shared/numbers.js';
import { agents } from '../../data/store.js';
import { kindsOf } from '../../parts/grid/bands.js';
import { sentenceOf } from '../../parts/grid/words.js';
import type { Opinion } from '../../player/answers/opinion.js';
import { go, href } from '../../route/router.js';
import { drawMap, layOutMap } from './draw.js';

interface MapProps {
  opinion: Opinion;
  alliances: readonly AllianceRow[];
  names: [{ low: string; high: string }, { low: string; high: string }];
}

/** Pixels from a mark within which it is meant. */
const NEAR = 14;

export function OpinionMap({ opinion, alliances, names }: MapProps) {
  const box = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const [width, setWidth] = useState(0);
  const [tip, setTip] = useState<{ x: number; y: number; number: number } | null>(null);
  const layout = useMemo(() => (width === 0 ? null : layOutMap(opinion, width)), [opinion, width]);
  const [look, setLook] = useState(0);
  useLayoutEffect(() => {
    const element = box.current!;
    const observer = new ResizeObserver(() => setWidth(Math.floor(element.clientWidth)));
    observer.observe(element);
    setWidth(Math.floor(element.clientWidth));
    const lists = ['(prefers-color-scheme: dark)', '(forced-colors: active)'].map((query) =>
      matchMedia(query),
    );
    const again = () => setLook((count) => count + 1);
    for (const list of lists) list.addEventListener('change', again);
    return () => {
      observer.disconnect();
      for (const list of lists) list.removeEventListener('change', again);
    };
  }, []);
  useEffect(() => {
    if (layout && canvas.current)
      drawMap(canvas.current, layout, kindsOf('personality'), alliances);
  }, [layout, alliances, look]);
  const nearest = ({ clientX, clientY }: MouseEvent) => {
    const at = canvas.current!.getBoundingClientRect();
    const [x, y] = [clientX - at.left, clientY - at.top];
    if (!layout) return null;
    let [found, least] = [-1, NEAR * NEAR];
    for (let place = 0; place < layout.x.length; place += 1) {
      const far = (layout.x[place]! - x) ** 2 + (layout.y[place]! - y) ** 2;
      if (far < least) [found, least] = [place, far];
    }
    return found < 0 ? null : { x, y, number: opinion.agents[found]! };
  };
  // At the ends of the axis, as far as there is room.
  const above = {
    marginLeft: `${Math.max(90, Math.min(width - 90, layout?.originX ?? width / 2))}px`,
  };
  const drawn = counted(opinion.agents.length, 'agent');
  const label = `${drawn} by how they vote. The table has their places.`;
  return (
    <div class="opinion" ref={box}>
      <p class="axis up faint" aria-hidden="true" style={above}>
        ↑ {names[1].high}
      </p>
      <div class="opinion-plane">
        <canvas
          ref={canvas}
          role="img"
          aria-label={label}
          onPointerMove={(event) => setTip(nearest(event))}
          onPointerLeave={() => setTip(null)}
          onClick={(event) => {
            const at = nearest(event);
            if (at) go(href('agent', agents.rows[at.number]!.id));
          }}
        />
        {tip && (
          <p
            class="tip"
            style={{
              left: `${Math.min(tip.x + 12, Math.max(0, width - 250))}px`,
              top: `${tip.y + 14}px`,
            }}
          >
            {sentenceOf(tip.number)}
          </p>
        )}
      </div>
      <p class="axis across faint" aria-hidden="true">
        <span>← {names[0].low}</span>
        <span>{names[0].high} →</span>
      </p>
      <p class="axis down faint" aria-hidden="true" style={above}>
        ↓ {names[1].low}
      </p>
    </div>
  );
}
