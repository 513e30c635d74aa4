import LosslessJSON
package import Model

/// Renders response bodies directly from upstream's response.
package enum UpstreamResponseRenderer {
  /// `{"data":…}` with only the operation's selection, followed by `errors` if there are any. All
  /// values keep upstream's bytes, without white space between them.
  package static func render(_ response: UpstreamResponse, selection: FieldSelection) -> [UInt8] {
    let pass = Pass(plan: NormalisationPlan(selection), dropsSurplus: response.hasSurplus)
    var writer = JSONWriter()
    writer.reserve(response.document.bytes.count)
    writer.beginObject()
    if let data = response.data {
      writer.name("data")
      pass.write(data, at: pass.plan.root, to: &writer)
    } else if response.kind == .failedExecution {
      writer.name("data")
      writer.null()
    }
    writeErrors(of: response, to: &writer)
    writer.endObject()
    return writer.bytes
  }

  /// The body if errors leave no data to show: `data` is null, even if the response had no such
  /// member.
  package static func renderErrors(_ response: UpstreamResponse) -> [UInt8] {
    var writer = JSONWriter()
    writer.beginObject()
    writer.name("data")
    writer.null()
    writeErrors(of: response, to: &writer)
    writer.endObject()
    return writer.bytes
  }

  /// The body of a response to a document without a selection of ours: `data` and `errors` as
  /// upstream sent them.
  package static func renderUnchecked(_ response: UpstreamResponse) -> [UInt8] {
    var writer = JSONWriter()
    writer.reserve(response.document.bytes.count)
    writer.beginObject()
    writer.name("data")
    if let data = response.data { writer.value(data) } else { writer.null() }
    writeErrors(of: response, to: &writer)
    writer.endObject()
    return writer.bytes
  }

  private static func writeErrors(of response: UpstreamResponse, to writer: inout JSONWriter) {
    guard let errors = response.errors else { return }
    writer.name("errors")
    writer.value(errors)
  }
}

/// One walk over a response's data that omits unselected members.
private struct Pass {
  let plan: NormalisationPlan
  /// Whether there can be unselected or repeated members; otherwise objects without fields added by
  /// Larder are passed on unchanged.
  let dropsSurplus: Bool

  /// Writes a value. A list has the position of its elements, whatever its depth.
  func write(_ value: JSONNode, at position: Int, to writer: inout JSONWriter) {
    guard dropsSurplus || plan.positions[position].hasAdded else { return writer.value(value) }
    switch value.kind {
    case .array:
      writer.beginArray()
      for element in value.elements { write(element, at: position, to: &writer) }
      writer.endArray()
    case .object:
      write(object: value, at: position, to: &writer)
    default:
      writer.value(value)
    }
  }

  private func write(object value: JSONNode, at position: Int, to writer: inout JSONWriter) {
    guard let object = plan.object(of: value, at: position) else {
      return writeUnknown(value, at: [position], to: &writer)
    }
    var expected = plan.objects[object].fields.lowerBound
    var written: Set<Int> = []
    writer.beginObject()
    for member in value.members {
      guard let field = plan.field(member, of: object, expected: &expected),
        !plan.fields[field].isAdded
      else { continue }
      var shown = member.value
      if dropsSurplus {
        // Of a repeated member the last one is stored.
        guard written.insert(field).inserted else { continue }
        for other in value.members where other.isNamed(plan.fields[field].responseName) {
          shown = other.value
        }
      }
      writer.name(member.nameNode)
      if let inner = plan.inner[field] {
        write(shown, at: inner, to: &writer)
      } else {
        writer.value(shown)
      }
    }
    writer.endObject()
  }

  /// Writes an object of a type that was added to the schema later: its fields are known only by
  /// name. Fields selected on any type of the position are passed on.
  private func writeUnknown(_ value: JSONNode, at positions: [Int], to writer: inout JSONWriter) {
    switch value.kind {
    case .object:
      writer.beginObject()
      for member in value.members where !ReservedNames.isReserved(member.name) {
        let fields = positions.flatMap { plan.positions[$0].objects }
          .flatMap { plan.objects[$0].fields }
          .filter { member.isNamed(plan.fields[$0].responseName) }
        guard !fields.isEmpty else { continue }
        writer.name(member.nameNode)
        let inner = fields.compactMap { plan.inner[$0] }
        if inner.isEmpty {
          writer.value(member.value)
        } else {
          writeUnknown(member.value, at: inner, to: &writer)
        }
      }
      writer.endObject()
    case .array:
      writer.beginArray()
      for element in value.elements { writeUnknown(element, at: positions, to: &writer) }
      writer.endArray()
    default:
      writer.value(value)
    }
  }
}
