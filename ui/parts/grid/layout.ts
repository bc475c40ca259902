/** Where each agent's cell stands: in bands, in order of registration, as large as fits. */

export interface Band {
  name: string;
  numbers: readonly number[];
}

export interface PlacedBand extends Band {
  /** Of its first row, in CSS pixels. */
  top: number;
  height: number;
}

export interface Layout {
  /** From one cell to the next. */
  pitch: number;
  columns: number;
  width: number;
  height: number;
  bands: readonly PlacedBand[];
  /** By number of the agent: column and row, or -1 for who is not shown. */
  x: Int32Array;
  y: Int32Array;
  /** Agents in the order of their cells. */
  order: Int32Array;
}

const LARGEST = 36;
const SMALLEST = 5;
/** Between bands, and the line that names each. */
const LABEL = 20;

export function layOut(bands: readonly Band[], count: number, width: number, room: number): Layout {
  const labels = bands.length > 1 ? LABEL : 0;
  const heightAt = (pitch: number) => {
    const columns = Math.max(1, Math.floor(width / pitch));
    return bands.reduce(
      (sum, { numbers }) => sum + Math.ceil(numbers.length / columns) * pitch + labels,
      0,
    );
  };
  let pitch = LARGEST;
  while (pitch > SMALLEST && heightAt(pitch) > room) pitch -= 1;
  const columns = Math.max(1, Math.floor(width / pitch));
  const x = new Int32Array(count).fill(-1);
  const y = new Int32Array(count).fill(-1);
  const order = new Int32Array(bands.reduce((sum, { numbers }) => sum + numbers.length, 0));
  let top = 0;
  let next = 0;
  const placed = bands.map((band) => {
    top += labels;
    for (const [place, number] of band.numbers.entries()) {
      x[number] = (place % columns) * pitch;
      y[number] = top + Math.floor(place / columns) * pitch;
      order[next] = number;
      next += 1;
    }
    const height = Math.ceil(band.numbers.length / columns) * pitch;
    const here = { ...band, top, height };
    top += height;
    return here;
  });
  return { pitch, columns, width, height: top, bands: placed, x, y, order };
}

/** The agent whose cell is at a point, or null. */
export function agentAt({ bands, pitch, columns }: Layout, x: number, y: number): number | null {
  const band = bands.find(({ top, height }) => y >= top && y < top + height);
  const column = Math.floor(x / pitch);
  if (!band || column < 0 || column >= columns) return null;
  return band.numbers[Math.floor((y - band.top) / pitch) * columns + column] ?? null;
}

/** The agent that an arrow key leads to. */
export function neighbour({ order, columns }: Layout, from: number, key: string): number | null {
  const place = order.indexOf(from);
  const steps: Record<string, number> = {
    ArrowLeft: -1,
    ArrowRight: 1,
    ArrowUp: -columns,
    ArrowDown: columns,
    Home: -place,
    End: order.length - 1 - place,
    PageUp: -10 * columns,
    PageDown: 10 * columns,
  };
  const step = steps[key];
  if (step === undefined || order.length === 0) return null;
  return order[Math.min(order.length - 1, Math.max(0, place + step))]!;
}
