/// The contracts of fragments, and the records that satisfy them.
struct Contracts {
  /// By fragment.
  private let contracts: [String: CodeContract]

  init(_ contracts: [String: CodeContract]) {
    self.contracts = contracts
  }

  /// Returns the contract of a fragment's record.
  static func contract(
    _ record: CodeRecord, named name: String, documentation: String?
  ) -> CodeContract {
    var nested: [String: CodeContract] = [:]
    for inner in record.nested {
      nested[inner.property] =
        switch inner.shape {
        case .record(let record):
          contract(record, named: name + record.name, documentation: nil)
        case .choice(let choice):
          // What differs between the types is no part of it.
          CodeContract(
            name: name + choice.name, documentation: nil, properties: choice.shared, nested: [:])
        }
    }
    return CodeContract(
      name: name, documentation: documentation, properties: record.properties, nested: nested)
  }

  /// Returns a record with the contracts that it and the records inside satisfy.
  ///
  /// - Parameter inherited: the contracts that the record outside asks of this one.
  func satisfied(by record: CodeRecord, inherited: [CodeContract] = []) -> CodeRecord {
    var result = record
    let own = record.fragments.compactMap { contracts[$0] }
    result.contracts = Self.unique(own.filter { Self.matches(record, $0) } + inherited)
    for index in result.nested.indices {
      let inner = result.nested[index]
      let asked = result.contracts.compactMap { $0.nested[inner.property] }
      switch inner.shape {
      case .record(let record):
        result.nested[index].shape = .record(satisfied(by: record, inherited: asked))
      case .choice(var choice):
        choice.contracts = Self.unique(asked)
        choice.variants = choice.variants.map { satisfied(by: $0) }
        choice.other = satisfied(by: choice.other)
        result.nested[index].shape = .choice(choice)
      }
    }
    return result
  }

  /// Whether a record has all members of a contract, of the same types. Conditions and a type's own
  /// narrower types make a difference.
  private static func matches(_ record: CodeRecord, _ contract: CodeContract) -> Bool {
    contract.properties.allSatisfy { asked in
      guard record.property(asked.wire)?.agrees(with: asked) == true else { return false }
      guard let inner = contract.nested[asked.wire] else { return true }
      switch record.nested(asked.wire) {
      case .record(let record): return matches(record, inner)
      case .choice(let choice):
        return inner.nested.isEmpty
          && inner.properties.allSatisfy { asked in
            choice.shared.contains { $0.agrees(with: asked) }
          }
      case nil: return false
      }
    }
  }

  private static func unique(_ contracts: [CodeContract]) -> [CodeContract] {
    var seen: Set<String> = []
    return contracts.filter { seen.insert($0.name).inserted }
  }
}
