import LosslessJSON
package import Model

/// Splits upstream responses into entities and results for the store.
package enum Normaliser {
  package struct Outcome: Sendable {
    package let answer: NormalisedResponse
    /// The number of objects of entity types with a null or missing key, which are stored as
    /// embedded objects.
    package let keylessEntities: Int
    /// Whether the stored parts represent all data. If not (one field of an entity came with two
    /// values), the stored result differs from upstream's response.
    package let isFaithful: Bool
  }

  /// Normalises a response. With an error without a path nothing can be trusted: then there are no
  /// entities and no result.
  ///
  /// - Parameter selection: the result of ``RegisteredOperation/selection(for:)`` for `variables`.
  package static func normalise(
    _ response: UpstreamResponse, of operation: RegisteredOperation, variables: Variables,
    selection: FieldSelection, context: UpstreamCallContext
  ) -> Outcome {
    var normalised = NormalisedResponse(
      call: context.call, horizon: context.horizon, received: context.received,
      scope: context.scope)
    addEffects(of: response, operation, variables, to: &normalised)
    let errors: ErrorPath?
    switch ErrorPath.read(response.errors) {
    case .none: errors = nil
    case .paths(let paths): errors = paths
    case .anywhere: return Outcome(answer: normalised, keylessEntities: 0, isFaithful: true)
    }
    guard let data = response.data else {
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
        errors: response.errors.map { errors in
          var writer = JSONWriter()
          writer.value(errors)
          return writer.bytes
        })
    }
    normalised.bytes = found.bytes
    return Outcome(
      answer: normalised, keylessEntities: found.keylessEntities,
      isFaithful: found.isFaithful && !response.hasSurplus)
  }

  /// Adds the declared effects of an executed mutation or of a subscription's event. With errors in the
  /// response it is unknown which of them happened: then the entities that it would delete are fetched
  /// again instead.
  private static func addEffects(
    of response: UpstreamResponse, _ operation: RegisteredOperation, _ variables: Variables,
    to normalised: inout NormalisedResponse
  ) {
    guard operation.kind != .query, response.kind != .requestError else { return }
    // An event of a user's subscription comes once for each user; it says nothing of the shared copies.
    normalised.marksPublicCopies =
      operation.kind == .mutation && normalised.scope.kind != .public
    if response.kind == .success {
      normalised.deletions = operation.deletedEntities(with: variables, data: response.data)
      normalised.invalidations = operation.changedTargets(with: variables, data: response.data)
    } else if operation.kind == .mutation || response.data != nil {
      normalised.invalidations = operation.affectedTargets(with: variables, data: response.data)
    }
  }
}

/// The context of an upstream call that the store needs with its response.
package struct UpstreamCallContext: Sendable {
  package let call: CallNumber
  /// The oldest call still in flight.
  package let horizon: CallNumber
  package let received: Timestamp
  /// The scope that the response is stored in: public unless a user's credential was sent.
  package let scope: Scope

  package init(call: CallNumber, horizon: CallNumber, received: Timestamp, scope: Scope) {
    self.call = call
    self.horizon = horizon
    self.received = received
    self.scope = scope
  }
}
