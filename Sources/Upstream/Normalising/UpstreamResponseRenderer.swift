import LosslessJSON
package import Model

/// The client's body straight from upstream's answer.
package enum UpstreamResponseRenderer {
  /// `{"data":…}` with nothing in it but what the operation selects, then `errors` where there are
  /// some. Everything that stays has upstream's own bytes, without white space between them.
  package static func render(_ answer: UpstreamResponse, selection: Model.Selection) -> [UInt8] {
    let pass = Pass(plan: NormalisationPlan(selection), dropsSurplus: answer.hasSurplus)
    var writer = JSONWriter()
    writer.reserve(answer.document.bytes.count)
    writer.beginObject()
    if let data = answer.data {
      writer.name("data")
      pass.write(data, at: pass.plan.root, to: &writer)
    } else if answer.kind == .failedExecution {
      writer.name("data")
      writer.null()
    }
    writeErrors(of: answer, to: &writer)
    writer.endObject()
    return writer.bytes
  }

  /// The body where errors leave nothing of the data to be shown: `data` is null, also where the
  /// response had no such member.
  package static func renderErrors(_ answer: UpstreamResponse) -> [UInt8] {
    var writer = JSONWriter()
    writer.beginObject()
    writer.name("data")
    writer.null()
    writeErrors(of: answer, to: &writer)
    writer.endObject()
    return writer.bytes
  }

  private static func writeErrors(of answer: UpstreamResponse, to writer: inout JSONWriter) {
    guard let errors = answer.errors else { return }
    writer.name("errors")
    writer.value(errors)
  }
}

/// One walk over an answer's data that leaves out what the client did not select.
private struct Pass {
  let plan: NormalisationPlan
  /// There may be members that nobody asked for, or one twice; otherwise objects in which Larder
  /// asked for nothing of its own are passed on whole.
  let dropsSurplus: Bool

  /// A list has the position of its elements, whatever its depth.
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
        // Of a member that is there twice the last one is stored.
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

  /// An object of a type that came to the schema later: its fields are known by their names only.
  /// What any type of the position selects is passed on.
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
