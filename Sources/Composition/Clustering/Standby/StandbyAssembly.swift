import Cryptography
import FoundationEssentials
import HTTPClient
import Model
import S3FileStore
import Standby
import Transport

/// What a machine shares with its standby, wired from settings.
struct StandbyAssembly {
  /// Calls of the folder at once: a commit's segment, the lease, a snapshot, a removal.
  private static let threadsMax = 4
  /// The shortest and the longest wait for a response of the bucket's service.
  private static let waits = (min: Duration.seconds(3), max: Duration.seconds(30))

  let store: StandbyStore
  /// The connections to the service of the bucket; nil for a folder.
  private let client: HTTPClient?
  private let group: EventLoopGroup?

  /// - Throws: ``StartFailure`` for settings that lack something.
  init(_ settings: Settings) throws {
    let standby = settings.standby
    guard let secret = standby.secret, standby.isOn else {
      throw StartFailure(
        .faultySettings,
        "`standby.folder` or `standby.bucket`, and `standby.secret`, are not set: there is no standby."
      )
    }
    let seal = ObjectSeal(secret: Array(secret.revealed.utf8))
    if let folder = standby.folder {
      (client, group) = (nil, nil)
      store = StandbyStore(
        FolderObjects(
          base: folder, name: standby.name, pool: BlockingPool(threadsMax: Self.threadsMax)),
        seal: seal)
      return
    }
    let files = Self.files(settings)
    guard let name = standby.bucket.flatMap({ BucketName($0) }) else {
      throw StartFailure(.faultySettings, "`standby.bucket` is not the name of a bucket.")
    }
    let group = try EventLoopGroup(count: 1)
    var limits = HTTPClientSettings()
    limits.firstByteTimeout = min(Self.waits.max, max(Self.waits.min, standby.lease / 2))
    let client = HTTPClient(
      group: group, settings: limits,
      tls: try ClientTLS().context(if: files.endpoint?.scheme == "https"),
      random: { Double.random(in: 0..<1) })
    let objects = S3ConditionalObjects(
      client: try S3Assembly.client(files, http: client, clock: SystemClock.wall), bucket: name)
    store = StandbyStore(
      S3SharedObjects(
        objects: objects, bucket: name.text, endpoint: files.endpoint?.text ?? "",
        name: standby.name), seal: seal)
    self.client = client
    self.group = group
  }

  /// The service of the bucket, in the form of the settings of files.
  private static func files(_ settings: Settings) -> FilesSettings {
    var files = settings.files
    let own = settings.standby
    files.endpoint = own.endpoint ?? files.endpoint
    files.region = own.region ?? files.region
    files.accessKey = own.accessKey ?? files.accessKey
    files.secretKey = own.secretKey ?? files.secretKey
    files.usesPathStyle = own.usesPathStyle ?? files.usesPathStyle
    return files
  }

  func close() async {
    await client?.close()
    await group?.shutdown()
  }

  /// The root secret of a new data folder: the same on both machines.
  static func rootBytes(_ settings: StandbySettings) -> [UInt8] {
    let key = HKDF<SHA256>.deriveKey(
      inputKeyMaterial: SymmetricKey(data: Array((settings.secret?.revealed ?? "").utf8)),
      info: Array("larder/standby root".utf8), outputByteCount: 32)
    return key.withUnsafeBytes { Array($0) }
  }

  static func senderSettings(_ settings: StandbySettings) -> LogSender.Settings {
    var sender = LogSender.Settings()
    sender.interval = settings.segmentInterval
    sender.lease = settings.lease
    return sender
  }

  /// The name of this machine, for people.
  static var host: String { ProcessInfo.processInfo.hostName }
}
