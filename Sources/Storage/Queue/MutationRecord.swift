import GRDB
import LosslessJSON
package import Model

/// A mutation in the form that its client sees.
package struct MutationRecord: Sendable {
  package let mutation: Mutation
  /// Wall-clock time at which it was settled; nil before.
  package let settled: Timestamp?
  /// The upstream response or the problem, as JSON; nil if there is none. A superseded mutation has
  /// the result of the one that superseded it.
  package let result: [UInt8]?
  /// The state of the mutation that superseded it.
  package let sharedState: MutationState?
  /// The real entities of the temporary ids it created.
  package let resolved: [TemporaryID: EntityKey]
}

/// Reads mutations in the form that clients see.
struct MutationReader {
  let database: Database

  func record(_ id: MutationID, of device: String) throws -> MutationRecord? {
    try MutationRows(database: database).full(id, of: device).map {
      try record($0.mutation, settled: $0.settled, result: $0.result)
    }
  }

  func records(
    of device: String, states: [MutationState]?, before: Int64?, limit: Int
  ) throws -> [MutationRecord] {
    try MutationRows(database: database)
      .list(of: device, states: states, before: before, limit: limit)
      .map { try record($0.mutation, settled: $0.settled, result: $0.result) }
  }

  private func record(
    _ mutation: Mutation, settled: Timestamp?, result: [UInt8]?
  ) throws -> MutationRecord {
    var result = result
    var sharedState: MutationState?
    var other = mutation.supersededBy
    while let id = other,
      let found = try MutationRows(database: database).full(id, of: mutation.device)
    {
      sharedState = found.mutation.state
      result = found.result
      other = found.mutation.supersededBy
    }
    return MutationRecord(
      mutation: mutation, settled: settled, result: result, sharedState: sharedState,
      resolved: try TemporaryIDRows(database: database, device: mutation.device)
        .find(mutation.footprint.creates.map(\.id)))
  }
}

/// Encodes a mutation as JSON for its client.
package enum MutationDocument {
  /// - Parameter withResponse: whether to include the upstream response. The change log leaves it
  ///   out, since every page would carry it.
  package static func bytes(_ record: MutationRecord, withResponse: Bool) -> [UInt8] {
    let mutation = record.mutation
    var writer = JSONWriter()
    writer.beginObject()
    write("id", mutation.id.value, to: &writer)
    write("operation", mutation.operation, to: &writer)
    write("mode", mutation.mode.rawValue, to: &writer)
    write("state", mutation.state.rawValue, to: &writer)
    if let object = mutation.object { write("object", "\(object.type):\(object.key)", to: &writer) }
    writer.name("attempts")
    writer.int(mutation.attempts)
    writer.name("enqueuedAt")
    writer.int(mutation.enqueued.milliseconds)
    if let settled = record.settled {
      writer.name("settledAt")
      writer.int(settled.milliseconds)
    }
    if let reason = mutation.reason { write("reason", reason.rawValue, to: &writer) }
    if let other = mutation.supersededBy { write("supersededBy", other.value, to: &writer) }
    if let state = record.sharedState { write("sharedState", state.rawValue, to: &writer) }
    if !record.resolved.isEmpty {
      writer.name("temporaryIds")
      writer.beginObject()
      for (id, entity) in record.resolved.sorted(by: { $0.key.value < $1.key.value }) {
        write(id.value, entity.key, to: &writer)
      }
      writer.endObject()
    }
    if let result = record.result { write(result, of: record, withResponse, to: &writer) }
    writer.endObject()
    return writer.bytes
  }

  /// Writes the response or the problem. A problem is short and always included.
  private static func write(
    _ result: [UInt8], of record: MutationRecord, _ withResponse: Bool, to writer: inout JSONWriter
  ) {
    let state = record.sharedState ?? record.mutation.state
    let isResponse = state == .applied
    guard !isResponse || withResponse else { return }
    writer.name(isResponse ? "response" : "problem")
    writer.raw(result)
  }

  private static func write(_ name: String, _ value: String, to writer: inout JSONWriter) {
    writer.name(name)
    writer.string(value)
  }
}
