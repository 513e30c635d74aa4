/// The `Keep-Alive` field: never standardised, sent by many servers (`timeout=5, max=100`).
enum KeepAliveField {
  /// Returns the seconds after which the server closes an unused connection.
  static func timeout(in value: String) -> Int? {
    for element in value.split(separator: ",") {
      let parts = element.split(separator: "=", maxSplits: 1)
      guard parts.count == 2 else { continue }
      let name = parts[0].filter { $0 != " " && $0 != "\t" }.lowercased()
      let digits = parts[1].filter { $0 != " " && $0 != "\t" }
      guard name == "timeout", let seconds = Int(digits), seconds >= 0 else { continue }
      return seconds
    }
    return nil
  }
}
