import Accounts
import Cryptography
import Endpoints
import Files
import Gateway
import HTTPServer
import Logging
import Model
import Storage
import Synchronization
import Transport

/// The file use cases, wired to the file store that settings name.
enum FilesAssembly {
  /// Threads for writing, hashing and syncing content; while one waits for a sync, others continue.
  private static let threadsMax = 8
  /// Maximum size of the cache of small files.
  private static let smallFilesBytesMax = 16 << 20
  /// The folder of the files in the data folder.
  static func folder(_ settings: Settings) -> String { "\(settings.dataFolder)/files" }

  /// - Returns: nil if files are switched off; then no folder is made for them.
  static func service(
    _ settings: Settings, store: Store, keys: KeyRing, group: EventLoopGroup, tls: ClientTLS,
    expiryClock: WallClock, disabled: DisabledAccounts
  ) throws -> FileService? {
    guard settings.files.isOn else { return nil }
    let clock = SystemClock.wall
    return FileService(
      store: try fileStore(
        settings, store: store, key: DataEncryption(settings, keys: keys)?.files, group: group,
        tls: tls, clock: clock, expiryClock: expiryClock),
      rules: rules(settings.files), isAdminOn: settings.adminToken != nil,
      presigner: Presigner(key: keys.key(for: .presign), clock: clock), clock: expiryClock,
      uploadLifetime: settings.files.uploadExpiry,
      smallFiles: settings.files.store == .disk ? SmallFiles(bytesMax: smallFilesBytesMax) : nil,
      disabled: disabled)
  }

  /// The S3 dialect for the same files. Its clients can sign for any region.
  static func s3(
    _ files: FileService, _ settings: S3DialectSettings, store: Store, keys: KeyRing,
    random: RandomBytes, disabled: DisabledAccounts, logger: Logger
  ) -> S3Services {
    let clock = SystemClock.wall
    let accessKeys = S3Keys(
      store: store, sealer: Sealer(key: keys.key(for: .s3), random: random), clock: clock,
      random: random, disabled: disabled)
    return S3Services(
      files: files,
      authenticator: S3Authenticator(keys: accessKeys, clock: clock, logger: logger),
      keys: accessKeys, host: settings.host)
  }

  /// Checks that the stored files have the form that `data.encryption` says, and writes nothing.
  ///
  /// - Parameter key: nil for files that are not encrypted.
  static func checkForm(_ settings: Settings, key: SymmetricKey?) throws(StartFailure) {
    guard settings.files.isOn, settings.files.store == .disk else { return }
    let folder = Self.folder(settings)
    do throws(FileForm.Fault) {
      try FileForm(folder: folder).check(key)
    } catch {
      throw StartFailure(.dataFolder, DataEncryption.text(error, folder: folder))
    }
  }

  private static func fileStore(
    _ settings: Settings, store: Store, key: SymmetricKey?, group: EventLoopGroup, tls: ClientTLS,
    clock: WallClock, expiryClock: WallClock
  ) throws -> any FileStore {
    switch settings.files.store {
    case .disk:
      let folder = Self.folder(settings)
      do throws(FileStoreError) {
        return try DiskFileStore.open(
          store: store, folder: folder, pool: BlockingPool(threadsMax: threadsMax), clock: clock,
          expiryClock: expiryClock, random: { UInt64.random(in: 0...UInt64.max) }, key: key)
      } catch {
        throw StartFailure(
          .dataFolder, "The folder of files, \(folder), cannot be created: \(error)")
      }
    case .s3:
      return try S3Assembly.store(settings.files, group: group, tls: tls, clock: clock)
    }
  }

  private static func rules(_ settings: FilesSettings) -> [BucketName: BucketRule] {
    var rules: [BucketName: BucketRule] = [:]
    for (text, bucket) in settings.buckets {
      guard let name = BucketName(text) else { continue }
      let isUsers = settings.store == .disk && bucket.access == .user
      rules[name] = BucketRule(
        access: BucketRule.Access(bucket.access), bytesMax: bucket.quotaBytes,
        userBytesMax: bucket.userQuotaBytes
          ?? (isUsers ? FilesSettings.userQuotaDefault : nil))
    }
    return rules
  }
}

extension BucketRule.Access {
  fileprivate init(_ access: FilesSettings.Access) {
    switch access {
    case .publicRead: self = .publicRead
    case .user: self = .user
    case .admin: self = .admin
    }
  }
}

/// Creates the buckets that settings name, and removes the remains of crashes, interrupted uploads and
/// replaced objects: at start, so that nothing of the last run stays, and periodically.
struct FilesMaintenance: Sendable {
  private static let rest = Duration.seconds(600)

  let files: FileService
  let logger: Logger

  /// Runs until cancelled. A store that does not respond is retried at the next pass.
  func run() async {
    while !Task.isCancelled {
      do throws(Failure) {
        try await files.sweep()
      } catch {
        if Task.isCancelled { return }
        logger.warning(
          "unused files were not removed", metadata: ["cause": "\(error.cause ?? error.message)"])
      }
      try? await Task.sleep(for: Self.rest)
      // For buckets that could not be created at start, or that others removed.
      if !Task.isCancelled { await prepare() }
    }
  }

  /// Creates the buckets that settings name, before the first request.
  func prepare() async {
    do throws(Failure) {
      try await files.makeNamedBuckets()
    } catch {
      logger.warning(
        "buckets were not created", metadata: ["cause": "\(error.cause ?? error.message)"])
    }
  }
}

/// The URL at which clients reach this service: `publicUrl`, or else the first listening address with a
/// port, which is known once it listens. Never the `Host` of a client.
final class PublicAddress: Sendable {
  private let text: Mutex<String>
  private let isSet: Bool

  init(_ settings: Settings) {
    isSet = settings.publicURL != nil
    var text = settings.publicURL?.text ?? ""
    while text.hasSuffix("/") { text.removeLast() }
    self.text = Mutex(text)
  }

  /// The URL without a trailing slash.
  var url: String { text.withLock { $0 } }

  /// - Returns: whether links to it work from other machines, as far as is known.
  func note(_ addresses: [SocketAddress], isSecure: Bool) -> Bool {
    guard !isSet else { return true }
    guard let first = addresses.first(where: { $0.port != nil }) else { return false }
    text.withLock { $0 = ListeningAddress.text(first, scheme: isSecure ? "https" : "http") }
    return !["0.0.0.0", "::"].contains(first.host)
  }
}
