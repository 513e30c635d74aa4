public import Foundation

/// Where the phone keeps its profiles: device tokens, users and the tokens of their sessions.
///
/// The library saves them as one value, which must be replaced as a whole: after a kill of the process
/// either the former or the new one is loaded.
public protocol CredentialStore: Sendable {
  func load() throws -> Data?
  func save(_ credentials: Data) throws
}

/// Credentials in a file that only its owner can read (mode 0600). Beside it is a reserve of space, so that a
/// user can sign out, and tokens can be refreshed, on a full disk.
public struct FileCredentialStore: CredentialStore {
  public let url: URL

  public init(_ url: URL) {
    self.url = url
  }

  /// Beyond the length of the credentials, in the reserve.
  private static let reserveBytes = 4 << 10

  private var reserve: URL { url.appendingPathExtension("reserve") }

  public func load() throws -> Data? {
    guard FileManager.default.fileExists(atPath: url.path) else { return nil }
    // A copy can have lost them.
    try? FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: url.path)
    return try Data(contentsOf: url)
  }

  public func save(_ credentials: Data) throws {
    do {
      try write(credentials)
    } catch {
      try? FileManager.default.removeItem(at: reserve)
      throw error
    }
    // Without space for it the next one is saved without it.
    do {
      try makeReserve(credentials.count + Self.reserveBytes)
    } catch {
      try? FileManager.default.removeItem(at: reserve)
    }
  }

  private func write(_ credentials: Data) throws {
    if !FileManager.default.fileExists(atPath: reserve.path) { try makeReserve(0) }
    let file = try FileHandle(forWritingTo: reserve)
    defer { try? file.close() }
    try file.write(contentsOf: credentials)
    try file.truncate(atOffset: UInt64(credentials.count))
    try file.synchronize()
    guard rename(reserve.path, url.path) == 0 else { throw CocoaError(.fileWriteUnknown) }
  }

  private func makeReserve(_ count: Int) throws {
    try? FileManager.default.removeItem(at: reserve)
    guard
      FileManager.default.createFile(
        atPath: reserve.path, contents: Data(count: count),
        attributes: [.posixPermissions: 0o600])
    else { throw CocoaError(.fileWriteUnknown) }
  }
}

/// Credentials that end with the process.
public final class MemoryCredentialStore: CredentialStore {
  private let credentials = Locked<Data?>(nil)

  public init() {}

  public func load() -> Data? {
    credentials.withLock { $0 }
  }

  public func save(_ credentials: Data) {
    self.credentials.withLock { $0 = credentials }
  }
}
