/// The name somebody most likely meant.
enum NearestName {
  /// - Returns: the candidate with the fewest edits between it and `name`, case aside, unless that
  ///   is more than a third of it; the first one of equals.
  static func of(_ name: String, among candidates: [String]) -> String? {
    let wanted = Array(name.lowercased().unicodeScalars)
    var best: (name: String, edits: Int)?
    for candidate in candidates {
      let letters = Array(candidate.lowercased().unicodeScalars)
      let edits = edits(wanted, letters)
      let editsMax = max(1, max(wanted.count, letters.count) / 3)
      if edits <= editsMax, edits < best?.edits ?? .max { best = (candidate, edits) }
    }
    return best?.name
  }

  /// Damerau's distance: letters added, left out, changed, or swapped with their neighbour.
  private static func edits(_ left: [Unicode.Scalar], _ right: [Unicode.Scalar]) -> Int {
    var beforeLast: [Int] = []
    var last = Array(0...right.count)
    for (row, letter) in left.enumerated() {
      var current = [row + 1]
      for (column, other) in right.enumerated() {
        var cost = min(last[column + 1], current[column]) + 1
        cost = min(cost, last[column] + (letter == other ? 0 : 1))
        if row > 0, column > 0, letter == right[column - 1], left[row - 1] == other {
          cost = min(cost, beforeLast[column - 1] + 1)
        }
        current.append(cost)
      }
      (beforeLast, last) = (last, current)
    }
    return last[right.count]
  }
}
