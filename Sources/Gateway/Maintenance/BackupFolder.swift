package import Model
package import Storage
import Synchronization

/// The folder that online backups are written to, one at a time.
package final class BackupFolder: Sendable {
  package struct Written: Sendable {
    package let name: String
    /// Of the file, inside the data folder.
    package let place: String
  }

  static let folderName = "backups"
  private static let nameBytesMax = 100

  private let store: Store
  private let path: String
  /// Makes the folder if it is missing; false where it cannot be made.
  private let makeFolder: @Sendable (_ path: String) -> Bool
  private let makeName: @Sendable () -> String
  private let isWriting = Atomic(false)

  /// - Parameters:
  ///   - dataFolder: where the folder lies in.
  ///   - makeName: a name for a backup that was given none.
  package init(
    store: Store, dataFolder: String, makeFolder: @escaping @Sendable (_ path: String) -> Bool,
    makeName: @escaping @Sendable () -> String
  ) {
    self.store = store
    path = "\(dataFolder)/\(Self.folderName)"
    self.makeFolder = makeFolder
    self.makeName = makeName
  }

  /// Copies the database as of now into a new file of the folder.
  package func write(name: String?) async throws(Failure) -> Written {
    let name = name ?? makeName()
    guard Self.isName(name) else {
      throw Failure(
        .malformedRequest, "The backup's name cannot be used.",
        details: [
          Failure.Detail(
            place: .pointer("/name"),
            detail: "is 1 to \(Self.nameBytesMax) letters, digits, dots, hyphens and underscores, "
              + "with a letter or digit first")
        ])
    }
    guard !isWriting.exchange(true, ordering: .acquiring) else {
      throw Failure(
        .overloaded, "A backup is being written.", retry: .after, retryAfter: .seconds(5))
    }
    defer { isWriting.store(false, ordering: .releasing) }
    guard makeFolder(path) else { throw Self.failure(.cannotWrite(reason: "no folder")) }
    do throws(BackupError) {
      try await store.backUp(to: "\(path)/\(name).sqlite")
    } catch {
      throw Self.failure(error)
    }
    return Written(name: name, place: "\(Self.folderName)/\(name).sqlite")
  }

  /// One component of a path, and none that hides or leads elsewhere.
  private static func isName(_ name: String) -> Bool {
    guard 1...nameBytesMax ~= name.utf8.count, name.utf8.first != UInt8(ascii: "."),
      name.utf8.first != UInt8(ascii: "-"), name.utf8.first != UInt8(ascii: "_")
    else { return false }
    return name.utf8.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"),
        UInt8(ascii: "_"):
        true
      default: false
      }
    }
  }

  private static func failure(_ error: BackupError) -> Failure {
    switch error {
    case .exists:
      Failure(.alreadyExists, "There is a backup of that name.")
    case .cannotWrite(let reason):
      Failure(
        .storageUnavailable, "The backup cannot be written.", retry: .after,
        retryAfter: .seconds(60), cause: reason)
    case .failed(let cause):
      Failure(
        .storageUnavailable, "The backup cannot be written.", retry: .after,
        retryAfter: .seconds(60), cause: "\(cause)")
    }
  }
}
