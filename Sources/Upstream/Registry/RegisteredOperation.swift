package import GraphQL
import LosslessJSON
package import Model

/// One operation of the team, ready to be called.
///
/// Immutable but for its memory of selections by `@skip` and `@include`, so it is shared freely.
package final class RegisteredOperation: Sendable {
  package let name: String
  /// The team's own words for it; nil without.
  package let description: String?
  package let kind: OperationKind
  /// The configured upstream that runs it.
  package let upstream: String
  package let route: RouteTemplate?
  /// What is sent as `query`: client directives taken out, `__typename` and key fields added under
  /// reserved aliases where missing, and only the fragments it uses.
  package let document: String
  /// The request's body up to the value of `variables`.
  let requestOpening: [UInt8]
  package let variables: [OperationVariable]
  package let cache: CachePolicy
  /// Whether and why answers are kept, in words for `GET /v1/operations`.
  package let cacheNote: String
  package let access: AccessRule
  package let sync: SyncRule?
  package let effects: EffectRules
  package let path: String
  package let position: SourcePosition
  /// Entity types its answers can hold, in alphabetical order.
  package let entityTypes: [String]
  /// Entity types its answers can hold lists of, directly or through embedded objects (edges).
  package let listElementTypes: [String]
  /// Entity types it looks up by key at the root.
  package let lookupTypes: [String]
  /// Names of the fragments it uses, directly or not.
  package let fragments: [String]
  /// The team's own words for the fragments it uses, in their order; those without words are left
  /// out.
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

  /// Whether a credential that the caller presents goes upstream with a call. A query with
  /// `scope: PUBLIC` is sent without it, as the service itself.
  package var sendsCallersCredential: Bool { kind == .mutation || cache.sharing != .public }

  /// The name of the claim by which callers share responses; nil for other operations.
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

  /// The variables of a call, or all that is wrong with them.
  package func coerce(_ input: VariableInput) throws(VariableFaults) -> Variables {
    try VariableCoercer.coerce(input, variables: variables, inputObjects: inputObjects)
  }

  /// What the call selects. Shared between calls unless arguments depend on their variables.
  package func selection(for variables: Variables) -> Model.Selection {
    plans.selection(for: variables)
  }

  /// What a target of this operation names with these variables; nil where an unset variable
  /// leaves it without an object.
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
}
