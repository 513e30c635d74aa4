extension String {
  /// The beginning of the text up to the first delimiter after `prefix`, by bytes; nil without one.
  package func folder(after prefix: String, delimiter: String) -> String? {
    let bytes = Array(utf8)
    let wanted = Array(delimiter.utf8)
    var place = prefix.utf8.count
    while place + wanted.count <= bytes.count {
      if bytes[place...].starts(with: wanted) {
        return String(decoding: bytes[..<(place + wanted.count)], as: UTF8.self)
      }
      place += 1
    }
    return nil
  }
}
