/// Which changes a client asks for.
///
/// A cursor carries its digest: going on with another filter would leave out what the first one
/// passed over.
package struct ChangeFilter: Hashable, Sendable {
  package enum Operation: String, Hashable, Sendable, CaseIterable {
    case insert, update, delete
  }

  /// Names of entity types; nil for all.
  package let types: Set<String>?
  package let operations: Set<Operation>
  /// Nil where every entity of the types is asked for.
  package let condition: ChangeCondition?

  package init(
    types: Set<String>? = nil, operations: Set<Operation> = Set(Operation.allCases),
    condition: ChangeCondition? = nil
  ) {
    self.types = types
    self.operations = operations
    self.condition = condition
  }

  package static let all = ChangeFilter()

  /// The same for the same filter on every node and after every restart; never 0.
  package var digest: UInt64 {
    // FNV-1a: the cursor's own MAC is what keeps a client from choosing it.
    var hash: UInt64 = 0xCBF2_9CE4_8422_2325
    for byte in canonicalText.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
    return hash == 0 ? 1 : hash
  }

  private var canonicalText: String {
    let types = types.map { $0.sorted().joined(separator: ",") } ?? "*"
    let operations = operations.map(\.rawValue).sorted().joined(separator: ",")
    let condition = condition.map { ";filter=\($0.text)" } ?? ""
    return "types=\(types);on=\(operations)\(condition)"
  }
}
