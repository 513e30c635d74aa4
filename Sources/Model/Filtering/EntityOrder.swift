/// The order of a collection: columns in turn, then the key, so that no two entities are equal.
package struct EntityOrder: Hashable, Sendable {
  package struct Term: Hashable, Sendable {
    package let column: String
    package let isDescending: Bool

    package init(column: String, isDescending: Bool = false) {
      self.column = column
      self.isDescending = isDescending
    }
  }

  /// Terms in one order: more tell nothing.
  package static let termsMax = 8

  package let terms: [Term]

  package init(_ terms: [Term] = []) {
    self.terms = terms
  }

  /// By key alone.
  package static let byKey = EntityOrder()

  /// Reads `-year,title`: columns in turn, a minus for the largest first.
  ///
  /// Nulls come before everything, and so at the end where the order is turned round.
  package init(_ text: String, type: EntityType) throws(EntityOrderFaults) {
    var terms: [Term] = []
    var faults: [String] = []
    let columns = Set(type.columns.map(\.name))
    let parts = text.split(separator: ",", omittingEmptySubsequences: false)
    // Before they are looked at: each could be a fault of its own.
    guard parts.count <= Self.termsMax else {
      throw EntityOrderFaults(messages: ["has more than \(Self.termsMax) columns"])
    }
    for part in parts {
      let isDescending = part.hasPrefix("-")
      let name = String(isDescending ? part.dropFirst() : part)
      if !columns.contains(name) {
        faults.append(
          "\(type.name) has no column \(name); it has "
            + type.columns.map(\.name).joined(separator: ", "))
      } else if terms.contains(where: { $0.column == name }) {
        faults.append("\(name) is named twice")
      }
      terms.append(Term(column: name, isDescending: isDescending))
    }
    guard faults.isEmpty else { throw EntityOrderFaults(messages: faults) }
    self.terms = terms
  }
}

/// Why an order cannot be used.
package struct EntityOrderFaults: Error, Hashable, Sendable {
  package let messages: [String]
}
