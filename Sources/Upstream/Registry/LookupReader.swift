import GraphQL
import Model

/// Reads `@cache(lookup:)`, and proposes it for queries that look up one entity by its key.
struct LookupReader {
  let schema: Schema
  let keys: EntityKeys
  let fragments: [String: FragmentDefinition]
  let operation: OperationDefinition
  private(set) var findings: [Finding] = []

  init(
    schema: Schema, keys: EntityKeys, fragments: [String: FragmentDefinition],
    operation: OperationDefinition
  ) {
    self.schema = schema
    self.keys = keys
    self.fragments = fragments
    self.operation = operation
  }

  // MARK: Checking

  /// Checks that the entity of a target can be what the operation returns.
  mutating func check(_ target: EffectTarget, policy: CachePolicy, at location: Location) {
    guard case .entity(let type, _) = target else { return }
    let fields = rootFields
    guard Set(fields.map(Self.responseName)).count == 1, let field = fields.first else {
      fault(
        "requires a query with one root field; there are "
          + "\(Set(fields.map(Self.responseName)).count).", at: location)
      return
    }
    let name = field.name.value
    // Unknown fields are reported by validation.
    guard let declared = definition(of: field), let returned = schema.type(of: declared.type)
    else { return }
    guard declared.type.item == nil else {
      fault("requires a root field that returns one object; \(name) returns a list.", at: location)
      return
    }
    let possible = schema.possibleTypes(of: returned).compactMap { keys[$0.name]?.type }
    guard possible.contains(type) else {
      fault("names \(type), but \(name) returns \(returned.name).", at: location)
      return
    }
    if policy.staleIfError == .zero {
      findings.append(
        Finding(
          .warning,
          "@cache(lookup:) has no effect without staleIfError, the age up to which stored data "
            + "replaces a failed response.", at: location))
    }
  }

  private mutating func fault(_ message: String, at location: Location) {
    findings.append(Finding(.fault, "@cache(lookup:) \(message)", at: location))
  }

  // MARK: Proposing

  /// The target for a query whose only root field takes a variable that looks like the key of its
  /// type: `Film:$id` for `film(id: $id)` and `film(filmId: $id)`; nil for any other query.
  var proposal: EffectTarget? {
    let fields = rootFields
    guard operation.operation == .query, fields.count == 1, let field = fields.first,
      let declared = definition(of: field), declared.type.item == nil,
      let type = schema.type(of: declared.type), type.kind == .object, let rule = keys[type.name],
      rule.parts.count == 1, let key = type.fields[rule.parts[0].field],
      field.arguments.count == 1, let given = field.arguments.first,
      case .variable(let variable) = given.value.kind,
      let argument = declared.arguments[given.name.value]
    else { return nil }
    let names = [key.name, type.name + key.name].map { $0.lowercased() }
    let own = given.name.value.lowercased().filter { $0 != "_" }
    guard names.contains(own), EntityKeys.isComparable(argument.type, key.type) else { return nil }
    return .entity(type: rule.type, path: [variable])
  }

  // MARK: Root fields

  private func definition(of field: Field) -> SchemaField? {
    schema.rootType(for: operation.operation).flatMap {
      schema.field(named: field.name.value, on: $0)
    }
  }

  private static func responseName(_ field: Field) -> String {
    field.alias?.value ?? field.name.value
  }

  /// The operation's root fields without `__typename`.
  private var rootFields: [Field] {
    var fields: [Field] = []
    var open = [operation.selectionSet]
    var seen: Set<String> = []
    while let set = open.popLast() {
      for selection in set.selections {
        switch selection {
        case .field(let field):
          if field.name.value != StoredForm.typenameMember { fields.append(field) }
        case .inlineFragment(let inner): open.append(inner.selectionSet)
        case .fragmentSpread(let spread):
          guard seen.insert(spread.name.value).inserted,
            let fragment = fragments[spread.name.value]
          else { continue }
          open.append(fragment.selectionSet)
        }
      }
    }
    return fields
  }
}
