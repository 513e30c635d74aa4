extension HTTPDate {
  /// The form of ISO 8601 that S3 answers with: `1994-11-06T08:49:37.000Z`.
  package var isoText: String {
    var text: [UInt8] = []
    appendTimestamp(to: &text)
    text.removeLast()
    text.append(".000Z")
    return String(decoding: text, as: UTF8.self)
  }
}
