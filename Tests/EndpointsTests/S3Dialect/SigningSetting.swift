import Accounts
import Cryptography
import Gateway
import Model
import Storage
import TestSupport

@testable import Endpoints

/// An authenticator with its own keys and a fixed clock.
struct SigningSetting {
  let clock = TestClock()
  let log = RecordedLog()
  let keys: S3Keys
  /// The operator's key.
  let key: S3Keys.Issued
  private let folder: StoreFolder

  init() async throws {
    folder = try StoreFolder()
    let random = RandomBytes { UInt8.random(in: 0...UInt8.max) }
    let key = SymmetricKey(data: [UInt8](repeating: 3, count: 32))
    keys = S3Keys(
      store: folder.store, sealer: Sealer(key: key, random: random),
      clock: clock.clock, random: random)
    self.key = try await keys.issue(user: nil, buckets: nil, isReadOnly: false)
  }

  /// Seconds since 1970.
  var now: Int64 { clock.clock.now().milliseconds / 1000 }

  /// - Parameter region: the only accepted region; nil for any.
  func judge(_ sent: SignedCase, region: String? = nil) async throws(S3Fault) -> S3Request {
    try await S3Authenticator(
      keys: keys, region: region, clock: clock.clock, logger: log.logger
    ).authenticate(sent.request)
  }

  /// - Returns: nil if the request is accepted.
  func refusal(of sent: SignedCase, region: String? = nil) async -> S3Fault? {
    do throws(S3Fault) {
      _ = try await judge(sent, region: region)
      return nil
    } catch {
      return error
    }
  }

  /// A request that the key signed in its fields.
  ///
  /// - Parameter seconds: how far the client's clock is ahead.
  func signed(ahead seconds: Int64 = 0) -> SignedCase {
    var sent = SignedCase()
    sent.sign(by: key, at: now + seconds)
    return sent
  }

  /// A request that the key signed in its query.
  ///
  /// - Parameter seconds: the time until it becomes valid.
  func presigned(ahead seconds: Int64 = 0, lifetimeSeconds: Int64 = 60) -> SignedCase {
    var sent = SignedCase()
    sent.presign(by: key, at: now + seconds, lifetimeSeconds: lifetimeSeconds)
    return sent
  }
}
