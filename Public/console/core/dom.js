// Elements. All content is set through text nodes and properties, never through markup.

const SVG = "http://www.w3.org/2000/svg";

function assign(made, properties) {
  for (const [name, value] of Object.entries(properties)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (name === "value" || name === "checked" || name === "selected" || name === "indeterminate")
      made[name] = value;
    else made.setAttribute(name, value === true ? (name.startsWith("aria-") ? "true" : "") : value);
  }
}

/**
 * Makes an element. `properties` are attributes, and listeners whose names begin with `on`; children that are
 * null, undefined or false are left out.
 */
export function el(tag, properties = {}, ...children) {
  const made = document.createElement(tag);
  // The value of a select needs its options.
  const {value, ...others} = properties;
  assign(made, others);
  made.append(...shown(children));
  if (value !== undefined) made.value = value;
  return made;
}

/** Makes an element of a picture. */
export function svg(tag, properties = {}, ...children) {
  const made = document.createElementNS(SVG, tag);
  assign(made, properties);
  made.append(...shown(children));
  return made;
}

export function shown(children) {
  return children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false);
}

/** Replaces the children of a place. */
export function put(place, ...children) {
  place.replaceChildren(...shown(children));
  return place;
}

export const byId = (id) => document.getElementById(id);

let count = 0;

/** An id that no other element has. */
export function freshId(prefix = "e") {
  count += 1;
  return `${prefix}-${count}`;
}
