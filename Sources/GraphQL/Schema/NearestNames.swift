/// Suggestions for a misspelt name.
package enum NearestNames {
  /// Returns similar names, nearest first, then by name.
  ///
  /// The maximum distance is 40 % of the length plus one, with something left in common; a difference
  /// in case alone counts one.
  package static func suggestions(
    for name: String, among names: some Sequence<String>
  ) -> [String] {
    guard name.utf8.count <= lengthMax else { return [] }
    let threshold = name.utf8.count * 4 / 10 + 1
    var found: [(name: String, distance: Int)] = []
    for candidate in Set(names) {
      guard let distance = distance(name, candidate, atMost: threshold) else { continue }
      found.append((candidate, distance))
    }
    return found.sorted { ($0.distance, $0.name) < ($1.distance, $1.name) }.map(\.name)
  }

  /// ` Did you mean "a", "b" or "c"?`, with a leading space; empty without names.
  package static func didYouMean(_ names: [String]) -> String {
    let shown = names.prefix(suggestionsMax).map { "\"\($0)\"" }
    guard let last = shown.last else { return "" }
    if shown.count == 1 { return " Did you mean \(last)?" }
    return " Did you mean \(shown.dropLast().joined(separator: ", ")) or \(last)?"
  }

  /// ` Did you mean …?` for the names similar to `name`; empty if there is none.
  package static func didYouMean(_ name: String, among names: some Sequence<String>) -> String {
    didYouMean(suggestions(for: name, among: names))
  }

  private static let suggestionsMax = 5
  /// The longest name that is compared, since the time is the product of two lengths.
  private static let lengthMax = 256

  /// The number of insertions, deletions, substitutions and swaps of neighbours; nil beyond the limit.
  private static func distance(_ left: String, _ right: String, atMost limit: Int) -> Int? {
    if left == right { return 0 }
    let left = left.utf8.map(lowercased)
    let right = right.utf8.map(lowercased)
    if left == right { return limit >= 1 ? 1 : nil }
    if (left.count - right.count).magnitude > limit { return nil }
    var beforeLast: [Int] = []
    var last = Array(0...right.count)
    for row in 1...max(left.count, 1) where !left.isEmpty {
      var current = [row]
      for column in 1...max(right.count, 1) where !right.isEmpty {
        let isSame = left[row - 1] == right[column - 1]
        var cost = min(
          last[column] + 1, current[column - 1] + 1, last[column - 1] + (isSame ? 0 : 1))
        if row > 1, column > 1, left[row - 1] == right[column - 2],
          left[row - 2] == right[column - 1]
        {
          cost = min(cost, beforeLast[column - 2] + 1)
        }
        current.append(cost)
      }
      if (current.min() ?? 0) > limit { return nil }
      beforeLast = last
      last = current
    }
    let distance = last[right.count]
    return distance <= limit && distance < max(left.count, right.count) ? distance : nil
  }

  private static func lowercased(_ byte: UInt8) -> UInt8 {
    byte >= UInt8(ascii: "A") && byte <= UInt8(ascii: "Z") ? byte | 0x20 : byte
  }
}
