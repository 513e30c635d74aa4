// Charts in SVG: stacked bars of counts, and lines. Texts are outside the picture, so they keep their size at
// every width; arrow keys and the pointer read the values of one interval.

import {el, put, svg} from "./dom.js";
import {time} from "./format.js";

const width = 600;
const height = 150;

/** The next round number above a value, for the top of a scale. */
function top(value) {
  if (value <= 0) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  return [1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10].map((step) => step * power).find((step) => step >= value);
}

/**
 * A chart whose `update(points)` draws it again. A point is `{at, …}`, with a number for each series.
 *
 * - `series`: `{name, label, style}`; `style` is the end of a class in parts.css.
 * - `kind`: "bars" (stacked) or "lines".
 * - `show`: a value as a text.
 */
export function chart({title, series, kind, show, describe}) {
  const picture = svg("svg", {viewBox: `0 0 ${width} ${height}`, preserveAspectRatio: "none", "aria-hidden": true});
  const scale = el("span", {class: "top"});
  const from = el("span"),
    to = el("span");
  const reading = el("p", {class: "reading"});
  const live = el("p", {class: "hidden", role: "status"});
  const plot = el(
    "div",
    {class: "plot", tabindex: 0, role: "group", "aria-label": `${title}: use the arrow keys to read the values`},
    picture,
    scale,
  );
  const numbers = el(
    "details",
    {class: "plain small"},
    el("summary", {}, "As a table"),
    el("div", {class: "body scroll", tabindex: 0, role: "group", "aria-label": `${title}: values`}),
  );
  let points = [],
    chosen = null;

  const legend = el(
    "ul",
    {class: "legend"},
    series.map((one) =>
      el(
        "li",
        {},
        svg(
          "svg",
          {viewBox: "0 0 10 10", "aria-hidden": true},
          svg("rect", {width: 10, height: 10, rx: 2, class: `fill-${one.style}`}),
        ),
        one.label,
      ),
    ),
  );

  const text = (point) =>
    `${time(point.at)}: ${series.map((one) => `${one.label.toLowerCase()} ${show(point[one.name])}`).join(", ")}`;

  function read(index, isSpoken) {
    chosen = index;
    draw();
    if (isSpoken && points[index]) live.textContent = text(points[index]);
  }

  function draw() {
    const sums = points.map((point) =>
      kind === "bars"
        ? series.reduce((sum, one) => sum + (point[one.name] ?? 0), 0)
        : Math.max(0, ...series.map((one) => point[one.name] ?? 0)),
    );
    const most = top(Math.max(0, ...sums));
    const step = width / Math.max(1, points.length);
    const y = (value) => height - (value / most) * (height - 14);
    const shapes = [];
    if (kind === "bars") {
      points.forEach((point, index) => {
        let base = 0;
        for (const one of series) {
          const value = point[one.name] ?? 0;
          if (value > 0) {
            shapes.push(
              svg("rect", {
                x: (index * step + step * 0.12).toFixed(2),
                width: (step * 0.76).toFixed(2),
                y: y(base + value).toFixed(2),
                height: Math.max(0.8, y(base) - y(base + value)).toFixed(2),
                class: `fill-${one.style}`,
              }),
            );
          }
          base += value;
        }
      });
    } else {
      for (const one of series) {
        let path = "",
          isOpen = false;
        points.forEach((point, index) => {
          const value = point[one.name];
          if (value === undefined || value === null) {
            isOpen = false;
            return;
          }
          const place = `${((index + 0.5) * step).toFixed(2)} ${y(value).toFixed(2)}`;
          const isAlone = !isOpen && (points[index + 1]?.[one.name] ?? null) === null;
          path += isAlone
            ? `M${((index + 0.2) * step).toFixed(2)} ${y(value).toFixed(2)}H${((index + 0.8) * step).toFixed(2)}`
            : `${isOpen ? "L" : "M"}${place}`;
          isOpen = !isAlone;
        });
        if (path) shapes.push(svg("path", {d: path, class: `stroke-${one.style}`}));
      }
    }
    if (chosen !== null && points[chosen]) {
      const x = (chosen + 0.5) * step;
      shapes.push(svg("line", {x1: x, x2: x, y1: 0, y2: height, class: "cursor"}));
    }
    put(picture, shapes);
    scale.textContent = sums.some((sum) => sum > 0) ? show(most) : "";
    from.textContent = points.length ? time(points[0].at) : "";
    to.textContent = points.length ? time(points.at(-1).at) : "";
    const current = chosen !== null ? points[chosen] : null;
    reading.textContent = current ? text(current) : describe ? describe(points) : "";
    if (numbers.open) table();
  }

  function table() {
    put(
      numbers.querySelector(".body"),
      el(
        "table",
        {},
        el("caption", {class: "hidden"}, title),
        el(
          "thead",
          {},
          el(
            "tr",
            {},
            el("th", {scope: "col"}, "Time"),
            series.map((one) => el("th", {scope: "col", class: "number"}, one.label)),
          ),
        ),
        el(
          "tbody",
          {},
          points.toReversed().map((point) =>
            el(
              "tr",
              {},
              el("th", {scope: "row", class: "nowrap"}, time(point.at)),
              series.map((one) => el("td", {class: "number"}, show(point[one.name]))),
            ),
          ),
        ),
      ),
    );
  }

  numbers.addEventListener("toggle", () => {
    if (numbers.open) table();
  });
  plot.addEventListener("pointermove", (event) => {
    const box = plot.getBoundingClientRect();
    const index = Math.min(
      points.length - 1,
      Math.max(0, Math.floor(((event.clientX - box.left) / box.width) * points.length)),
    );
    if (index !== chosen) read(index, false);
  });
  plot.addEventListener("pointerleave", () => {
    if (document.activeElement !== plot) read(null, false);
  });
  plot.addEventListener("blur", () => read(null, false));
  plot.addEventListener("keydown", (event) => {
    const last = points.length - 1,
      now = chosen ?? last;
    const next = {ArrowLeft: now - 1, ArrowRight: now + 1, Home: 0, End: last}[event.key];
    if (next === undefined || last < 0) return;
    event.preventDefault();
    read(Math.min(last, Math.max(0, next)), true);
  });

  return {
    element: el(
      "figure",
      {class: "sheet chart"},
      el("h2", {}, title),
      plot,
      el("div", {class: "times", "aria-hidden": true}, from, to),
      legend,
      reading,
      live,
      numbers,
    ),
    update(next) {
      points = next;
      if (chosen !== null && chosen >= next.length) chosen = null;
      draw();
    },
  };
}
