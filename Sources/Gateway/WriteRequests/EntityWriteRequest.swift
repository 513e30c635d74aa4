import Filtering
package import LosslessJSON
package import Model

/// One write as requested by a client, not validated.
package struct EntityWriteRequest: Sendable {
  package enum Match: Hashable, Sendable {
    /// `If-Match: *`: the entity must exist.
    case any
    /// `If-None-Match: *`: the entity must not exist.
    case absent
    /// One of these must be its `_rev` or the opaque part of its entity tag.
    case validators([String])
  }

  package enum Target: Sendable {
    /// One entity; the id is nil if it is in the body, or the service creates it.
    case one(id: String?)
    /// The entities that match the filter in the parameters `filter`, `arg` and `arg.name`, or all
    /// entities of the type: `all=true`.
    case many([CollectionRequest.Parameter])
  }

  package var action: WriteAction
  package var type: String
  package var target: Target
  package var body: JSONValue
  package var match: Match?
  /// Its position in a list, as a JSON pointer; empty for a single request.
  package var origin: String

  package init(
    _ action: WriteAction, type: String, target: Target, body: JSONValue = [:],
    match: Match? = nil, origin: String = ""
  ) {
    self.action = action
    self.type = type
    self.target = target
    self.body = body
    self.match = match
    self.origin = origin
  }

  /// The JSON pointer of the body.
  var pointer: String { origin.isEmpty ? "" : "\(origin)/data" }
}

extension EntityWriteRequest {
  /// The parameter that selects all entities of a type.
  package static let allParameter = "all"

  /// Parses the filter of a write to many entities. It is required, or `all=true`: a missing filter
  /// never means all entities.
  ///
  /// - Parameter now: the value of `now()`.
  func filter(
    _ parameters: [CollectionRequest.Parameter], type: EntityType, reach: FilterReach,
    now: Timestamp, caller: Caller
  ) throws(Failure) -> Filter {
    var faults: [Failure.Detail] = []
    func fault(_ name: String, _ detail: String) {
      faults.append(
        Failure.Detail(
          place: origin.isEmpty ? .parameter(name) : .pointer("\(origin)/\(name)"),
          detail: detail))
    }
    let all = parameters.filter { $0.name == Self.allParameter }
    for parameter in parameters
    where !FilterParameters.isOne(parameter.name) && parameter.name != Self.allParameter {
      fault(parameter.name, "is not a known parameter")
    }
    if all.contains(where: { $0.value != "true" }) || all.count > 1 {
      fault(Self.allParameter, "must be true; leave it out to select entities with filter")
    } else if !all.isEmpty, parameters.contains(where: { FilterParameters.isOne($0.name) }) {
      fault(Self.allParameter, "cannot be combined with filter")
    }
    if parameters.filter({ $0.name == FilterParameters.filter }).count > 1 {
      fault(FilterParameters.filter, "is given twice")
    }
    if match != nil { fault(origin.isEmpty ? "If-Match" : "ifMatch", "applies only to one entity") }
    if action != .update, action != .delete {
      fault(
        all.isEmpty ? FilterParameters.filter : Self.allParameter,
        "applies only to update and delete")
    }
    let filter =
      all.isEmpty || !faults.isEmpty
      ? FilterParameters(parameters).filter(on: type, graph: reach.graph, now: now, note: fault)
      : .everything(of: type)
    if filter == nil, faults.isEmpty {
      fault(
        FilterParameters.filter,
        "is required: it selects the entities to write; all=true selects all of them")
    }
    guard faults.isEmpty, let filter else {
      throw Failure(
        .malformedRequest, "The request does not identify the entities to write.", details: faults)
    }
    try reach.admit(caller, to: filter.reachedTypes)
    return filter
  }

  /// Returns a check of the stored entity against the request's conditions; nil if there are none.
  func precondition(
    _ entities: EntityRenderer
  ) -> (@Sendable (EntityRecord?) -> Bool)? {
    guard let match else { return nil }
    let type = type
    return { record in
      switch match {
      case .any: return record != nil
      case .absent: return record == nil
      case .validators(let validators):
        guard let record else { return false }
        let key = EntityKey(type: type, key: "")
        return (try? entities.isCurrent(validators, of: key, record)) ?? false
      }
    }
  }
}

/// The outcome of one write, as reported to its client.
package enum EntityWriteOutcome: Sendable {
  case written(EntityDocument, isNew: Bool)
  case deleted(EntityKey)
  /// The number of entities that the filter matched.
  case matched(Int)
}

extension EntityRenderer {
  func rendered(_ outcome: WriteOutcome) throws(Failure) -> EntityWriteOutcome {
    switch outcome {
    case .written(let key, let record, let isNew):
      guard let document = try document(key, record) else {
        throw Failure(
          .internal, "The entity cannot be rendered.", cause: "\(key.type) is not known")
      }
      return .written(document, isNew: isNew)
    case .deleted(let key): return .deleted(key)
    case .matched(let count): return .matched(count)
    }
  }
}
