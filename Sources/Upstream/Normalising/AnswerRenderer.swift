import LosslessJSON
package import Model

/// The client's body straight from upstream's answer.
package enum AnswerRenderer {
  /// `{"data":…}` with what Larder asked for alone taken out, then `errors` where there are some.
  /// Everything else has upstream's own bytes, without white space between them.
  package static func render(_ answer: UpstreamAnswer, selection: Model.Selection) -> [UInt8] {
    let plan = AnswerPlan(selection)
    var writer = JSONWriter()
    writer.reserve(answer.document.bytes.count)
    writer.beginObject()
    if let data = answer.data {
      writer.name("data")
      write(data, at: plan.root, plan, to: &writer)
    } else if answer.kind == .failedExecution {
      writer.name("data")
      writer.null()
    }
    if let errors = answer.errors {
      writer.name("errors")
      writer.value(errors)
    }
    writer.endObject()
    return writer.bytes
  }

  /// A list has the position of its elements, whatever its depth.
  private static func write(
    _ value: JSONNode, at position: Int, _ plan: AnswerPlan, to writer: inout JSONWriter
  ) {
    guard plan.positions[position].hasAdded else { return writer.value(value) }
    switch value.kind {
    case .array:
      writer.beginArray()
      for element in value.elements { write(element, at: position, plan, to: &writer) }
      writer.endArray()
    case .object:
      write(object: value, at: position, plan, to: &writer)
    default:
      writer.value(value)
    }
  }

  private static func write(
    object value: JSONNode, at position: Int, _ plan: AnswerPlan, to writer: inout JSONWriter
  ) {
    guard let object = plan.object(of: value, at: position) else {
      return writeUnknown(value, to: &writer)
    }
    var expected = plan.objects[object].fields.lowerBound
    writer.beginObject()
    for member in value.members {
      guard let field = plan.field(member, of: object, expected: &expected) else {
        // Upstream said more than it was asked: that is its business and the client's.
        writer.name(member.nameNode)
        writer.value(member.value)
        continue
      }
      if plan.fields[field].isAdded { continue }
      writer.name(member.nameNode)
      if let inner = plan.inner[field] {
        write(member.value, at: inner, plan, to: &writer)
      } else {
        writer.value(member.value)
      }
    }
    writer.endObject()
  }

  /// An object of a type that came to the schema later: its fields are known by their names only.
  private static func writeUnknown(_ value: JSONNode, to writer: inout JSONWriter) {
    switch value.kind {
    case .object:
      writer.beginObject()
      for member in value.members where !ReservedNames.isReserved(member.name) {
        writer.name(member.nameNode)
        writeUnknown(member.value, to: &writer)
      }
      writer.endObject()
    case .array:
      writer.beginArray()
      for element in value.elements { writeUnknown(element, to: &writer) }
      writer.endArray()
    default:
      writer.value(value)
    }
  }
}
