import GraphQL
import Model

/// Merges the registries of several upstreams: operations, views, and the types that they store.
///
/// A type that two upstreams store under one name must be declared the same by both, with the same
/// key and fields of the same kinds: its entities then have fields of both.
struct RegistryMerger {
  /// What one upstream contributes.
  struct Part {
    let registry: OperationRegistry
    let settings: RegistrySettings
    /// By the name that a type is stored under.
    let rules: [String: EntityKeyRule]
    /// The root types, whose fields are stored with results and not under the type.
    let rootNames: Set<String>
  }

  private let parts: [Part]
  private(set) var findings: [Finding] = []

  init(_ parts: [Part]) {
    self.parts = parts.sorted { $0.settings.upstream < $1.settings.upstream }
  }

  /// - Returns: the merged registry; of use only without faults.
  mutating func merge() -> OperationRegistry {
    checkRoutes()
    var views: [String: EntityView] = [:]
    var inputObjects: InputObjectTypes = [:]
    for part in parts {
      addViews(of: part, to: &views)
      inputObjects.merge(part.registry.inputObjects) { first, _ in first }
    }
    warnOfLoneShared()
    let outlines = parts.compactMap(\.registry.outline)
    let outline = outlines.isEmpty ? nil : SchemaOutline(outlines)
    var interfaces = ClientInterfaceMerger(
      parts.compactMap { part in
        part.registry.interface.map { (upstream: part.settings.upstream, interface: $0) }
      })
    return OperationRegistry(
      operations: parts.flatMap(\.registry.operations), catalogue: catalogue(), views: views,
      inputObjects: inputObjects, outline: outline, interface: interfaces.merge())
  }

  private mutating func fault(_ message: String) {
    findings.append(Finding(.fault, message, at: .none))
  }

  // MARK: Operations and views

  private mutating func checkRoutes() {
    var seen: [RouteTemplate.Shape: RegisteredOperation] = [:]
    for operation in parts.flatMap(\.registry.operations) {
      guard let route = operation.route else { continue }
      let shape = route.shape(isMutation: operation.kind == .mutation)
      if let other = seen[shape], other.upstream != operation.upstream {
        findings.append(
          Finding(
            severity: .fault,
            message: "The route \(route.path) conflicts with the route of \(other.name) of the "
              + "upstream \(other.upstream) (\(other.path):\(other.position)); change one of them.",
            path: operation.path, line: operation.position.line,
            column: operation.position.column))
      }
      seen[shape] = seen[shape] ?? operation
    }
  }

  private mutating func addViews(of part: Part, to views: inout [String: EntityView]) {
    for view in part.registry.views.values.sorted(by: { $0.name < $1.name }) {
      if let other = views[view.name] {
        fault(
          "The fragment \(view.name) of the upstream \(part.settings.upstream), on "
            + "\(view.typeCondition), has the name of another upstream's fragment on "
            + "\(other.typeCondition); both are views, whose names must be unique.")
      }
      views[view.name] = view
    }
  }

  // MARK: Types

  private mutating func catalogue() -> EntityCatalogue {
    var types: [String: (type: EntityType, part: Int)] = [:]
    var shapes: [String: (shape: ObjectShape, part: Int)] = [:]
    var possible: [String: [String]] = [:]
    for (index, part) in parts.enumerated() {
      let catalogue = part.registry.catalogue
      for type in catalogue.types {
        guard let other = types[type.name] else {
          types[type.name] = (type, index)
          continue
        }
        types[type.name] = (merged(type, of: index, into: other.type, of: other.part), other.part)
      }
      for shape in catalogue.shapes.values.sorted(by: { $0.type < $1.type }) {
        guard let other = shapes[shape.type] else {
          shapes[shape.type] = (shape, index)
          continue
        }
        let merged = merged(
          shape, of: index, into: other.shape, of: other.part,
          isEntity: [index, other.part].allSatisfy {
            parts[$0].registry.catalogue.type(named: shape.type) != nil
          })
        shapes[shape.type] = (merged, other.part)
      }
      for (name, members) in catalogue.possibleTypes {
        let known = possible[name] ?? []
        possible[name] = known + members.filter { !known.contains($0) }
      }
    }
    return EntityCatalogue(
      types: types.values.map(\.type).sorted { $0.name < $1.name }, possibleTypes: possible,
      shapes: shapes.mapValues(\.shape))
  }

