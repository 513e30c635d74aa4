import GraphQL

/// The differences between two schemas: types, fields, arguments and enum values that were added, removed or
/// changed.
///
/// Descriptions and directives are no differences: introspection shows no directive of a schema.
struct SchemaChanges: Sendable {
  /// One difference, such as `Film.title: String is now String!`.
  struct Change: Hashable, Sendable {
    enum Kind: String, Hashable, Sendable {
      case added = "+"
      case removed = "-"
      case changed = "~"
    }

    let kind: Kind
    let text: String
  }

  private(set) var all: [Change] = []
  /// Directives that only the old schema applies, such as `@key` written by hand; each with its place.
  private(set) var lostDirectives: [String] = []

  var isEmpty: Bool { all.isEmpty }

  init(from old: Schema, to new: Schema) {
    for kind in OperationType.allCases {
      compareText("the \(kind.rawValue) type", old.rootName(for: kind), new.rootName(for: kind))
    }
    let before = old.types.filter { !$0.name.hasPrefix("__") }
    let after = new.types.filter { !$0.name.hasPrefix("__") }
    for type in before {
      guard let present = new.types[type.name] else {
        add(.removed, "\(type.kind.noun) \(type.name)")
        continue
      }
      compare(type, present)
    }
    for type in after where old.types[type.name] == nil {
      add(.added, "\(type.kind.noun) \(type.name)")
    }
    for type in before { noteDirectives(of: type, in: new) }
  }

  private mutating func add(_ kind: Change.Kind, _ text: String) {
    all.append(Change(kind: kind, text: text))
  }

  private mutating func compareText(_ what: String, _ old: String?, _ new: String?) {
    guard old != new else { return }
    switch (old, new) {
    case (nil, let new?): add(.added, "\(what) \(new)")
    case (let old?, nil): add(.removed, "\(what) \(old)")
    case (let old?, let new?): add(.changed, "\(what) \(old) is now \(new)")
    case (nil, nil): return
    }
  }

  // MARK: Types

  private mutating func compare(_ old: NamedType, _ new: NamedType) {
    guard old.kind == new.kind else {
      return add(.changed, "\(old.name): \(old.kind.noun) is now \(new.kind.noun)")
    }
    compareFields(old, new)
    compareInputs(of: old.name, Array(old.inputFields), Array(new.inputFields), isArgument: false)
    compareNames(old.values.names, new.values.names) { "enum value \(old.name).\($0)" }
    compareNames(old.members, new.members) { "member \($0) of union \(old.name)" }
    compareNames(old.interfaces, new.interfaces) { "interface \($0) of \(old.name)" }
    for value in old.values {
      guard let present = new.values[value.name] else { continue }
      compareDeprecation(
        "\(old.name).\(value.name)", value.deprecationReason, present.deprecationReason)
    }
    if old.isOneOf != new.isOneOf {
      add(.changed, "\(old.name) is \(new.isOneOf ? "now" : "no longer") @oneOf")
    }
  }

  private mutating func compareFields(_ old: NamedType, _ new: NamedType) {
    for field in old.fields {
      let path = "\(old.name).\(field.name)"
      guard let present = new.fields[field.name] else {
        add(.removed, "\(path): \(field.type)")
        continue
      }
      compareTypes(path, field.type, present.type)
      compareDeprecation(path, field.deprecationReason, present.deprecationReason)
      compareInputs(
        of: path, Array(field.arguments), Array(present.arguments), isArgument: true)
    }
    for field in new.fields where old.fields[field.name] == nil {
      add(.added, "\(old.name).\(field.name): \(field.type)")
    }
  }

