package import GraphQL
package import LosslessJSON
package import Model

/// An operation that is ready to be called.
///
/// Immutable except for its cache of selections by `@skip` and `@include`, so it can be shared
/// freely.
package final class RegisteredOperation: Sendable {
  package let name: String
  /// The description in the document, otherwise the comment above it; nil without either.
  package let description: String?
  package let kind: OperationKind
  /// The configured upstream that runs it.
  package let upstream: UpstreamName
  package let route: RouteTemplate?
  /// The document sent as `query`: client directives removed, `__typename` and key fields added
  /// under reserved aliases where missing, and only the fragments it uses.
  package let document: String
  /// The names of its document for clients that send one.
  package let identity: DocumentIdentity
  /// The request's body up to the value of `variables`.
  let requestOpenings: RequestOpenings
  package let variables: [OperationVariable]
  package let cache: CachePolicy
  /// Whether and how responses are cached, as text for `GET /v1/operations`.
  package let cacheNote: String
  package let access: AccessRule
  package let sync: SyncRule?
  package let effects: EffectRules
  /// The stored entity that answers the query while upstream is unavailable (`@cache(lookup:)`); always
  /// an entity target.
  package let lookup: EffectTarget?
  /// The target that `@cache(lookup:)` could have; nil if it has one, or the query has no such form.
  let derivedLookup: EffectTarget?
  package let path: String
  package let position: SourcePosition
  /// Entity types in its responses, by the names that they are stored under, in alphabetical order.
  package let entityTypes: [String]
  /// Entity types in lists in its responses, directly or through embedded objects (edges).
  let listElementTypes: [String]
  /// Entity types that it looks up by key at the root.
  let lookupTypes: [String]
  /// Names of the fragments it uses, directly or indirectly.
  package let fragments: [String]
  /// The descriptions of the fragments it uses, in order; fragments without one are omitted.
  package let fragmentDescriptions: [(name: String, text: String)]
  private let inputObjects: InputObjectTypes
  private let keys: EntityKeys
  private let plans: SelectionPlans

  init(
    name: String, description: String?, kind: OperationKind, upstream: UpstreamName,
    route: RouteTemplate?, document: String, identity: DocumentIdentity,
    variables: [OperationVariable], cache: CachePolicy, cacheNote: String, access: AccessRule,
    sync: SyncRule?, effects: EffectRules, lookup: EffectTarget? = nil,
    derivedLookup: EffectTarget? = nil, path: String, position: SourcePosition,
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
    self.identity = identity
    requestOpenings = RequestOpenings(name: name, document: document)
    self.variables = variables
    self.cache = cache
    self.cacheNote = cacheNote
    self.access = access
    self.sync = sync
    self.effects = effects
    self.lookup = lookup
    self.derivedLookup = derivedLookup
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

  /// The target that `@cache(lookup:)` should have: one that would have an effect.
  package var lookupProposal: String? {
    cache.staleIfError > .zero ? derivedLookup.map(\.description) : nil
  }

  /// Whether the caller's credential is sent upstream. A query with `scope: PUBLIC` is sent without
  /// it, with the service's own.
  package var sendsCallersCredential: Bool { kind == .mutation || cache.sharing != .public }

  /// The name of the claim that responses are shared by; nil for other operations.
  package var claim: String? {
    if case .claim(let name) = cache.sharing, kind != .mutation { name } else { nil }
  }

  /// Coerces the variables of a call.
  package func coerce(_ input: VariableInput) throws(VariableFaults) -> Variables {
    try VariableCoercer.coerce(input, variables: variables, inputObjects: inputObjects)
  }

  /// Coerces the variables of a call except one that gets its value later.
  package func coerce(
    _ input: VariableInput, without missing: String?
  ) throws(VariableFaults) -> Variables {
    try VariableCoercer.coerce(
      input, variables: variables.filter { $0.name != missing }, inputObjects: inputObjects)
  }

  /// The selection of a call. Shared between calls unless arguments depend on variables.
  package func selection(for variables: Variables) -> FieldSelection {
    plans.selection(for: variables)
  }

  /// The selection that has everything that the operation selects for any variables of `@skip` and `@include`.
  package var widestSelection: FieldSelection { plans.everything().selection(.none) }

  /// Resolves a target of this operation with a call's variables; nil if an unset variable leaves
  /// it without an object, and for a target that only a response names.
  package func resolve(_ target: EffectTarget, with variables: Variables) -> InvalidationTarget? {
    switch target {
    case .entity(let type, let path):
      guard let value = variables.value(at: path) else { return nil }
      return keys.rule(stored: type)?.key(of: value).map(InvalidationTarget.entity)
    case .payload: return nil
    case .type(let name): return .type(name)
    case .operation(let name): return .operation(name)
    case .tag(let name): return .tag(name)
    }
  }

  /// Returns everything that the mutation may have changed, to be fetched again when its outcome is
  /// unknown.
  ///
  /// - Parameter data: the response's data. A target that it should name and does not stands for its
  ///   whole type.
  package func affectedTargets(
    with variables: Variables, data: JSONNode? = nil
  ) -> [InvalidationTarget] {
    (effects.changes + effects.deletes).flatMap { target -> [InvalidationTarget] in
      guard case .payload(let type, let path) = target else {
        return resolve(target, with: variables).map { [$0] } ?? []
      }
      let named = entities(of: type, at: path, in: data)
      return named.isEmpty ? [.type(type)] : named.map { .entity($0) }
    }
  }

  /// Returns everything that the mutation or event changes and does not delete.
  ///
  /// - Parameter data: the response's data, which some targets are in.
  package func changedTargets(with variables: Variables, data: JSONNode?) -> [InvalidationTarget] {
    effects.changes.flatMap { target -> [InvalidationTarget] in
      guard case .payload(let type, let path) = target else {
        return resolve(target, with: variables).map { [$0] } ?? []
      }
      return entities(of: type, at: path, in: data).map { .entity($0) }
    }
  }

  func deletedEntities(with variables: Variables, data: JSONNode?) -> [EntityKey] {
    effects.deletes.flatMap { target -> [EntityKey] in
      if case .payload(let type, let path) = target {
        return entities(of: type, at: path, in: data)
      }
      guard case .entity(let key) = resolve(target, with: variables) else { return [] }
      return [key]
    }
  }

  /// The entities that a response names at a path; null names none.
  private func entities(
    of type: String, at path: [String], in data: JSONNode?
  ) -> [EntityKey] {
    guard let rule = keys.rule(stored: type), let data else { return [] }
    var nodes = [data]
    for name in path {
      nodes = nodes.flatMap { $0.flattened }.compactMap { $0[name] }
    }
    return nodes.flatMap { $0.flattened }.compactMap { rule.key(of: JSONValue($0)) }
  }
}

extension JSONNode {
  /// The elements of a list of any depth; the value itself if it is none.
  fileprivate var flattened: [JSONNode] {
    kind == .array ? elements.flatMap(\.flattened) : [self]
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
