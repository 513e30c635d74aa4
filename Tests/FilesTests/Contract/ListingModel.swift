import Model

/// What a whole listing tells, made the plain way.
enum ListingModel {
  /// Keys, and common prefixes with a star, each once.
  static func list(_ keys: [ObjectKey], prefix: String, delimiter: String?) -> [String] {
    var told: [[UInt8]] = []
    for key in keys where key.hasPrefix(prefix) {
      let bytes = Array(key.text.utf8)
      var entry = bytes
      if let delimiter = delimiter.map({ Array($0.utf8) }),
        let place = bytes[prefix.utf8.count...].firstRange(of: delimiter)
      {
        entry = Array(bytes[..<place.upperBound]) + Array("*".utf8)
      }
      if told.last != entry { told.append(entry) }
    }
    return told.map { String(decoding: $0, as: UTF8.self) }
  }
}
