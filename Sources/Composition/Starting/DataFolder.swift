import FoundationEssentials
import Logging
import Model
import Storage
import Transport

/// The folder of everything the service stores, with the root secret of its keys.
struct DataFolder {
  static let keyFileName = "larder.key"
  static let schemaFileName = "schema.graphql"
  /// The folder of the schemas of several upstreams.
  static let schemasFolderName = "schemas"
  /// The length that the derived keys can use.
  private static let keyByteCount = 32
  private static let ownerOnly = 0o600

  let path: String

  /// Whether the folder is of a node that has left its cluster's list of nodes. See ``ClusterNode/leave()``.
  var hasLeft: Bool { FileManager.default.fileExists(atPath: leftPath) }

  private var leftPath: String { "\(path)/larder.left" }

  func note(hasLeft: Bool) {
    if hasLeft {
      _ = FileManager.default.createFile(
        atPath: leftPath, contents: nil, attributes: [.posixPermissions: Self.ownerOnly])
    } else if self.hasLeft {
      try? FileManager.default.removeItem(atPath: leftPath)
    }
  }

  /// The path of the schema that was introspected at start.
  func schemaPath(of upstream: UpstreamName) -> String {
    upstream == .sole
      ? "\(path)/\(Self.schemaFileName)" : "\(path)/\(Self.schemasFolderName)/\(upstream).graphql"
  }

  /// Creates the folder for its owner only, if it is missing, and checks that it is writable.
  ///
  /// - Parameter degraded: whether a read-only file system is allowed.
  func make(_ degraded: StartSettings.Degraded = .refuse) throws(StartFailure) {
    let manager = FileManager.default
    var isFolder = false
    if manager.fileExists(atPath: path, isDirectory: &isFolder) {
      guard isFolder else {
        throw StartFailure(
          .dataFolder, "The data folder \(path) is a file. Set another folder with `data`.")
      }
    } else {
      do {
        try manager.createDirectory(
          atPath: path, withIntermediateDirectories: true,
          attributes: [.posixPermissions: 0o700])
      } catch {
        throw StartFailure(
          .dataFolder,
          "The data folder \(path) cannot be created: its parent folder is not writable.")
      }
    }
    guard
      manager.isWritableFile(atPath: path)
        || degraded == .allow && FileSystem.isReadOnly(at: path)
    else {
      throw StartFailure(
        .dataFolder, "The data folder \(path) is not writable: check its owner and mode.")
    }
  }

  /// The file with a copy of the name in the database's marker.
  static let markerFileName = DatabaseRestore.markerFileName

  /// The name in the folder's marker file; nil without one.
  var markerName: String? {
    FileManager.default.contents(atPath: "\(path)/\(Self.markerFileName)").map {
      String(decoding: $0, as: UTF8.self).split(separator: "\n").first.map(String.init) ?? ""
    }
  }

  /// Checks that the key exists if the database has secrets sealed with one, before a new key is made.
  ///
  /// - Parameter marker: the database's marker; nil without one.
  func checkKeyIsThere(
    for marker: StoreMarker?, environment: [String: String]
  ) throws(StartFailure) {
    let hasKey =
      environment["LARDER_KEY"] != nil
      || FileManager.default.fileExists(atPath: "\(path)/\(Self.keyFileName)")
    guard marker != nil, !hasKey else { return }
    throw StartFailure(
      .faultySettings,
      "The key \(path)/\(Self.keyFileName) is missing, and the database has secrets that are sealed "
        + "with it. Restore the file, or set LARDER_KEY. \(Self.otherKeyHint)")
  }

  /// The path of the key file; nil if there is none.
  var keyFile: String? {
    let file = "\(path)/\(Self.keyFileName)"
    return FileManager.default.fileExists(atPath: file) ? file : nil
  }

  private static let otherKeyHint =
    "To discard these secrets (all sessions end), write a new key of 32 random bytes to this file and "
    + "start once with start.otherKey: accept."

  /// Checks that the key is the one that sealed the secrets in the database.
  ///
  /// - Parameter isNode: whether the folder is that of a node of a cluster, which accepts no other key.
  func check(
    keyDigest: String, against marker: StoreMarker?, accepting: StartSettings.OtherKey,
    isNode: Bool = false, logger: Logger
  ) throws(StartFailure) {
    guard let marker, marker.keyDigest != keyDigest else { return }
    guard accepting == .accept else {
      throw StartFailure(
        .faultySettings,
        "The key (\(path)/\(Self.keyFileName) or LARDER_KEY) is not the one that sealed the secrets in "
          + "the database. "
          + (isNode
            ? "All nodes of a cluster have the same one: copy larder.key of another node, or set LARDER_KEY to "
              + "that of the others."
            : "Restore the right key. \(Self.otherKeyHint)"))
    }
    logger.warning("a different key was accepted: secrets sealed with the old key are discarded")
  }

