import LosslessJSON
import Model

/// A mutation as JSON for its client.
package enum MutationDocument {
  /// - Parameter withResponse: upstream's answer goes along; the change log, which every page would
  ///   carry it in, does without.
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

  /// What went wrong is short and always told.
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
