/** Places for the nodes of a graph: linked ones near each other, none on top of another. Always the same. */

export interface Point {
  x: number;
  y: number;
}

export interface Edge {
  source: number;
  target: number;
}

const ROUNDS = 220;
const SPACE = 60; // wished distance of linked nodes
const WIDER = 1.7;
const PULL = 0.5; // to the middle, weak, for what is held by links
const ALONE = 3; // and stronger for what nothing holds, which would drift away and make all others small

export function placed(count: number, edges: readonly Edge[]): Point[] {
  // A sunflower: spread evenly from the start, without chance.
  const points = Array.from({ length: count }, (_, index): Point => {
    const angle = index * 2.399963;
    const radius = SPACE * 0.7 * Math.sqrt(index + 0.5);
    return { x: radius * Math.cos(angle), y: radius * Math.sin(angle) };
  });
  const linked = new Set(edges.flatMap(({ source, target }) => (source === target ? [] : [source, target])));
  const pushX = new Float64Array(count);
  const pushY = new Float64Array(count);
  for (let round = 0; round < ROUNDS; round++) {
    const heat = SPACE * 0.5 * (1 - round / ROUNDS);
    pushX.fill(0);
    pushY.fill(0);
    for (let a = 0; a < count; a++) {
      for (let b = a + 1; b < count; b++) {
        const dx = points[a]!.x - points[b]!.x;
        const dy = points[a]!.y - points[b]!.y;
        const square = Math.max(dx * dx + dy * dy, 1);
        const force = (SPACE * SPACE) / square;
        pushX[a]! += dx * force;
        pushY[a]! += dy * force;
        pushX[b]! -= dx * force;
        pushY[b]! -= dy * force;
      }
    }
    for (const { source, target } of edges) {
      const from = points[source];
      const to = points[target];
      if (!from || !to || source === target) continue;
      const dx = from.x - to.x;
      const dy = from.y - to.y;
      const force = Math.sqrt(dx * dx + dy * dy) / SPACE;
      pushX[source]! -= dx * force;
      pushY[source]! -= dy * force;
      pushX[target]! += dx * force;
      pushY[target]! += dy * force;
    }
    points.forEach((point, index) => {
      const pull = linked.has(index) ? PULL : ALONE;
      const x = pushX[index]! - point.x * pull;
      const y = pushY[index]! - point.y * pull;
      const length = Math.max(Math.hypot(x, y), 0.001);
      const step = Math.min(length * 0.05, heat);
      point.x += (x / length) * step;
      point.y += (y / length) * step;
    });
  }
  // Screens are wide, and so are labels.
  return points.map(({ x, y }) => ({ x: x * WIDER, y }));
}

export interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
}

/** The box around all points, with room for labels. */
export function boxOf(points: readonly Point[], room = 60): Box {
  if (points.length === 0) return { x: -100, y: -100, width: 200, height: 200 };
  const xs = points.map((point) => point.x);
  const ys = points.map((point) => point.y);
  const x = Math.min(...xs) - room;
  const y = Math.min(...ys) - room;
  return { x, y, width: Math.max(...xs) + room - x, height: Math.max(...ys) + room - y };
}

/** The box after zooming by `factor` around the point at (`u`, `v`), which are parts of it from 0 to 1. */
export function zoomed(box: Box, factor: number, u = 0.5, v = 0.5): Box {
  const width = box.width / factor;
  const height = box.height / factor;
  return { x: box.x + (box.width - width) * u, y: box.y + (box.height - height) * v, width, height };
}
