package import LosslessJSON
package import Model

/// A mutation in the form that its client sees.
package struct MutationRecord: Sendable {
  package let mutation: Mutation
  /// Wall-clock time at which it was settled; nil before.
  package let settled: Timestamp?
  /// The upstream response or the problem, as JSON; nil if there is none. A superseded mutation has
  /// the result of the one that superseded it.
  package internal(set) var result: [UInt8]?
  /// The state of the mutation that superseded it.
  package internal(set) var sharedState: MutationState?
  /// The real entities of the temporary ids it created.
  package internal(set) var resolved: [TemporaryID: EntityKey] = [:]
}

extension MutationRecord {
  /// Returns the mutation as JSON for its client.
  ///
  /// - Parameter withResponse: whether to include the upstream response. The change log leaves it
  ///   out, since every page would carry it.
  package func json(withResponse: Bool) -> [UInt8] {
    var writer = JSONWriter()
    writer.beginObject()
    Self.write("id", mutation.id.value, to: &writer)
    Self.write("operation", mutation.operation, to: &writer)
    Self.write("mode", mutation.mode.rawValue, to: &writer)
    Self.write("state", mutation.state.rawValue, to: &writer)
    if let object = mutation.object {
      Self.write("object", "\(object.type):\(object.key)", to: &writer)
    }
    writer.name("attempts")
    writer.int(mutation.attempts)
    writer.name("enqueuedAt")
    writer.int(mutation.enqueued.milliseconds)
    if let settled {
      writer.name("settledAt")
      writer.int(settled.milliseconds)
    }
    if let reason = mutation.reason { Self.write("reason", reason.rawValue, to: &writer) }
    if let other = mutation.supersededBy { Self.write("supersededBy", other.value, to: &writer) }
    if let state = sharedState { Self.write("sharedState", state.rawValue, to: &writer) }
    if !resolved.isEmpty {
      writer.name("temporaryIds")
      writer.beginObject()
      for (id, entity) in resolved.sorted(by: { $0.key.value < $1.key.value }) {
        Self.write(id.value, entity.key, to: &writer)
      }
      writer.endObject()
    }
    if let result { write(result, withResponse, to: &writer) }
    writer.endObject()
    return writer.bytes
  }

  /// Writes the response or the problem. A problem is short and always included.
  private func write(
    _ result: [UInt8], _ withResponse: Bool, to writer: inout JSONWriter
  ) {
    let isResponse = (sharedState ?? mutation.state) == .applied
    guard !isResponse || withResponse else { return }
    writer.name(isResponse ? "response" : "problem")
    writer.raw(result)
  }

  private static func write(_ name: String, _ value: String, to writer: inout JSONWriter) {
    writer.name(name)
    writer.string(value)
  }

  private static let errorsMember = "errors"

  /// Returns the faults of a request that a result of ``problem(code:detail:errors:response:)`` names.
  package static func errors(of problem: JSONValue) -> [Failure.Detail] {
    (problem[errorsMember]?.array ?? []).compactMap { error in
      guard let detail = error["detail"]?.string else { return nil }
      if let pointer = error["pointer"]?.string {
        return Failure.Detail(place: .pointer(pointer), detail: detail)
      }
      return error["parameter"]?.string.map {
        Failure.Detail(place: .parameter($0), detail: detail)
      }
    }
  }

  /// Returns the result of a mutation that was not applied: the reason, as JSON.
  ///
  /// - Parameters:
  ///   - errors: the faults of the request, ``Model/Failure/Detail/countMax`` at most are kept.
  ///   - response: upstream's response, as JSON.
  package static func problem(
    code: String, detail: String, errors: [Failure.Detail] = [], response: [UInt8]? = nil
  ) -> [UInt8] {
    var writer = JSONWriter()
    writer.beginObject()
    write("code", code, to: &writer)
    write("detail", detail, to: &writer)
    if !errors.isEmpty {
      writer.name(errorsMember)
      writer.beginArray()
      for error in errors.prefix(Failure.Detail.countMax) {
        writer.beginObject()
        switch error.place {
        case .pointer(let pointer): write("pointer", pointer, to: &writer)
        case .parameter(let name): write("parameter", name, to: &writer)
        }
        write("detail", error.detail, to: &writer)
        writer.endObject()
      }
      writer.endArray()
    }
    if let response {
      writer.name("response")
      writer.raw(response)
    }
    writer.endObject()
    return writer.bytes
  }
}
