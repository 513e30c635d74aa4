package import LosslessJSON
package import Model

/// One write as a client asks for it, nothing of it checked.
package struct EntityWriteRequest: Sendable {
  package enum Match: Hashable, Sendable {
    /// `If-Match: *`: there must be one.
    case any
    /// `If-None-Match: *`: there must be none.
    case absent
    /// One of these is its `_rev` or the opaque part of its entity tag.
    case validators([String])
  }

  package enum Target: Sendable {
    /// Nil where the body gives the id, or the service makes it.
    case one(id: String?)
    /// Those that a filter holds of, as the parameters `filter`, `arg` and `arg.name` tell it.
    case many([CollectionRequest.Parameter])
  }

  package var action: WriteAction
  package var type: String
  package var target: Target
  package var body: JSONValue
  package var match: Match?
  /// Where it stands in a list, as a JSON pointer; empty for a request of its own.
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

  /// Of the body.
  var pointer: String { origin.isEmpty ? "" : "\(origin)/data" }
}

extension EntityWriteRequest {
  /// The filter of a write to many. Without one there is no such write: everything is never meant
  /// by saying nothing.
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
      fault(parameter.name, "is not known here")
    }
    if parameters.filter({ $0.name == FilterParameters.filter }).count > 1 {
      fault(FilterParameters.filter, "is given twice")
    }
    if match != nil { fault(origin.isEmpty ? "If-Match" : "ifMatch", "goes with one entity") }
    if action != .update, action != .delete {
      fault(FilterParameters.filter, "goes with update and delete")
    }
    let filter = FilterParameters(parameters).filter(on: type, note: fault)
    if filter == nil, faults.isEmpty {
      fault(
        FilterParameters.filter,
        "is required: it says which entities are meant, all of them by id IS NOT NULL")
    }
    guard faults.isEmpty, let filter else {
      throw Failure(
        .malformedRequest, "The entities to write cannot be told.", details: faults)
    }
    return filter
  }

  /// Judges the stored entity by the request's conditions; nil where there are none.
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
