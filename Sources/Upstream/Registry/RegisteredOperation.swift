package import GraphQL
package import LosslessJSON
package import Model

/// An operation that is ready to be called.
///
/// Immutable except for its cache of selections by `@skip` and `@include`, so it can be shared
/// freely.
package final class RegisteredOperation: Sendable {
  package let name: String
  /// The description in the document; nil without one.
  package let description: String?
  package let kind: OperationKind
  /// The configured upstream that runs it.
  package let upstream: String
  package let route: RouteTemplate?
  /// The document sent as `query`: client directives removed, `__typename` and key fields added
  /// under reserved aliases where missing, and only the fragments it uses.
  package let document: String
  /// The request's body up to the value of `variables`.
  let requestOpening: [UInt8]
  package let variables: [OperationVariable]
  package let cache: CachePolicy
  /// Whether and how responses are cached, as text for `GET /v1/operations`.
  package let cacheNote: String
  package let access: AccessRule
  package let sync: SyncRule?
  package let effects: EffectRules
  package let path: String
  package let position: SourcePosition
  /// Entity types in its responses, in alphabetical order.
  package let entityTypes: [String]
  /// Entity types in lists in its responses, directly or through embedded objects (edges).
  package let listElementTypes: [String]
  /// Entity types that it looks up by key at the root.
  package let lookupTypes: [String]
  /// Names of the fragments it uses, directly or indirectly.
  package let fragments: [String]
  /// The descriptions of the fragments it uses, in order; fragments without one are omitted.
  package let fragmentDescriptions: [(name: String, text: String)]
  private let inputObjects: InputObjectTypes
  private let keys: EntityKeys
  private let plans: SelectionPlans

  init(
    name: String, description: String?, kind: OperationKind, upstream: String,
    route: RouteTemplate?, document: String,
    variables: [OperationVariable], cache: CachePolicy, cacheNote: String, access: AccessRule,
    sync: SyncRule?, effects: EffectRules, path: String, position: SourcePosition,
    entityTypes: [String], listElementTypes: [String], lookupTypes: [String],
    fragments: [String], fragmentDescriptions: [(name: String, text: String)],
    inputObjects: InputObjectTypes, keys: EntityKeys, plans: SelectionPlans
  ) {
    self.name = name
    self.description = description
    self.kind = kind
    self.upstream = upstream
    self.route = route
    self.document = document
    requestOpening = Self.requestOpening(name: name, document: document)
    self.variables = variables
    self.cache = cache
    self.cacheNote = cacheNote
    self.access = access
    self.sync = sync
    self.effects = effects
    self.path = path
    self.position = position
    self.entityTypes = entityTypes
    self.listElementTypes = listElementTypes
    self.lookupTypes = lookupTypes
    self.fragments = fragments
    self.fragmentDescriptions = fragmentDescriptions
    self.inputObjects = inputObjects
    self.keys = keys
    self.plans = plans
  }

  /// Whether the caller's credential is sent upstream. A query with `scope: PUBLIC` is sent without
  /// it, with the service's own.
  package var sendsCallersCredential: Bool { kind == .mutation || cache.sharing != .public }

  /// The name of the claim that responses are shared by; nil for other operations.
  package var claim: String? {
    if case .claim(let name) = cache.sharing, kind != .mutation { name } else { nil }
  }

  private static func requestOpening(name: String, document: String) -> [UInt8] {
    var writer = JSONWriter()
    writer.beginObject()
    writer.name("query")
    writer.string(document)
    writer.name("operationName")
    writer.string(name)
    writer.name("variables")
    return writer.bytes
  }

  /// Coerces the variables of a call.
  package func coerce(_ input: VariableInput) throws(VariableFaults) -> Variables {
    try VariableCoercer.coerce(input, variables: variables, inputObjects: inputObjects)
  }

  /// The selection of a call. Shared between calls unless arguments depend on variables.
  package func selection(for variables: Variables) -> FieldSelection {
    plans.selection(for: variables)
  }

  /// Resolves a target of this operation with a call's variables; nil if an unset variable leaves
  /// it without an object.
  package func resolve(_ target: EffectTarget, with variables: Variables) -> InvalidationTarget? {
    switch target {
    case .entity(let type, let path):
      guard let value = variables.value(at: path) else { return nil }
      return keys[type]?.key(of: value).map(InvalidationTarget.entity)
    case .type(let name): return .type(name)
    case .operation(let name): return .operation(name)
    case .tag(let name): return .tag(name)
    }
  }

  /// Returns everything that the mutation may have changed, to be fetched again when its outcome is
  /// unknown.
  package func affectedTargets(with variables: Variables) -> [InvalidationTarget] {
    changedTargets(with: variables) + deletedTargets(with: variables)
  }

  /// Returns everything that the mutation changes and does not delete.
  func changedTargets(with variables: Variables) -> [InvalidationTarget] {
    (effects.updates + effects.invalidates + effects.appends)
      .compactMap { resolve($0, with: variables) }
  }

  func deletedTargets(with variables: Variables) -> [InvalidationTarget] {
    effects.deletes.compactMap { resolve($0, with: variables) }
  }
}

/// A variable of an operation as its callers see it.
package struct OperationVariable: Sendable {
  package let name: String
  /// The description in the document; nil without one.
  package let description: String?
  /// As declared: `[ID!]!`.
  package let typeText: String
  package let type: InputType
  /// The coerced default; nil without one.
  package let defaultValue: JSONValue?

  package init(
    name: String, description: String? = nil, typeText: String, type: InputType,
    defaultValue: JSONValue?
  ) {
    self.name = name
    self.description = description
    self.typeText = typeText
    self.type = type
    self.defaultValue = defaultValue
  }

  package var isRequired: Bool { type.isNonNull && defaultValue == nil }
}
