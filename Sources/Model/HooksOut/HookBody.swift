import LosslessJSON

/// The bodies of requests to hooks.
///
/// A write: `{"type", "id", "op", "before"?, "after"?, "owner"}`. An outcome: `{"type": "mutation", "id",
/// "op", "operation", "reason"?, "result"?, "owner"}`, where `op` is `applied`, `rejected` or `parked`,
/// and `result` is upstream's response or the problem.
package enum HookBody {
  /// The maximum number of bytes of `before`, `after` and `result` together. Larger ones are left out,
  /// and `"omitted"` lists their names.
  package static let contentBytesMax = 1 << 20

  /// - Parameters:
  ///   - before: the entity as clients read it; nil for an insertion.
  ///   - after: likewise; nil for a deletion.
  package static func write(
    _ change: LocalChange, before: [UInt8]?, after: [UInt8]?
  ) -> [UInt8] {
    var writer = JSONWriter()
    writer.beginObject()
    write("type", change.key.type, to: &writer)
    write("id", change.key.key, to: &writer)
    write("op", change.operation.rawValue, to: &writer)
    write([("before", before), ("after", after)], to: &writer)
    switch change.owner.kind {
    case .device: write(device: change.owner.subject, user: nil, to: &writer)
    case .user, .public, .role, .claim: write(device: nil, user: change.owner.subject, to: &writer)
    }
    writer.endObject()
    return writer.bytes
  }

  package static func outcome(_ outcome: SettledOutcome) -> [UInt8] {
    var writer = JSONWriter()
    writer.beginObject()
    write("type", "mutation", to: &writer)
    write("id", outcome.id, to: &writer)
    write("op", outcome.state.rawValue, to: &writer)
    write("operation", outcome.operation, to: &writer)
    if let reason = outcome.reason { write("reason", reason, to: &writer) }
    write([("result", outcome.result)], to: &writer)
    write(device: outcome.device, user: outcome.user, to: &writer)
    writer.endObject()
    return writer.bytes
  }

  /// Writes JSON texts, as many in order as the limit allows.
  private static func write(
    _ contents: [(name: String, json: [UInt8]?)], to writer: inout JSONWriter
  ) {
    var rest = contentBytesMax
    var omitted: [String] = []
    // The last one counts most: the state after a write.
    for (name, json) in contents.reversed() {
      guard let json else { continue }
      guard json.count <= rest else {
        omitted.append(name)
        continue
      }
      rest -= json.count
    }
    for (name, json) in contents where !omitted.contains(name) {
      guard let json else { continue }
      writer.name(name)
      writer.raw(json)
    }
    guard !omitted.isEmpty else { return }
    writer.name("omitted")
    writer.beginArray()
    for name in omitted.reversed() { writer.string(name) }
    writer.endArray()
  }

  private static func write(device: String?, user: String?, to writer: inout JSONWriter) {
    writer.name("owner")
    writer.beginObject()
    if let device { write("device", device, to: &writer) }
    if let user { write("user", user, to: &writer) }
    writer.endObject()
  }

  private static func write(_ name: String, _ value: String, to writer: inout JSONWriter) {
    writer.name(name)
    writer.string(value)
  }
}
