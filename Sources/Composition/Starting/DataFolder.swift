import FoundationEssentials

/// The folder that holds everything the service keeps, and the secret its keys come from.
struct DataFolder {
  static let keyFileName = "larder.key"
  /// The schema that was introspected at start.
  static let schemaFileName = "schema.graphql"
  /// As many as the keys derived from it can use.
  private static let keyByteCount = 32
  private static let ownerOnly = 0o600

  let path: String

  var schemaPath: String { "\(path)/\(Self.schemaFileName)" }

  /// Makes the folder for its owner alone, unless it is there, and sees that it can be written.
  func make() throws(StartFailure) {
    let manager = FileManager.default
    var isFolder = false
    if manager.fileExists(atPath: path, isDirectory: &isFolder) {
      guard isFolder else {
        throw StartFailure(.dataFolder, "The data folder \(path) is a file.")
      }
    } else {
      do {
        try manager.createDirectory(
          atPath: path, withIntermediateDirectories: true,
          attributes: [.posixPermissions: 0o700])
      } catch {
        throw StartFailure(
          .dataFolder,
          "The data folder \(path) cannot be made: the folder above may not be written.")
      }
    }
    guard manager.isWritableFile(atPath: path) else {
      throw StartFailure(.dataFolder, "The data folder \(path) cannot be written.")
    }
  }

  /// The secret: `LARDER_KEY` (base64 or hexadecimal, 32 bytes or more) if set, else the key file,
  /// made from `random` at the first start.
  func key(environment: [String: String], random: () -> UInt8) throws(StartFailure) -> [UInt8] {
    if let text = environment["LARDER_KEY"] { return try Self.key(parsing: text) }
    let file = "\(path)/\(Self.keyFileName)"
    if let data = FileManager.default.contents(atPath: file) {
      guard data.count >= Self.keyByteCount else {
        throw StartFailure(
          .dataFolder, "\(file) is damaged: it holds \(data.count) bytes, not \(Self.keyByteCount)."
        )
      }
      return Array(data)
    }
    let key = (0..<Self.keyByteCount).map { _ in random() }
    // A file that appears only whole: a half-written key would seal secrets nobody can open.
    let fresh = "\(file).new"
    try? FileManager.default.removeItem(atPath: fresh)
    guard
      FileManager.default.createFile(
        atPath: fresh, contents: Data(key), attributes: [.posixPermissions: Self.ownerOnly])
    else { throw StartFailure(.dataFolder, "\(file) cannot be written.") }
    do {
      try FileManager.default.moveItem(atPath: fresh, toPath: file)
    } catch {
      throw StartFailure(.dataFolder, "\(file) cannot be written: \(error)")
    }
    return key
  }

  private static func key(parsing text: String) throws(StartFailure) -> [UInt8] {
    let bytes = hexadecimal(text) ?? Data(base64Encoded: text).map { Array($0) }
    guard let bytes, bytes.count >= keyByteCount else {
      throw StartFailure(
        .faultySettings,
        "LARDER_KEY holds at least \(keyByteCount) bytes in base64 or hexadecimal.")
    }
    return bytes
  }

  private static func hexadecimal(_ text: String) -> [UInt8]? {
    let digits = text.utf8.compactMap { Character(Unicode.Scalar($0)).hexDigitValue }
    guard digits.count == text.utf8.count, digits.count.isMultiple(of: 2) else { return nil }
    return stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
  }
}
