import Endpoints
import Files
import Gateway
import HTTPServer
import Logging
import Model
import Sealing
import Storage
import Transport

/// Files, wired over the store that settings name.
enum FilesAssembly {
  /// Threads for writing, hashing and syncing content; a sync may take long, and others go on.
  private static let threadsMax = 8
  /// Of small objects in memory.
  private static let smallFilesBytesMax = 16 << 20
  /// In the data folder.
  private static let folderName = "files"

  static func service(
    _ settings: Settings, store: Store, keys: KeyRing, group: EventLoopGroup,
    expiryClock: WallClock
  ) throws -> FileService {
    let clock = SystemClock.wall
    return FileService(
      store: try fileStore(
        settings, store: store, group: group, clock: clock, expiryClock: expiryClock),
      rules: rules(settings.files), isAdminOn: settings.adminToken != nil,
      presigner: Presigner(key: keys.key(for: .presign), clock: clock), clock: expiryClock,
      uploadLifetime: settings.files.uploadExpiry,
      smallFiles: settings.files.store == .disk ? SmallFiles(bytesMax: smallFilesBytesMax) : nil)
  }

  /// The S3 dialect over the same files. Its clients sign for whatever region they are set to.
  static func s3(
    _ files: FileService, _ settings: S3DialectSettings, store: Store, keys: KeyRing,
    random: RandomBytes, logger: Logger
  ) -> S3Services {
    let clock = SystemClock.wall
    let accessKeys = S3Keys(
      store: store, sealer: Sealer(key: keys.key(for: .s3), random: random), clock: clock,
      random: random)
    return S3Services(
      files: files,
      authenticator: S3Authenticator(keys: accessKeys, clock: clock, logger: logger),
      keys: accessKeys, host: settings.host)
  }

  private static func fileStore(
    _ settings: Settings, store: Store, group: EventLoopGroup, clock: WallClock,
    expiryClock: WallClock
  ) throws -> any FileStore {
    switch settings.files.store {
    case .disk:
      do throws(FileStoreError) {
        return try DiskFileStore.open(
          store: store, folder: "\(settings.dataFolder)/\(folderName)",
          pool: BlockingPool(threadsMax: threadsMax), clock: clock, expiryClock: expiryClock,
          random: { UInt64.random(in: 0...UInt64.max) })
      } catch {
        throw StartFailure(.dataFolder, "The folder for files cannot be made: \(error)")
      }
    case .s3:
      return try S3Assembly.store(settings.files, group: group, clock: clock)
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
