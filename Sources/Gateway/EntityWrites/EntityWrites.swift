import Filtering
package import LosslessJSON
package import Model

/// Writes to entities: own data by its owner, upstream data by the operator.
package struct EntityWrites: Sendable {
  /// The maximum number of operations in one list.
  static let operationsMax = 1_000

  private let own: OwnDataWrites
  private let corrections: CorrectionService

  package init(own: OwnDataWrites, corrections: CorrectionService) {
    self.own = own
    self.corrections = corrections
  }

  /// Throws if a list has too many operations.
  package static func checkCount(_ count: Int) throws(Failure) {
    guard count <= operationsMax else {
      throw Failure(.malformedRequest, "A list holds at most \(operationsMax) operations.")
    }
  }

  /// Performs all writes or none.
  ///
  /// - Parameter misread: faults of operations that could not be parsed. With any, nothing is
  ///   written, and they are reported together with those of the requests.
  /// - Returns: the outcome of each write, in the order of the requests.
  package func write(
    _ requests: [EntityWriteRequest], misread: [Failure.Detail] = [], by caller: Caller
  ) async throws(Failure) -> [EntityWriteOutcome] {
    try Self.checkCount(requests.count)
    let local = requests.filter { own.knows($0.type) }
    if local.count == requests.count {
      return try await own.write(requests, misread: misread, by: caller)
    }
    guard local.isEmpty else {
      throw Failure(
        .malformedRequest,
        "A list can write local types or upstream types, not both: they have different owners.",
        details: misread)
    }
    return try await corrections.write(requests, misread: misread, by: caller)
  }
}

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
    /// The entities that match the filter in the parameters `filter`, `arg` and `arg.name`.
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
  /// Parses the filter of a write to many entities. It is required: a missing filter never means all
  /// entities.
  func filter(
    _ parameters: [CollectionRequest.Parameter], type: EntityType
  ) throws(Failure) -> Filter {
    var faults: [Failure.Detail] = []
    func fault(_ name: String, _ detail: String) {
      faults.append(
        Failure.Detail(
          place: origin.isEmpty ? .parameter(name) : .pointer("\(origin)/\(name)"),
          detail: detail))
    }
    for parameter in parameters where !FilterParameters.isOne(parameter.name) {
      fault(parameter.name, "is not a known parameter")
    }
    if parameters.filter({ $0.name == FilterParameters.filter }).count > 1 {
      fault(FilterParameters.filter, "is given twice")
    }
    if match != nil { fault(origin.isEmpty ? "If-Match" : "ifMatch", "applies only to one entity") }
    if action != .update, action != .delete {
      fault(FilterParameters.filter, "applies only to update and delete")
    }
    let filter = FilterParameters(parameters).filter(on: type, note: fault)
    if filter == nil, faults.isEmpty {
      fault(
        FilterParameters.filter,
        "is required: it selects the entities to write; id IS NOT NULL selects all of them")
    }
    guard faults.isEmpty, let filter else {
      throw Failure(
        .malformedRequest, "The request does not identify the entities to write.", details: faults)
    }
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
