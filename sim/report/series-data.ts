/** series.csv, curve by curve. */
import { numberOf, tableRows } from '../../report/read.js';

export interface Instant {
  ms: number;
  value: number | null;
}

export class SeriesData {
  readonly #curves = new Map<string, Instant[]>();

  static async read(folder: string): Promise<SeriesData> {
    const data = new SeriesData();
    for await (const { t_ms, measure, group, value } of tableRows(folder, 'series.csv')) {
      const key = data.#key(measure!, group!);
      const curve = data.#curves.get(key) ?? [];
      if (curve.length === 0) data.#curves.set(key, curve);
      curve.push({ ms: Number(t_ms), value: numberOf(value) });
    }
    return data;
  }

  /** Of the whole network when no group is named. */
  curve(measure: string, group = ''): readonly Instant[] {
    return this.#curves.get(this.#key(measure, group)) ?? [];
  }

  #key(measure: string, group: string): string {
    return JSON.stringify([measure, group]);
  }
}
