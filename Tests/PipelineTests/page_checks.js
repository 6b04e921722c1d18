// What a person could not see or use on a page, as sentences: texts that overlap or are cut off, colours too close to each
// other (WCAG 2.2, 1.4.3: 4.5 to 1, large texts 3 to 1), controls without a name.
() => {
  const faults = [];
  const visible = (each) => each.checkVisibility({ opacityProperty: true, visibilityProperty: true });
  const named = (each) => `${each.tagName.toLowerCase()} "${each.innerText?.slice(0, 40) ?? ""}"`;

  const channel = (value) => (value <= 0.03928 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4);
  const parse = (text) => {
    const [red, green, blue, alpha = 1] = text.match(/[\d.]+/g).map(Number);
    return { red, green, blue, alpha };
  };
  const luminance = ({ red, green, blue }) =>
    0.2126 * channel(red / 255) + 0.7152 * channel(green / 255) + 0.0722 * channel(blue / 255);
  const ground = (each) => {
    for (let box = each; box; box = box.parentElement) {
      const colour = parse(getComputedStyle(box).backgroundColor);
      if (colour.alpha === 1) return colour;
    }
    return parse("rgb(255, 255, 255)");
  };

  if (document.documentElement.scrollWidth > innerWidth) {
    faults.push(`the page is ${document.documentElement.scrollWidth} wide, the window ${innerWidth}`);
  }
  // What lies behind an open dialog is covered.
  const scope = document.querySelector("dialog:modal") ?? document.body;
  const holders = [...scope.querySelectorAll("*")].filter((each) => visible(each) && !each.closest("svg")
    && [...each.childNodes].some((node) => node.nodeType === Node.TEXT_NODE && node.data.trim()));
  const texts = holders.map((each) => {
    const range = document.createRange();
    range.selectNodeContents(each);
    return { each, box: range.getBoundingClientRect(), lines: [...range.getClientRects()] };
  });
  for (const { each, box } of texts) {
    const style = getComputedStyle(each);
    const [one, other] = [luminance(parse(style.color)), luminance(ground(each))].sort((a, b) => b - a);
    const ratio = (one + 0.05) / (other + 0.05);
    const isLarge = parseFloat(style.fontSize) >= 24 || (parseFloat(style.fontSize) >= 18.66 && style.fontWeight >= 700);
    if (ratio < (isLarge ? 3 : 4.5)) faults.push(`${named(each)} has a contrast of ${ratio.toFixed(2)}`);
    if (box.right > innerWidth + 1 && !each.closest(".scroll")) faults.push(`${named(each)} ends at ${box.right}`);
  }
  const overlap = (one, other) => Math.min(one.right, other.right) - Math.max(one.left, other.left) > 2
    && Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top) > 2;
  texts.forEach(({ each, box, lines }, index) => {
    for (const another of texts.slice(index + 1)) {
      if (each.contains(another.each) || another.each.contains(each) || !overlap(box, another.box)) continue;
      if (lines.some((line) => another.lines.some((other) => overlap(line, other)))) {
        faults.push(`${named(each)} overlaps ${named(another.each)}`);
      }
    }
  });
  for (const each of scope.querySelectorAll("button, input, a, canvas, select, [role=img]")) {
    if (!visible(each)) continue;
    const name = each.getAttribute("aria-label") || each.innerText?.trim() || [...(each.labels ?? [])].map((label) => label.innerText).join("");
    if (!name) faults.push(`${named(each)} has no name`);
  }
  return faults;
}
