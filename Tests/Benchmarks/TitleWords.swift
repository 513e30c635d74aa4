import TestSupport

/// Titles of two to six words out of twenty thousand, few of them frequent and most rare, as in any language:
/// the word of rank n occurs in n times fewer titles than the first.
struct TitleWords {
  private static let wordCount = 20_000

  private let words: [String]
  /// Cumulative sums of the words' weights.
  private let weights: [Double]

  init(seed: UInt64 = 7) {
    var random = SeededGenerator(seed: seed)
    let starts = [
      "b", "ch", "d", "f", "g", "k", "l", "m", "n", "pr", "r", "s", "st", "t", "v", "w",
    ]
    let vowels = ["a", "e", "i", "o", "u", "é", "ö", "ou", "ea", "y"]
    var made: Set<String> = []
    var words: [String] = []
    while words.count < Self.wordCount {
      // Frequent words are short.
      let syllables = 1 + words.count / 2_000 % 4 + Int(random.next() % 2)
      let word = (0..<syllables).map { _ in
        starts[Int(random.next() % UInt64(starts.count))]
          + vowels[Int(random.next() % UInt64(vowels.count))]
      }.joined()
      if made.insert(word).inserted { words.append(word) }
    }
    self.words = words
    var sum = 0.0
    weights = words.indices.map { rank in
      sum += 1 / Double(rank + 1)
      return sum
    }
  }

  func title(_ random: inout SeededGenerator) -> String {
    (0..<2 + random.next() % 5).map { _ in word(&random) }.joined(separator: " ")
  }

  func word(_ random: inout SeededGenerator) -> String {
    let wanted = Double(random.next() % 1_000_000) / 1_000_000 * (weights.last ?? 0)
    var low = 0
    var high = weights.count - 1
    while low < high {
      let middle = (low + high) / 2
      if weights[middle] < wanted { low = middle + 1 } else { high = middle }
    }
    return words[low]
  }
}