  private mutating func compareInputs(
    of owner: String, _ old: [InputValue], _ new: [InputValue], isArgument: Bool
  ) {
    func path(_ value: InputValue) -> String {
      isArgument ? "\(owner)(\(value.name):)" : "\(owner).\(value.name)"
    }
    let present = NamedList(new)
    let known = NamedList(old)
    for value in old {
      guard let other = present[value.name] else {
        add(.removed, "\(path(value)) \(value.type)")
        continue
      }
      compareTypes(path(value), value.type, other.type)
      let before = value.defaultValue.map(Printer.print)
      let after = other.defaultValue.map(Printer.print)
      if before != after {
        add(
          .changed,
          "\(path(value)) has the default \(after ?? "none"), which was \(before ?? "none")")
      }
      compareDeprecation(path(value), value.deprecationReason, other.deprecationReason)
    }
    for value in new where known[value.name] == nil {
      add(.added, "\(path(value)) \(value.type)\(value.isRequired ? ", required" : "")")
    }
  }

  private mutating func compareTypes(
    _ path: String, _ old: TypeReference, _ new: TypeReference
  ) {
    guard old.description != new.description else { return }
    // An argument's path ends with its own colon: `Query.film(id:)`.
    let colon = path.hasSuffix(":)") ? "" : ":"
    add(.changed, "\(path)\(colon) \(old) is now \(new)")
  }

  private mutating func compareDeprecation(_ path: String, _ old: String?, _ new: String?) {
    switch (old, new) {
    case (nil, let reason?):
      add(.changed, "\(path) is now deprecated" + (reason.isEmpty ? "" : ": \(reason)"))
    case (_?, nil): add(.changed, "\(path) is no longer deprecated")
    default: return
    }
  }

  private mutating func compareNames(
    _ old: [String], _ new: [String], _ text: (String) -> String
  ) {
    let before = Set(old)
    let after = Set(new)
    for name in old where !after.contains(name) { add(.removed, text(name)) }
    for name in new where !before.contains(name) { add(.added, text(name)) }
  }

  // MARK: Directives

  /// The directives that introspection shows as something else.
  private static let shown: Set<String> = ["deprecated", "oneOf", "specifiedBy"]

  private mutating func noteDirectives(of type: NamedType, in new: Schema) {
    let present = new.types[type.name]
    func lost(_ old: [Directive], _ new: [Directive]?) -> [String] {
      guard let new else { return [] }
      let kept = Set(new.map(\.name.value))
      return old.filter { !Self.shown.contains($0.name.value) && !kept.contains($0.name.value) }
        .map(Printer.print)
    }
    lostDirectives += lost(type.directives, present?.directives).map { "\($0) of \(type.name)" }
    for field in type.fields {
      lostDirectives += lost(field.directives, present?.fields[field.name]?.directives)
        .map { "\($0) of \(type.name).\(field.name)" }
    }
  }
}

extension SchemaChanges {
  /// The maximum number of differences in a report.
  static let shownMax = 200

  /// A line for each difference, then their number.
  var report: String {
    var lines = all.prefix(Self.shownMax).map { "\($0.kind.rawValue) \($0.text.onOneLine)" }
    let more = all.count - Self.shownMax
    if more > 0 { lines.append("… and \(more) more") }
    let counts = [(Change.Kind.added, "added"), (.removed, "removed"), (.changed, "changed")].map {
      kind, word in "\(all.count { $0.kind == kind }) \(word)"
    }
    lines.append(counts.joined(separator: ", "))
    return lines.joined(separator: "\n")
  }
}

extension String {
  /// The text without line breaks and other control characters, which an upstream could put on a terminal.
  var onOneLine: String {
    var scalars = String.UnicodeScalarView()
    for scalar in unicodeScalars {
      let isControl = scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value)
      scalars.append(isControl || [0x2028, 0x2029].contains(scalar.value) ? " " : scalar)
    }
    return String(scalars)
  }
}

extension TypeKind {
  fileprivate var noun: String {
    switch self {
    case .scalar: "scalar"
    case .object: "type"
    case .interface: "interface"
    case .union: "union"
    case .enum: "enum"
    case .inputObject: "input"
    }
  }
}