  /// Writes the markers that tie database, folder and key together, if they are missing.
  func mark(
    _ store: Store, marker: StoreMarker?, keyDigest: String, random: () -> UInt8
  ) async throws {
    let name =
      marker?.folder ?? markerName ?? Hexadecimal.encode((0..<16).map { _ in random() })
    let wanted = StoreMarker(folder: name, keyDigest: keyDigest)
    if marker != wanted { try await store.setMarker(wanted) }
    // After the database: a crash between the two leaves no contradiction.
    guard markerName != name else { return }
    let isWritten = FileManager.default.createFile(
      atPath: "\(path)/\(Self.markerFileName)", contents: Data((name + "\n").utf8),
      attributes: [.posixPermissions: Self.ownerOnly])
    guard isWritten else {
      throw StartFailure(.dataFolder, "The file \(path)/\(Self.markerFileName) cannot be written.")
    }
  }

  /// The root secret: `LARDER_KEY` (base64 or hexadecimal, 32 bytes or more) if set, else the key
  /// file, created from `random` at the first start.
  func key(environment: [String: String], random: () -> UInt8) throws(StartFailure) -> [UInt8] {
    if let key = try existingKey(environment: environment) { return key }
    return try makeKey(random: random)
  }

  /// The root secret, for commands beside the service: they create none.
  func givenKey(environment: [String: String]) throws(StartFailure) -> [UInt8] {
    guard let key = try existingKey(environment: environment) else {
      throw StartFailure(
        .faultySettings,
        "The key \(path)/\(Self.keyFileName) is missing. Restore the file, or set LARDER_KEY.")
    }
    return key
  }

  /// The root secret; nil if there is none yet.
  private func existingKey(
    environment: [String: String]
  ) throws(StartFailure) -> [UInt8]? {
    if let text = environment["LARDER_KEY"] { return try Self.key(parsing: text) }
    let file = "\(path)/\(Self.keyFileName)"
    var isFolder = false
    if FileManager.default.fileExists(atPath: file, isDirectory: &isFolder) {
      guard !isFolder else {
        throw StartFailure(
          .faultySettings, "The key file \(file) is a folder. Replace it with the key file.")
      }
      guard FileManager.default.isReadableFile(atPath: file) else {
        throw StartFailure(
          .faultySettings, "The key file \(file) cannot be read: check its owner and mode.")
      }
    }
    guard let data = FileManager.default.contents(atPath: file) else { return nil }
    guard data.count >= Self.keyByteCount else {
      throw StartFailure(
        .dataFolder,
        "The key file \(file) is damaged: it has \(data.count) bytes, not \(Self.keyByteCount).")
    }
    return Array(data)
  }

  private func makeKey(random: () -> UInt8) throws(StartFailure) -> [UInt8] {
    let file = "\(path)/\(Self.keyFileName)"
    let key = (0..<Self.keyByteCount).map { _ in random() }
    // Renamed when complete: a half-written key would seal secrets that cannot be opened again.
    let fresh = "\(file).new"
    try? FileManager.default.removeItem(atPath: fresh)
    guard
      FileManager.default.createFile(
        atPath: fresh, contents: Data(key), attributes: [.posixPermissions: Self.ownerOnly])
    else { throw StartFailure(.dataFolder, "The key file \(file) cannot be written.") }
    do {
      try FileManager.default.moveItem(atPath: fresh, toPath: file)
    } catch {
      throw StartFailure(.dataFolder, "The key file \(file) cannot be written: \(error)")
    }
    return key
  }

  private static func key(parsing text: String) throws(StartFailure) -> [UInt8] {
    let bytes = hexadecimal(text) ?? Data(base64Encoded: text).map { Array($0) }
    guard let bytes, bytes.count >= keyByteCount else {
      throw StartFailure(
        .faultySettings,
        "LARDER_KEY must have at least \(keyByteCount) bytes, in base64 or hexadecimal.")
    }
    return bytes
  }

  private static func hexadecimal(_ text: String) -> [UInt8]? {
    let digits = text.utf8.compactMap { Character(Unicode.Scalar($0)).hexDigitValue }
    guard digits.count == text.utf8.count, digits.count.isMultiple(of: 2) else { return nil }
    return stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
  }
}
