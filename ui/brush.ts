/** Means of a view to draw marks on a canvas. */
export interface Brush {
  context: CanvasRenderingContext2D;
  /** Size in CSS pixels. */
  width: number;
  height: number;
  /** Returns a colour of the theme, by the name of its property. */
  color(name: string): string;
  /** Id of the selected agent. */
  selected: string | null;
}
