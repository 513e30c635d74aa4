import LosslessJSON

extension RenderedResponse {
  /// The same data as last-good values beside the errors that upstream responded with just now.
  ///
  /// - Parameter errors: as JSON.
  func showing(errors: [UInt8]) -> RenderedResponse {
    let answer = RenderedResponse(
      key: key, body: Self.body(body, showing: errors), received: received, policy: policy,
      dependencies: dependencies, hasErrors: true, basis: nil, basisKey: nil, unkept: nil,
      presentErrors: errors)
    // It is of this response alone.
    answer.expire()
    return answer
  }

  /// A body with the errors in the place of its own, and every root field listed in `stale`.
  static func body(_ body: [UInt8], showing errors: [UInt8]) -> [UInt8] {
    guard let data = (try? JSONDocument(checked: body))?.root["data"] else { return body }
    var writer = JSONWriter()
    writer.reserve(body.count + errors.count + 64)
    writer.beginObject()
    writer.name("data")
    writer.value(data)
    writer.name("errors")
    writer.raw(errors)
    writer.name("stale")
    writer.beginArray()
    for member in data.members {
      writer.beginArray()
      writer.string(member.name)
      writer.endArray()
    }
    writer.endArray()
    writer.endObject()
    return writer.bytes
  }
}
