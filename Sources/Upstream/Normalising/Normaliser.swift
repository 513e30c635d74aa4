import LosslessJSON
package import Model

/// Takes upstream's answers apart for the store.
package enum Normaliser {
  package struct Outcome: Sendable {
    package let answer: NormalisedResponse
    /// Objects of entity types that came with a null or missing key and are kept as embedded ones.
    package let keylessEntities: Int
    /// The store's parts say all that the data says. Where they do not (one field of one entity
    /// came with two values), what the store will show is not what upstream sent.
    package let isFaithful: Bool
  }

  /// What the answer says to the store. An error without a path leaves nothing to trust: then
  /// there are no entities and no result.
  ///
  /// - Parameter selection: what ``RegisteredOperation/selection(for:)`` gave for `variables`.
  package static func normalise(
    _ answer: UpstreamResponse, of operation: RegisteredOperation, variables: Variables,
    selection: Model.Selection, context: UpstreamCallContext
  ) -> Outcome {
    var normalised = NormalisedResponse(
      call: context.call, horizon: context.horizon, received: context.received,
      scope: context.scope)
    addEffects(of: answer, operation, variables, to: &normalised)
    let errors: ErrorPath?
    switch ErrorPath.read(answer.errors) {
    case .none: errors = nil
    case .paths(let paths): errors = paths
    case .anywhere: return Outcome(answer: normalised, keylessEntities: 0, isFaithful: true)
    }
    guard let data = answer.data else {
      return Outcome(answer: normalised, keylessEntities: 0, isFaithful: true)
    }
    let found = NormalisationWalker.walk(data, plan: NormalisationPlan(selection), errors: errors)
    normalised.entities = found.entities
    normalised.absences = found.absences
    if operation.kind == .query {
      normalised.result = ResultWrite(
        key: ResultKey(
          operation: operation.name, variables: variables.canonical, scope: context.scope),
        root: found.root,
        types: found.entityTypes.union(operation.listElementTypes)
          .union(operation.lookupTypes).sorted(),
        pages: found.pages,
        tags: operation.cache.tags,
        errors: answer.errors.map { errors in
          var writer = JSONWriter()
          writer.value(errors)
          return writer.bytes
        })
    }
    normalised.bytes = found.bytes
    return Outcome(
      answer: normalised, keylessEntities: found.keylessEntities,
      isFaithful: found.isFaithful && !answer.hasSurplus)
  }

  /// A mutation that was executed has its declared effects. With errors in its answer it is not
  /// known which of them came about: then what it would delete is asked for again instead.
  private static func addEffects(
    of answer: UpstreamResponse, _ operation: RegisteredOperation, _ variables: Variables,
    to normalised: inout NormalisedResponse
  ) {
    guard operation.kind == .mutation, answer.kind != .requestError else { return }
    let effects = operation.effects
    let changed = (effects.updates + effects.invalidates + effects.appends).compactMap {
      operation.resolve($0, with: variables)
    }
    let gone = effects.deletes.compactMap { operation.resolve($0, with: variables) }
    normalised.marksPublicCopies = normalised.scope.kind != .public
    if answer.kind == .success {
      normalised.deletions = gone.compactMap { target in
        if case .entity(let key) = target { key } else { nil }
      }
      normalised.invalidations = changed
    } else {
      normalised.invalidations = changed + gone
    }
  }
}
