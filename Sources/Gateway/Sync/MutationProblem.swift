import LosslessJSON

/// Why a mutation was not done, as it is kept for its client.
struct MutationProblem {
  let code: String
  let detail: String
  /// Upstream's own words, as JSON.
  var response: [UInt8]?

  var bytes: [UInt8] {
    var writer = JSONWriter()
    writer.beginObject()
    writer.name("code")
    writer.string(code)
    writer.name("detail")
    writer.string(detail)
    if let response {
      writer.name("response")
      writer.raw(response)
    }
    writer.endObject()
    return writer.bytes
  }
}
