// How elements are seen that leave their plane: what a browser says of them, and what the client does.

const size = { width: 1200, height: 900 };

// The same numbers each time.
function chance(seed) {
  let state = seed;
  return (low, high) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return low + ((high - low) * state) / 2 ** 32;
  };
}

// Elements in the middle of the view; a third of them lie partly before the near plane or behind the viewer.
export function elements(count) {
  const random = chance(7), whole = (low, high) => Math.round(random(low, high));
  const some = (share, value, other) => (random(0, 1) < share ? value : other);
  return Array.from({ length: count }, (_, index) => {
    const isNear = index % 3 === 0, turn = () => some(0.2, 90 * whole(0, 3), whole(0, 3599) / 10);
    return {
      id: "e", type: "note", positionX: whole(300, 900), positionY: whole(250, 650),
      positionZ: isNear ? whole(-300, 300) : whole(-900, 200), rotation: turn(), rotationX: some(0.8, turn(), 0),
      rotationY: some(0.8, turn(), 0), scaleX: some(0.3, -1, 1) * whole(50, 200) / 100,
      scaleY: some(0.3, -1, 1) * whole(50, 200) / 100, perspective: isNear ? whole(50, 250) : some(0.8, whole(600, 2000), 0),
      originalWidth: whole(20, 300), originalHeight: whole(20, 300), anchorX: whole(-5, 15) / 10, anchorY: whole(-5, 15) / 10,
    };
  });
}

const rounded = number => Number(number.toPrecision(12)) + 0;

// What the browser makes of the functions of CSS: the matrix, the corners before the viewer, cut where w is 0.01 by trying.
function seen(element) {
  const { anchorX, anchorY, originalWidth: width, originalHeight: height } = element, perspective = element.perspective;
  const left = anchorX * width, top = anchorY * height;
  const lens = new DOMMatrix(), flat = (...numbers) => new DOMMatrix(numbers);
  if (perspective) lens.m34 = -1 / perspective;
  // From text, and in scale(), its numbers would be of single precision.
  const matrix = flat(1, 0, 0, 1, element.positionX, element.positionY).multiply(lens).translate(0, 0, element.positionZ)
    .rotateAxisAngle(1, 0, 0, element.rotationX).rotateAxisAngle(0, 1, 0, element.rotationY)
    .rotateAxisAngle(0, 0, 1, element.rotation).multiply(flat(element.scaleX, 0, 0, element.scaleY, 0, 0))
    .multiply(flat(1, 0, 0, 1, -left, -top));
  const at = ([x, y]) => matrix.transformPoint(new DOMPoint(x, y, 0, 1)), isBefore = ({ w }) => w >= 0.01;
  const ring = [[0, 0], [width, 0], [width, height], [0, height]];
  const corners = ring.flatMap((from, index) => {
    const to = ring[(index + 1) % 4], point = share => at([from[0] + (to[0] - from[0]) * share, from[1] + (to[1] - from[1]) * share]);
    const found = isBefore(at(from)) ? [at(from)] : [];
    if (isBefore(at(from)) === isBefore(at(to))) return found;
    let [low, high] = [0, 1];
    for (let step = 0; step < 60; step++) {
      const middle = (low + high) / 2;
      if (isBefore(point(middle)) === isBefore(at(from))) low = middle;
      else high = middle;
    }
    return [...found, point(isBefore(at(from)) ? low : high)];
  }).map(({ x, y, w }) => [x / w, y / w]);
  return { matrix: [...matrix.toFloat64Array()], corners, isWhole: ring.every(corner => at(corner).w > 0.05) };
}

// How far a point is from the outline.
function toOutline([px, py], outline) {
  return Math.min(...outline.map(([x, y], index) => {
    const [nextX, nextY] = outline[(index + 1) % outline.length], [dx, dy] = [nextX - x, nextY - y];
    const share = Math.min(1, Math.max(0, ((px - x) * dx + (py - y) * dy) / (dx * dx + dy * dy || 1)));
    return Math.hypot(px - x - share * dx, py - y - share * dy);
  }));
}

// What the browser draws: the box of a node with that transform, points on it, and whether its back is seen.
function drawn(element, transform, corners, random) {
  const node = document.body.appendChild(document.createElement("div"));
  const { originalWidth, originalHeight, anchorX, anchorY } = element;
  const x0 = element.positionX - anchorX * originalWidth, y0 = element.positionY - anchorY * originalHeight;
  node.style.cssText = `position:fixed;left:0;top:0;width:${originalWidth}px;height:${originalHeight}px;` +
    `transform-origin:${anchorX * 100}% ${anchorY * 100}%;transform:translate(${x0}px, ${y0}px) ${transform}`;
  const { x, y, width, height } = node.getBoundingClientRect(), points = [];
  for (let tries = 0; tries < 40 && points.length < 4; tries++) {
    const point = [Math.round(random(x, x + width)), Math.round(random(y, y + height))];
    const isInView = point[0] > 0 && point[1] > 0 && point[0] < size.width && point[1] < size.height;
    if (isInView && toOutline(point, corners) > 4) points.push([...point, document.elementFromPoint(...point) === node]);
  }
  const hit = points.find(([, , isHit]) => isHit);
  node.style.backfaceVisibility = "hidden";
  const back = hit && document.elementFromPoint(hit[0], hit[1]) !== node;
  node.remove();
  return { box: [x, y, width, height], points, back };
}

// Each element with what the browser says of it.
export function measure({ cssTransform }, count) {
  document.body.style.margin = "0";
  const random = chance(9);
  return elements(count).map(element => {
    const { matrix, corners, isWhole } = seen(element);
    const shown = isWhole ? drawn(element, cssTransform(element), corners, random) : {};
    return {
      element, matrix: matrix.map(rounded), corners: corners.map(corner => corner.map(rounded)),
      ...(isWhole && { ...shown, box: shown.box.map(number => Math.round(number * 1000) / 1000) }),
    };
  });
}

// What the client says otherwise than the cases.
export function differences({ corners, contains }, cases) {
  const wrong = [];
  const isFar = (a, b, within) => !(Math.abs(a - b) <= within * Math.max(1, Math.abs(b)));
  for (const { element, corners: expected, box, points = [] } of cases) {
    const actual = corners(element).map(({ x, y }) => [x, y]);
    const isSame = actual.length === expected.length && !actual.flat().some((n, index) => isFar(n, expected.flat()[index], 1e-8));
    if (!isSame) wrong.push({ element, actual, expected });
    const [xs, ys] = [0, 1].map(axis => actual.map(corner => corner[axis]));
    const around = [Math.min(...xs), Math.min(...ys), Math.max(...xs) - Math.min(...xs), Math.max(...ys) - Math.min(...ys)];
    if (box && around.some((n, index) => isFar(n, box[index], 1e-3))) wrong.push({ element, around, box });
    for (const [x, y, isHit] of points) {
      if (contains(element, { x, y }) !== isHit) wrong.push({ element, x, y, isHit });
    }
  }
  return wrong;
}