  private mutating func merged(
    _ type: EntityType, of own: Int, into other: EntityType, of first: Int
  ) -> EntityType {
    let (here, there) = (parts[own].settings, parts[first].settings)
    guard isShared(type.name, in: here), isShared(type.name, in: there) else {
      let name = declaredName(of: type.name, in: here)
      fault(
        "The upstreams \(there.upstream) and \(here.upstream) both store entities of the type "
          + "\(type.name). Set `\(here.section).types.\(name).as` to store one under another name, "
          + "or `shared: true` for the type in both if they are the same entities.")
      return other
    }
    let (ownKey, otherKey) = (parts[own].rules[type.name], parts[first].rules[type.name])
    if ownKey?.parts != otherKey?.parts {
      fault(
        "\(type.name) is shared by \(there.upstream), where its key is \(Self.text(otherKey)), and "
          + "\(here.upstream), where it is \(Self.text(ownKey)); set `types.\(type.name).key` so that "
          + "both have the same.")
      return other
    }
    var columns = other.columns
    for column in type.columns {
      guard let known = columns.first(where: { $0.name == column.name }) else {
        columns.append(column)
        continue
      }
      if known.kind != column.kind {
        fault(
          "\(type.name) is shared, but its field \(column.name) is \(known.kind.rawValue) in "
            + "\(there.upstream) and \(column.kind.rawValue) in \(here.upstream).")
      }
    }
    let keys = columns.prefix(other.keyFields.count)
    let rest = columns.dropFirst(other.keyFields.count).sorted { $0.name < $1.name }
    return EntityType(
      name: other.name, keyFields: other.keyFields, columns: keys + rest,
      lists: other.lists
        + type.lists.filter { list in !other.lists.contains { $0.name == list.name } },
      indexes: Self.union(other.indexes, type.indexes),
      search: Self.union(other.search, type.search))
  }

  /// Merges the fields of embedded objects and of shared entities.
  private mutating func merged(
    _ shape: ObjectShape, of own: Int, into other: ObjectShape, of first: Int, isEntity: Bool
  ) -> ObjectShape {
    let (here, there) = (parts[own].settings, parts[first].settings)
    let isRoot = [own, first].contains { parts[$0].rootNames.contains(shape.type) }
    for (name, field) in shape.fields.sorted(by: { $0.key < $1.key }) where !isRoot {
      guard let known = other.fields[name], known != field else { continue }
      // A type stored twice without a declaration is reported already.
      guard !isEntity || isShared(shape.type, in: here) && isShared(shape.type, in: there) else {
        continue
      }
      let typename = declaredName(of: shape.type, in: here)
      fault(
        "The field \(name) of \(shape.type) has another type in \(here.upstream) than in "
          + "\(there.upstream). Set `\(here.section).types.\(typename).as` to store the type under "
          + "another name.")
    }
    return ObjectShape(
      type: shape.type, fields: other.fields.merging(shape.fields) { first, _ in first })
  }

  /// Warns of a type that is declared shared, but that no other upstream stores.
  private mutating func warnOfLoneShared() {
    for part in parts {
      for name in part.settings.sharedTypes.sorted() {
        let stored = part.settings.storedTypes[name]
        let others = parts.filter { $0.settings.upstream != part.settings.upstream }
        guard !others.contains(where: { $0.registry.catalogue.type(named: stored) != nil })
        else { continue }
        findings.append(
          Finding(
            .warning,
            "\(part.settings.section).types.\(name).shared has no effect: no operation of another "
              + "upstream selects a type stored as \(stored).",
            setting: "\(part.settings.section).types.\(name).shared"))
      }
    }
  }

  private func isShared(_ stored: String, in settings: RegistrySettings) -> Bool {
    settings.sharedTypes.contains { settings.storedTypes[$0] == stored }
  }

  /// The name in the upstream's schema of a type that is stored under a name.
  private func declaredName(of stored: String, in settings: RegistrySettings) -> String {
    settings.storedTypes.renamed.first { $0.value == stored }?.key ?? stored
  }

  private static func text(_ rule: EntityKeyRule?) -> String {
    guard let rule else { return "unknown" }
    return rule.parts.map { $0.canonical == .integer ? "\($0.field) (integer)" : $0.field }
      .joined(separator: ", ")
  }

  private static func union(_ first: [String], _ second: [String]) -> [String] {
    first + second.filter { !first.contains($0) }
  }
}

extension RouteTemplate {
  /// What requests of a route are distinguished by.
  struct Shape: Hashable {
    let isMutation: Bool
    /// Without the names of parameters.
    let segments: [Segment]
  }

  func shape(isMutation: Bool) -> Shape {
    Shape(
      isMutation: isMutation,
      segments: segments.map { if case .parameter = $0 { .parameter("") } else { $0 } })
  }
}
