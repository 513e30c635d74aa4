/// A name and its value in a `JSONValue` object.
package struct JSONMember: Sendable, Hashable {
  package var name: String
  package var value: JSONValue

  package init(_ name: String, _ value: JSONValue) {
    self.name = name
    self.value = value
  }
}

extension [JSONMember] {
  /// Up to here comparing all with all is quicker than a set.
  private static let fewMax = 16

  /// Where a member has a name that one before it has.
  package var repeatedPositions: Set<Int> {
    var seen: Set<String> = []
    return Set(
      indices.filter { position in
        let name = self[position].name
        if count <= Self.fewMax { return self[..<position].contains { $0.name == name } }
        return !seen.insert(name).inserted
      })
  }
}
