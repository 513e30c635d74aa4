import FoundationEssentials
import Logging
import Model
import Storage
import Transport

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
  ///
  /// - Parameter degraded: whether a read-only file system is no fault.
  func make(_ degraded: StartSettings.Degraded = .refuse) throws(StartFailure) {
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
    guard
      manager.isWritableFile(atPath: path)
        || degraded == .allow && FileSystem.isReadOnly(at: path)
    else {
      throw StartFailure(.dataFolder, "The data folder \(path) cannot be written.")
    }
  }

  /// A copy of the name that the database has in its marker.
  static let markerFileName = "larder.id"

  /// The name in the folder's marker; nil where it has none.
  var markerName: String? {
    FileManager.default.contents(atPath: "\(path)/\(Self.markerFileName)").map {
      String(decoding: $0, as: UTF8.self).split(separator: "\n").first.map(String.init) ?? ""
    }
  }

  /// Sees that there is a key where secrets are sealed with one, before another is made.
  ///
  /// - Parameter marker: the database's; nil where it has none.
  func checkKeyIsThere(
    for marker: StoreMarker?, environment: [String: String]
  ) throws(StartFailure) {
    let isThere =
      environment["LARDER_KEY"] != nil
      || FileManager.default.fileExists(atPath: "\(path)/\(Self.keyFileName)")
    guard marker != nil, !isThere else { return }
    throw StartFailure(
      .faultySettings,
      "The key \(path)/\(Self.keyFileName) is missing, and secrets in the database are sealed with "
        + "it. Put it back, or set LARDER_KEY. \(Self.otherKeyHint)")
  }

  private static let otherKeyHint =
    "To give those secrets up (all sessions end), make a new key of 32 random bytes there and start "
    + "once with start.otherKey: accept."

  /// Whether the key is the one that the database's secrets are sealed with.
  func check(
    keyDigest: String, against marker: StoreMarker?, accepting: StartSettings.OtherKey,
    logger: Logger
  ) throws(StartFailure) {
    guard let marker, marker.keyDigest != keyDigest else { return }
    guard accepting == .accept else {
      throw StartFailure(
        .faultySettings,
        "The key (\(path)/\(Self.keyFileName) or LARDER_KEY) is not the one that secrets in the "
          + "database are sealed with. Put the right one back. \(Self.otherKeyHint)")
    }
    logger.warning("another key was accepted: secrets that were sealed before are given up")
  }

  /// Ties database, folder and key together, where they are not yet.
  func mark(
    _ store: Store, marker: StoreMarker?, keyDigest: String, random: () -> UInt8
  ) async throws {
    let name =
      marker?.folder ?? markerName ?? Hexadecimal.encode((0..<16).map { _ in random() })
    let wanted = StoreMarker(folder: name, keyDigest: keyDigest)
    if marker != wanted { try await store.setMarker(wanted) }
    // After the database has it: a crash between the two leaves nothing that contradicts.
    guard markerName != name else { return }
    let isWritten = FileManager.default.createFile(
      atPath: "\(path)/\(Self.markerFileName)", contents: Data((name + "\n").utf8),
      attributes: [.posixPermissions: Self.ownerOnly])
    guard isWritten else {
      throw StartFailure(.dataFolder, "\(path)/\(Self.markerFileName) cannot be written.")
    }
  }

  /// The secret: `LARDER_KEY` (base64 or hexadecimal, 32 bytes or more) if set, else the key file,
  /// made from `random` at the first start.
  func key(environment: [String: String], random: () -> UInt8) throws(StartFailure) -> [UInt8] {
    if let text = environment["LARDER_KEY"] { return try Self.key(parsing: text) }
    let file = "\(path)/\(Self.keyFileName)"
    var isFolder = false
    if FileManager.default.fileExists(atPath: file, isDirectory: &isFolder) {
      guard !isFolder else {
        throw StartFailure(
          .faultySettings, "\(file) is a folder. Put the file with the key in its place.")
      }
      guard FileManager.default.isReadableFile(atPath: file) else {
        throw StartFailure(.faultySettings, "\(file) cannot be read: check its owner and mode.")
      }
    }
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
