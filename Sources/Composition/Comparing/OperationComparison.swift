import Model
import Upstream

/// Compares the REST interface of two versions of operations, as their plans describe it.
struct OperationComparison {
  /// One version.
  struct Version: Sendable {
    let operations: [RegisteredOperation]
    let interface: ClientInterface
  }

  private let old: Version
  private let new: Version
  private let oldNames: TypeNames
  private let newNames: TypeNames
  private var changes = InterfaceChanges()

  /// The enums and input objects of a version by name.
  private struct TypeNames {
    let enums: [String: ClientEnum]
    let inputs: [String: ClientInput]

    init(_ interface: ClientInterface) {
      enums = Dictionary(
        interface.enums.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
      inputs = Dictionary(
        interface.inputs.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    }
  }

  static func changes(from old: Version, to new: Version) -> InterfaceChanges {
    var comparison = OperationComparison(old: old, new: new)
    comparison.run()
    return comparison.changes
  }

  private init(old: Version, new: Version) {
    self.old = old
    self.new = new
    oldNames = TypeNames(old.interface)
    newNames = TypeNames(new.interface)
  }

  private mutating func run() {
    let present = Dictionary(
      new.operations.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    let described = Dictionary(
      new.interface.operations.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    let routes = Set(new.operations.compactMap { Path($0)?.shape })
    for operation in old.operations {
      guard let other = present[operation.name] else {
        changes.add(.breaking, operation.name, "the operation is removed")
        if let path = Path(operation), !routes.contains(path.shape) {
          changes.add(.breaking, path.text, "the path is removed")
        }
        continue
      }
      compare(operation, other, routes: routes)
    }
    for operation in old.interface.operations {
      guard let other = described[operation.name], operation.kind == other.kind else { continue }
      compare(operation, other)
    }
    compareEntities()
    let known = Set(old.operations.map(\.name))
    for operation in new.operations where !known.contains(operation.name) {
      changes.add(.note, operation.name, "the operation is new")
    }
  }

  // MARK: Operations

  /// The method and path of `@route`.
  private struct Path {
    /// `GET /api/films/{id}`
    let text: String
    /// The same without the names of parameters, which make no difference to clients.
    let shape: String

    init?(_ operation: RegisteredOperation) {
      guard let route = operation.route else { return nil }
      let method = operation.kind == .mutation ? "POST" : "GET"
      let suffix = operation.kind == .subscription ? "/stream" : ""
      let segments = route.segments.map { segment in
        if case .literal(let text) = segment { text } else { "{}" }
      }
      text = "\(method) /api\(route.path)\(suffix)"
      shape = "\(method) /\(segments.joined(separator: "/"))\(suffix)"
    }
  }

  private mutating func compare(
    _ old: RegisteredOperation, _ new: RegisteredOperation, routes: Set<String>
  ) {
    let name = old.name
    guard old.kind == new.kind else {
      changes.add(.breaking, name, "it was a \(old.kind) and is a \(new.kind)")
      return
    }
    let present = Path(new)
    if let path = Path(old), path.shape != present?.shape {
      let now = present.map { "; it is now \($0.text)" } ?? ""
      let what = routes.contains(path.shape) ? "belongs to another operation" : "is removed"
      changes.add(.breaking, path.text, "the path \(what)\(now)")
    }
    compareAccess(name, old.access, new.access)
    compareSharing(name, old, new)
  }

  private mutating func compareAccess(_ name: String, _ old: AccessRule, _ new: AccessRule) {
    func text(_ rule: AccessRule) -> String {
      rule.role.map { $0.rawValue } ?? (rule.isOpen ? "anyone" : "callers with their own token")
    }
    guard text(old) != text(new) else { return }
    let isWider = new.role == .public || new.role == nil && new.isOpen
    changes.add(
      isWider ? .note : .breaking, name,
      "it was open to \(text(old)) and is open to \(text(new))")
  }

  private mutating func compareSharing(
    _ name: String, _ old: RegisteredOperation, _ new: RegisteredOperation
  ) {
    guard old.claim != new.claim else { return }
    if let claim = new.claim {
      changes.add(.breaking, name, "callers now need a verified token with the claim \(claim)")
    } else {
      changes.add(.note, name, "callers no longer need the claim \(old.claim ?? "")")
    }
  }

  private mutating func compare(_ old: ClientOperation, _ new: ClientOperation) {
    let known = Set(old.variables.map(\.name))
    for variable in old.variables {
      guard let other = new.variables.first(where: { $0.name == variable.name }) else {
        changes.add(.breaking, old.name, "the variable $\(variable.name) is removed")
        continue
      }
      var path: Set<String> = []
      compareInput("\(old.name): $\(variable.name)", variable, other, inside: &path)
    }
    for variable in new.variables where !known.contains(variable.name) {
      if Self.isRequired(variable) {
        changes.add(.breaking, old.name, "the new variable $\(variable.name) is required")
      } else {
        changes.add(.note, old.name, "the variable $\(variable.name) is new")
      }
    }
    compareObject("\(old.name): data", old.response, new.response)
  }

  // MARK: Input

  private static func isRequired(_ field: ClientField) -> Bool {
    if case .nonNull = field.type { !field.isConditional } else { false }
  }

  private mutating func compareInput(
    _ place: String, _ old: ClientField, _ new: ClientField, inside path: inout Set<String>
  ) {
    if !Self.isRequired(old), Self.isRequired(new) {
      changes.add(.breaking, place, "it is now required")
    }
    compareInput(
      place, old.type.nullable, new.type.nullable,
      acceptsNull: !old.type.isNonNull && new.type.isNonNull && !Self.isRequired(new),
      inside: &path)
  }

  /// - Parameter acceptsNull: whether the old one accepted null and the new one does not.
  private mutating func compareInput(
    _ place: String, _ old: ClientType, _ new: ClientType, acceptsNull: Bool,
    inside path: inout Set<String>
  ) {
    if acceptsNull { changes.add(.breaking, place, "it can no longer be null") }
    switch (old, new) {
    case (.list(let item), .list(let other)):
      compareInput(
        "\(place)[]", item.nullable, other.nullable,
        acceptsNull: !item.isNonNull && other.isNonNull, inside: &path)
    case (.enumeration(let name), .enumeration(let other)):
      compareValues(place, name, other, isInput: true)
    case (.input(let name), .input(let other)):
      guard path.insert(name).inserted else { return }
      defer { path.remove(name) }
      guard let before = oldNames.inputs[name], let after = newNames.inputs[other] else { return }
      let known = Set(before.fields.map(\.name))
      for field in before.fields {
        guard let present = after.fields.first(where: { $0.name == field.name }) else {
          changes.add(.breaking, "\(place).\(field.name)", "the field is removed")
          continue
        }
        compareInput("\(place).\(field.name)", field, present, inside: &path)
      }
      for field in after.fields where !known.contains(field.name) && Self.isRequired(field) {
        changes.add(.breaking, "\(place).\(field.name)", "the new field is required")
      }
      if !before.isOneOf, after.isOneOf {
        changes.add(.breaking, place, "exactly one field must be given now")
      }
    default:
      // A single value is coerced to a list of one.
      if case .list(let item) = new, item.nullable == old { return }
      if old != new { changes.add(.breaking, place, "it was \(old.text) and is \(new.text)") }
    }
  }

  private mutating func compareValues(
    _ place: String, _ old: String, _ new: String, isInput: Bool
  ) {
    guard let before = oldNames.enums[old], let after = newNames.enums[new] else { return }
    let present = Set(after.values.map(\.name))
    let known = Set(before.values.map(\.name))
    for value in before.values where !present.contains(value.name) && isInput {
      changes.add(.breaking, place, "the value \(value.name) is no longer accepted")
    }
    for value in after.values where !known.contains(value.name) && !isInput {
      changes.add(.note, place, "the value \(value.name) is new")
    }
  }

  // MARK: Output

  private mutating func compareObject(
    _ place: String, _ old: ClientObject, _ new: ClientObject
  ) {
    for field in old.fields {
      let path = "\(place).\(field.name)"
      guard let present = new.fields.first(where: { $0.name == field.name }) else {
        changes.add(.breaking, path, "the field is removed")
        continue
      }
      if !field.isConditional, present.isConditional {
        changes.add(.breaking, path, "it is no longer always there")
      }
      compareOutput(path, field.type, present.type)
    }
  }

  private mutating func compareOutput(_ place: String, _ old: ClientType, _ new: ClientType) {
    if old.isNonNull, !new.isNonNull { changes.add(.breaking, place, "it can now be null") }
    switch (old.nullable, new.nullable) {
    case (.list(let item), .list(let other)): compareOutput("\(place)[]", item, other)
    case (.object(let object), .object(let other)): compareObject(place, object, other)
    case (.enumeration(let name), .enumeration(let other)):
      compareValues(place, name, other, isInput: false)
    case (.choice(let choice), .choice(let other)):
      compareChoice(
        place, choice.variantObjects, choice.general, other.variantObjects, other.general)
    case (.choice(let choice), .object(let other)):
      compareChoice(place, choice.variantObjects, choice.general, [:], other)
    case (.object(let object), .choice(let other)):
      compareChoice(place, [:], object, other.variantObjects, other.general)
    case (.input(let name), .input(let other)):
      compareEmbedded(place, name, other)
    case (let old, let new):
      if old != new { changes.add(.breaking, place, "it was \(old.text) and is \(new.text)") }
    }
  }

  /// Compares the selections on each type of a position.
  private mutating func compareChoice(
    _ place: String, _ old: [String: ClientObject], _ oldGeneral: ClientObject,
    _ new: [String: ClientObject], _ newGeneral: ClientObject
  ) {
    compareObject(place, oldGeneral, newGeneral)
    for (name, object) in old.sorted(by: { $0.key < $1.key }) {
      compareObject("\(place)<\(name)>", object, new[name] ?? newGeneral)
    }
    for (name, object) in new.sorted(by: { $0.key < $1.key }) where old[name] == nil {
      compareObject("\(place)<\(name)>", oldGeneral, object)
    }
  }

  /// Compares embedded types of local types, which are read as well as written.
  private mutating func compareEmbedded(_ place: String, _ old: String, _ new: String) {
    guard let before = oldNames.inputs[old], let after = newNames.inputs[new] else { return }
    for field in before.fields where !after.fields.contains(where: { $0.name == field.name }) {
      changes.add(.breaking, "\(place).\(field.name)", "the field is removed")
    }
  }

  // MARK: Entities

  private mutating func compareEntities() {
    let present = Dictionary(
      new.interface.entities.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    for entity in old.interface.entities {
      let place = "/v1/entities/\(entity.name)"
      guard let other = present[entity.name] else {
        changes.add(.breaking, place, "the type is no longer stored")
        continue
      }
      if entity.keyFields != other.keyFields {
        changes.add(
          .breaking, place,
          "its key was \(entity.keyFields.joined(separator: ", ")) and is "
            + other.keyFields.joined(separator: ", "))
      }
      for field in entity.fields {
        guard let now = other.fields.first(where: { $0.name == field.name }) else {
          changes.add(.breaking, "\(place): \(field.name)", "the field is removed")
          continue
        }
        compareOutput("\(place): \(field.name)", field.type, now.type)
      }
    }
  }
}

extension ClientType {
  fileprivate var isNonNull: Bool {
    if case .nonNull = self { true } else { false }
  }

  fileprivate var nullable: ClientType {
    if case .nonNull(let inner) = self { inner } else { self }
  }

  /// The type as a client names it.
  fileprivate var text: String {
    switch self {
    case .nonNull(let inner): "\(inner.text)!"
    case .list(let item): "[\(item.text)]"
    case .scalar(let name), .enumeration(let name), .input(let name): name
    case .plain(let form): "\(form)"
    case .object(let object): object.typeName
    case .choice(let choice): choice.general.typeName
    case .reference: "a key"
    }
  }
}

extension ClientChoice {
  fileprivate var variantObjects: [String: ClientObject] {
    Dictionary(variants.map { ($0.typeName, $0) }, uniquingKeysWith: { first, _ in first })
  }
}
