/// The implementation of OverlappingFieldsCanBeMerged.
///
/// Every selection set gets a number; two of them are compared at most once for each relation of their
/// parents, regardless of the number of paths to them. So the work is at most quadratic in the fields
/// with fragments expanded, never exponential, and pending pairs are kept in a list, not on the stack.
/// Equal fields are compared once. A document that would still exceed the limit is a fault itself.
struct OverlapComparison {
  struct Entry {
    let id: Int
    let field: Field
    let parent: NamedType?
    /// Nil for meta fields too: their types are not compared, as in the reference implementation.
    let type: TypeReference?
    let children: Int?
  }

  /// A selection set with its inline fragments expanded.
  struct SelectionRecord {
    var entries: [Entry] = []
    var spreads: [String] = []
  }

  private struct Pair: Hashable {
    let left: Int
    let right: Int
    let isExclusive: Bool
  }

  /// A pair of selection sets to compare, with its path.
  private struct Comparison {
    let pair: Pair
    let path: [String]
    let origins: [Location]
  }

  private typealias Groups = [(key: String, entries: [Entry])]

  private let survey: DocumentSurvey
  private var records: [SelectionRecord] = []
  private var recordByFragment: [String: Int] = [:]
  private var entryCount = 0
  private var groupsByRecord: [Int: Groups] = [:]
  private var indexesByRecord: [Int: [String: Int]] = [:]
  private var compared = Set<Pair>()
  private var pending: [Comparison] = []
  /// Fields expanded and pairs of fields compared so far.
  private var workCount = 0
  private var found: [Fault] = []

  init(_ survey: DocumentSurvey) {
    self.survey = survey
    for operation in survey.operations {
      let root = survey.schema.rootType(for: operation.definition.operation)
      _ = record(operation.definition.selectionSet, on: root)
    }
    for fragment in survey.fragments {
      let type = survey.schema.type(named: fragment.definition.typeCondition.value)
      let index = record(fragment.definition.selectionSet, on: type)
      recordByFragment[fragment.definition.name.value] = index
    }
  }

  mutating func faults() -> [Fault] {
    for index in records.indices {
      for (key, entries) in groups(of: index) {
        for (position, left) in entries.enumerated() {
          for right in entries[(position + 1)...] {
            compare(
              left, right, isExclusive: false, path: [key],
              origins: [left.field.location, right.field.location])
          }
        }
      }
      while let next = pending.popLast() { compare(next) }
      if workCount > workMax { return found + [tooManyFault()] }
    }
    return found
  }

  /// Enough for a thousand different selections of one field, and for fragments nested far deeper than in
  /// practice; reached within seconds.
  private var workMax: Int { 500_000 + 100 * entryCount }

  private func tooManyFault() -> Fault {
    Fault(
      .overlappingFieldsCanBeMerged,
      "Too many fields share a response key to compare them all. Use different aliases.",
      at: survey.document.definitions.first?.location ?? .none)
  }
}

extension OverlapComparison {
  private mutating func record(_ set: SelectionSet, on parent: NamedType?) -> Int {
    let index = records.count
    records.append(SelectionRecord())
    add(set, on: parent, to: index)
    return index
  }

  private mutating func add(_ set: SelectionSet, on parent: NamedType?, to index: Int) {
    for selection in set.selections {
      switch selection {
      case .field(let field):
        let definition = parent.flatMap { survey.schema.field(named: field.name.value, on: $0) }
        let type = definition.flatMap { survey.schema.type(of: $0.type) }
        let children = field.selectionSet.map { record($0, on: type) }
        entryCount += 1
        records[index].entries.append(
          Entry(
            id: entryCount, field: field, parent: parent,
            type: parent?.fields[field.name.value]?.type, children: children))
      case .fragmentSpread(let spread):
        records[index].spreads.append(spread.name.value)
      case .inlineFragment(let fragment):
        let type = fragment.typeCondition.map { survey.schema.type(named: $0.value) } ?? parent
        add(fragment.selectionSet, on: type, to: index)
      }
    }
  }

  /// The key of fields of one parent that every comparison treats as equal.
  private struct Likeness: Hashable {
    let field: Field
    let parent: ObjectIdentifier?
  }

  /// Returns the fields of a selection set with all fragments expanded, by response key.
  private mutating func groups(of index: Int) -> Groups {
    if let groups = groupsByRecord[index] { return groups }
    var groups: Groups = []
    var indexes: [String: Int] = [:]
    var seen = Set<Likeness>()
    var seenFragments = Set<String>()
    var pending = [index]
    while let next = pending.popLast(), workCount <= workMax {
      workCount += records[next].entries.count + 1
      for entry in records[next].entries {
        let likeness = Likeness(
          field: entry.field, parent: entry.parent.map { ObjectIdentifier($0) })
        guard seen.insert(likeness).inserted else { continue }
        let key = entry.field.responseKey
        if let group = indexes[key] {
          groups[group].entries.append(entry)
        } else {
          indexes[key] = groups.count
          groups.append((key, [entry]))
        }
      }
      for name in records[next].spreads where seenFragments.insert(name).inserted {
        if let fragment = recordByFragment[name] { pending.append(fragment) }
      }
    }
    groupsByRecord[index] = groups
    indexesByRecord[index] = indexes
    return groups
  }
}

