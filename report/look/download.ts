/**
 * Pictures of figures as files: a script of the page, which its policy knows by its hash. What it
 * gives needs nothing of the page: light colours, the legend, the caption as a description.
 */
import { createHash } from 'node:crypto';
import { Html, html } from '../html.js';
import { palette } from '../shared/palette.js';

/** Beside each figure; the script shows them where it runs. */
export const downloads = html`<p class="downloads" hidden>
<button type="button" data-as="svg">SVG</button>
<button type="button" data-as="png">PNG</button></p>
`;

/** Pixels of a picture for each of the drawing: 300 a printed inch at the width of a page. */
const SCALE = 3;

/** By the names that the style sheet has for them. */
const lightColors = Object.fromEntries(
  Object.entries(palette.light).map(([name, color]) => [`--${name}`, color]),
);

// No sign of it may end or begin a tag. Runs in the page.
const source = `
const colors = ${JSON.stringify(lightColors)};
const SVG = 'http://www.w3.org/2000/svg';
const element = (name, attributes, text) => {
  const made = document.createElementNS(SVG, name);
  for (const key of Object.keys(attributes)) made.setAttribute(key, attributes[key]);
  if (text) made.textContent = text;
  return made;
};
const font = '12px Helvetica, Arial, sans-serif';
const textWidth = (text) => {
  const context = document.createElement('canvas').getContext('2d');
  context.font = font;
  return context.measureText(text).width;
};
const legendOf = (figure, width) => {
  const group = element('g', {});
  let x = 8;
  let y = 0;
  for (const item of figure.querySelectorAll('.legend li')) {
    const text = item.textContent.trim();
    const wide = 30 + textWidth(text) + 16;
    if (x > 8 && x + wide > width) { x = 8; y += 18; }
    const key = item.querySelector('svg').cloneNode(true);
    for (const [name, value] of Object.entries({ x, y: y + 4, width: 24, height: 10 }))
      key.setAttribute(name, value);
    key.setAttribute('fill', 'none');
    group.append(key, element('text', { x: x + 30, y: y + 13 }, text));
    x += wide;
  }
  return { group, height: group.childNodes.length ? y + 24 : 0 };
};
const pictureOf = (figure) => {
  const plot = figure.querySelector('svg.plot.wide').cloneNode(true);
  const width = Number(plot.getAttribute('width'));
  const { group, height: above } = legendOf(figure, width);
  const height = Number(plot.getAttribute('height')) + above;
  const size = { width, height, viewBox: [0, 0, width, height].join(' ') };
  const style = 'color: ' + colors['--ink'] + '; font: ' + font + '; fill: currentColor';
  const picture = element('svg', { ...size, style });
  picture.append(element('title', {}, figure.querySelector('h3').textContent));
  picture.append(element('desc', {}, figure.querySelector('figcaption').textContent));
  picture.append(element('style', {}, 'text { white-space: pre }'));
  picture.append(element('rect', { width, height, fill: colors['--paper'] }));
  for (const name of ['class', 'role', 'aria-label']) plot.removeAttribute(name);
  plot.setAttribute('y', above);
  picture.append(group, plot);
  const text = new XMLSerializer().serializeToString(picture);
  const own = text.replace(/var\\((--[a-z0-9]+)\\)/g, (_, name) => colors[name]);
  return { width, height, text: own };
};
const save = (blob, name) => {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60000);
};
const savePng = ({ width, height, text }, name) => {
  const image = new Image();
  image.onload = () => {
    const canvas = document.createElement('canvas');
    canvas.width = width * ${SCALE};
    canvas.height = height * ${SCALE};
    canvas.getContext('2d').drawImage(image, 0, 0, canvas.width, canvas.height);
    canvas.toBlob((blob) => save(blob, name), 'image/png');
  };
  image.src = 'data:image/svg+xml;charset=utf-8,' + encodeURIComponent(text);
};
const slug = (text) => text.toLowerCase().replace(/[^a-z0-9]+/g, '-').replace(/^-|-$/g, '');
document.addEventListener('click', ({ target }) => {
  const as = target.dataset && target.dataset.as;
  if (!as) return;
  const figure = target.closest('figure');
  const picture = pictureOf(figure);
  const name = (slug(figure.querySelector('h3').textContent) || 'figure') + '.' + as;
  if (as === 'png') savePng(picture, name);
  else save(new Blob([picture.text], { type: 'image/svg+xml' }), name);
});
for (const shown of document.querySelectorAll('.downloads')) shown.hidden = false;
`;

/** To stand at the end of the page. */
export const script = new Html(`<script>${source}</script>`);

/** By which the policy of the page allows this script, and no other. */
export const scriptHash = `sha256-${createHash('sha256').update(source).digest('base64')}`;
