/** A generator of pseudo-random numbers (mulberry32) for tests whose seed is printed when they fail. */
export class Random {
  #state;

  constructor(seed) {
    this.#state = seed >>> 0;
  }

  next() {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let value = this.#state;
    value = Math.imul(value ^ (value >>> 15), value | 1);
    value ^= value + Math.imul(value ^ (value >>> 7), value | 61);
    return ((value ^ (value >>> 14)) >>> 0) / 2 ** 32;
  }

  below(bound) {
    return Math.floor(this.next() * bound);
  }

  of(list) {
    return list[this.below(list.length)];
  }

  chance(share) {
    return this.next() < share;
  }

  shuffled(list) {
    const result = [...list];
    for (let index = result.length - 1; index > 0; index--) {
      const other = this.below(index + 1);
      [result[index], result[other]] = [result[other], result[index]];
    }
    return result;
  }
}

/** Runs a test for many seeds; `LARDER_SEED` chooses one. */
export async function withSeeds(count, body) {
  const one = process.env.LARDER_SEED;
  const seeds = one ? [Number(one)] : Array.from({length: count}, (_, index) => index + 1);
  for (const seed of seeds) {
    try {
      await body(new Random(seed), seed);
    } catch (error) {
      error.message = `seed ${seed}: ${error.message}`;
      throw error;
    }
  }
}
