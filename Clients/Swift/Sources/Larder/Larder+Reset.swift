import Foundation
import GRDB

extension Larder {
  /// Sets aside what is damaged of a store, after ``LarderError/storeDamaged(_:)``: the next `Larder` begins with
  /// a new one. What is sound stays.
  ///
  /// A damaged file of the store is renamed, with `.damaged` at the end of its name, in place of one that was
  /// set aside before: what was submitted in it and not sent is lost to the library. Users stay signed in, and
  /// what they follow is to be declared and synced again. Of damaged credentials nothing is kept: users sign
  /// in again, and find what they had submitted.
  ///
  /// No `Larder` may use the store meanwhile.
  public static func reset(
    store: Store, credentials: (any CredentialStore)? = nil
  ) async throws {
    guard case .file(let file) = store else { return }
    let lock = try await StoreLock.take(for: file)
    defer { withExtendedLifetime(lock) {} }
    let credentials = credentials ?? defaultCredentials(file)
    do {
      _ = try Credentials(loading: credentials)
    } catch LarderError.storeDamaged {
      try credentials.save(JSONEncoder().encode(Credentials()))
    }
    if try PhoneStore.isDamaged(file, credentials) { try PhoneStore.setAside(file) }
  }
}

extension PhoneStore {
  private static let suffixes = ["", "-wal", "-shm"]

  /// Whether a file without content had some, since the credentials have profiles.
  static func isLost(_ file: URL, _ credentials: any CredentialStore) throws -> Bool {
    guard isEmptied(file) else { return false }
    return try Credentials(loading: credentials)?.profiles.isEmpty == false
  }

  static func isDamaged(_ file: URL, _ credentials: any CredentialStore) throws -> Bool {
    guard FileManager.default.fileExists(atPath: file.path) else { return false }
    if try isLost(file, credentials) { return true }
    do {
      return try PhoneStore(url: file).check() != ["ok"]
    } catch LarderError.storeDamaged {
      return true
    }
  }

  static func setAside(_ file: URL) throws {
    let manager = FileManager.default
    for suffix in suffixes {
      let aside = file.path + ".damaged" + suffix
      try? manager.removeItem(atPath: aside)
      guard manager.fileExists(atPath: file.path + suffix) else { continue }
      do {
        try manager.moveItem(atPath: file.path + suffix, toPath: aside)
      } catch {
        throw LarderError.storage("\(file.path)\(suffix) cannot be renamed (\(error))")
      }
    }
  }
}
