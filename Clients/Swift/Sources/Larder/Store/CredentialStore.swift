public import Foundation

/// Where the phone keeps its profiles: device tokens, users and the tokens of their sessions.
///
/// The library saves them as one value, which must be replaced as a whole: after a kill of the process
/// either the former or the new one is loaded.
public protocol CredentialStore: Sendable {
  func load() throws -> Data?
  func save(_ credentials: Data) throws
}

/// Credentials in a file that only its owner can read (mode 0600).
public struct FileCredentialStore: CredentialStore {
  public let url: URL

  public init(_ url: URL) {
    self.url = url
  }

  public func load() throws -> Data? {
    FileManager.default.fileExists(atPath: url.path) ? try Data(contentsOf: url) : nil
  }

  public func save(_ credentials: Data) throws {
    let draft = url.appendingPathExtension("new")
    try? FileManager.default.removeItem(at: draft)
    guard
      FileManager.default.createFile(
        atPath: draft.path, contents: nil, attributes: [.posixPermissions: 0o600])
    else { throw CocoaError(.fileWriteUnknown) }
    let file = try FileHandle(forWritingTo: draft)
    defer { try? file.close() }
    try file.write(contentsOf: credentials)
    try file.synchronize()
    guard rename(draft.path, url.path) == 0 else { throw CocoaError(.fileWriteUnknown) }
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
