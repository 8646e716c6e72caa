const WIDTH = 720;
const LABEL_WIDTH = 210;
const BAR_HEIGHT = 18;
const GAP = 6;
const HEAD = 34;
const PLOT = { left: 56, right: 110, top: 40, height: 220, bottom: 40 };

const STYLE = `
  text { font: 12px system-ui, sans-serif; fill: #24292f; }
  .title { font-weight: 600; font-size: 13px; }
  .quiet { fill: #6e7781; }
  .axis { stroke: #d0d7de; }
  .first { fill: #0969da; stroke: #0969da; }
  .other { fill: #8c959f; stroke: #8c959f; }
  path { fill: none !important; stroke-width: 2; }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3; }
    .quiet { fill: #8d96a0; }
    .axis { stroke: #30363d; }
    .first { fill: #4493f8; stroke: #4493f8; }
    .other { fill: #656d76; stroke: #656d76; }
  }`;

/**
 * Returns an SVG of horizontal bars, for light and dark pages. The first bar of each group stands out.
 * @param {string} title
 * @param {{title: string, bars: {label: string, value: number, text: string}[]}[]} groups
 * @returns {string}
 */
export function barPlot(title, groups) {
  const most = Math.max(...groups.flatMap(({ bars }) => bars.map(({ value }) => value)));
  const room = WIDTH - LABEL_WIDTH - 90;
  let y = HEAD;
  const parts = [];
  for (const group of groups) {
    y += 16;
    parts.push(text(0, y, group.title, 'quiet'));
    y += GAP;
    for (const [index, { label, value, text: note }] of group.bars.entries()) {
      const width = ((room * value) / most).toFixed(1);
      parts.push(text(0, y + 13, label));
      parts.push(
        `<rect class="${colour(index)}" x="${LABEL_WIDTH}" y="${y}" width="${width}" height="${BAR_HEIGHT}" rx="2"/>`,
      );
      parts.push(text(LABEL_WIDTH + Number(width) + 6, y + 13, note));
      y += BAR_HEIGHT + GAP;
    }
  }
  return svg(title, y + GAP, parts);
}

/**
 * Returns an SVG of lines over seconds, for light and dark pages.
 * @param {string} title
 * @param {{label: string, points: [seconds: number, value: number][]}[]} series
 * @returns {string}
 */
export function linePlot(title, series) {
  const all = series.flatMap(({ points }) => points);
  const [lastSecond, most] = [Math.ceil(Math.max(...all.map(([s]) => s))), Math.max(...all.map(([, value]) => value))];
  const [bottom, right] = [PLOT.top + PLOT.height, WIDTH - PLOT.right];
  const x = (second) => PLOT.left + ((right - PLOT.left) * second) / lastSecond;
  const y = (value) => bottom - (PLOT.height * value) / most;
  const parts = [`<line class="axis" x1="${PLOT.left}" y1="${bottom}" x2="${right}" y2="${bottom}"/>`];
  for (let second = 0; second <= lastSecond; second += 1)
    parts.push(text(x(second), bottom + 18, `${second} s`, 'quiet', 'middle'));
  for (const value of [0, most / 2, most])
    parts.push(text(PLOT.left - 8, y(value) + 4, value.toLocaleString('en'), 'quiet', 'end'));
  for (const [index, { label, points }] of series.entries()) {
    const path = points.map(([second, value]) => `${x(second).toFixed(1)},${y(value).toFixed(1)}`).join(' L');
    parts.push(`<path class="${colour(index)}" d="M${path}"/>`);
    const [second, value] = points.at(-1);
    parts.push(text(x(second) + 8, y(value) + 4 + 16 * index, label));
  }
  return svg(title, bottom + PLOT.bottom, parts);
}

function svg(title, height, parts) {
  const open = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="-8 0 ${WIDTH + 8} ${height}" role="img">`;
  const head = [`<title>${title}</title>`, `<style>${STYLE}\n</style>`, text(0, 18, title, 'title')];
  return `${[open, ...head, ...parts].join('\n')}\n</svg>\n`;
}

function colour(index) {
  return index === 0 ? 'first' : 'other';
}

function text(x, y, content, style = '', anchor = 'start') {
  const escaped = String(content).replace(/&/g, '&amp;').replace(/</g, '&lt;');
  const attributes = `x="${Number(x).toFixed(1)}" y="${Number(y).toFixed(1)}" text-anchor="${anchor}"`;
  return `<text class="${style}" ${attributes}>${escaped}</text>`;
}