extension OverlapComparison {
  private mutating func compare(_ comparison: Comparison) {
    let left = groups(of: comparison.pair.left)
    let right = groups(of: comparison.pair.right)
    let indexes = indexesByRecord[comparison.pair.right] ?? [:]
    for (key, entries) in left {
      guard let other = indexes[key] else { continue }
      for first in entries {
        for second in right[other].entries where first.id != second.id {
          compare(
            first, second, isExclusive: comparison.pair.isExclusive, path: comparison.path + [key],
            origins: comparison.origins)
        }
      }
    }
  }

  private mutating func compare(
    _ left: Entry, _ right: Entry, isExclusive: Bool, path: [String], origins: [Location]
  ) {
    workCount += 1
    if workCount > workMax { return }
    // A value never has two different object types, so their fields can differ in name and arguments,
    // but not in the shape of their result.
    let isExclusive =
      isExclusive
      || left.parent !== right.parent && left.parent?.kind == .object
        && right.parent?.kind == .object
    if let reason = conflict(left, right, isExclusive: isExclusive) {
      found.append(fault(reason, path, origins + [left.field.location, right.field.location]))
      return
    }
    guard let first = left.children, let second = right.children else { return }
    let pair = Pair(
      left: min(first, second), right: max(first, second), isExclusive: isExclusive)
    let wider = Pair(left: pair.left, right: pair.right, isExclusive: false)
    if compared.contains(wider) || !compared.insert(pair).inserted { return }
    pending.append(Comparison(pair: pair, path: path, origins: origins))
  }

  private func conflict(_ left: Entry, _ right: Entry, isExclusive: Bool) -> String? {
    if !isExclusive {
      let names = (left.field.name.value, right.field.name.value)
      if names.0 != names.1 { return "\"\(names.0)\" and \"\(names.1)\" are different fields" }
      if !left.field.hasSameArguments(as: right.field) { return "they have differing arguments" }
    }
    if let first = left.type, let second = right.type, !haveSameShape(first, second) {
      return "they return conflicting types \"\(first)\" and \"\(second)\""
    }
    return nil
  }

  /// SameResponseShape() for the types alone: composite types differ in their fields only.
  private func haveSameShape(_ left: TypeReference, _ right: TypeReference) -> Bool {
    switch (left, right) {
    case (.nonNull(let left, _), .nonNull(let right, _)), (.list(let left, _), .list(let right, _)):
      return haveSameShape(left, right)
    case (.named(let left), .named(let right)):
      if left == right { return true }
      let isLeaf = { (name: Name) in survey.schema.type(named: name.value)?.isLeaf ?? false }
      return !isLeaf(left) && !isLeaf(right)
    case (.nonNull, _), (_, .nonNull), (.list, _), (_, .list):
      return false
    }
  }

  private func fault(_ reason: String, _ path: [String], _ locations: [Location]) -> Fault {
    let subfields = path.dropFirst().map { "subfields \"\($0)\" conflict because " }.joined()
    var places: [Location] = []
    for location in locations where !places.contains(where: { $0.isSamePlace(as: location) }) {
      places.append(location)
    }
    return Fault(
      .overlappingFieldsCanBeMerged,
      "Fields \"\(path[0])\" conflict because \(subfields)\(reason). Use different aliases on the "
        + "fields to fetch both if this was intentional.", at: places)
  }
}

extension Field {
  /// Returns whether both pass the same values, in any order.
  fileprivate func hasSameArguments(as other: Field) -> Bool {
    guard arguments.count == other.arguments.count else { return false }
    return arguments.allSatisfy { argument in
      let match = other.arguments.last { $0.name == argument.name }
      return match.map { $0.value.sorted == argument.value.sorted } ?? false
    }
  }
}

extension Value {
  /// The value with the fields of all objects inside in the order of their names.
  fileprivate var sorted: Value {
    switch kind {
    case .list(let items): Value(.list(items.map(\.sorted)), location: location)
    case .object(let fields):
      Value(
        .object(
          fields.map { ObjectField(name: $0.name, value: $0.value.sorted) }
            .sorted { $0.name.value < $1.name.value }),
        location: location)
    case .variable, .int, .float, .string, .boolean, .null, .enum: self
    }
  }
}
