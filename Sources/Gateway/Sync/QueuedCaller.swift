import Accounts
import Crypto
import LosslessJSON
import Model
import Sealing

/// In whose name a queued mutation goes upstream: the caller's headers, kept with it and brought
/// back when it is sent.
struct QueuedCaller: Sendable {
  /// How far upstream's clock may be ahead of this one.
  private static let clockSkewMax = Duration.seconds(30)

  let sealer: Sealer

  /// - Returns: nil where the caller has no credential of its own.
  func sealedCredential(of caller: Caller, device: String) throws(Failure) -> String? {
    guard let subject = caller.subject, !caller.credentials.isEmpty else { return nil }
    let secret = Self.json(caller.credentials).bytes
    do throws(SealFault) {
      return Base64URL.encode(
        try sealer.seal(secret, for: Self.context(device: device, subject: subject)))
    } catch {
      throw Failure(.internal, "The credential cannot be kept.", cause: "\(error)")
    }
  }

  static func partitions(of caller: Caller) -> String { json(caller.partitions).text }

  /// - Returns: nil where the credential cannot be read any more: a new one is needed.
  func caller(
    sealedCredential: String?, partitions: String, scope: Scope, user: String?, device: String
  ) -> Caller? {
    let partitions = (try? JSONValue(parsing: Array(partitions.utf8))).map(Self.headers) ?? []
    guard let sealedCredential else {
      return scope.kind == .public ? Caller(partitions: partitions) : nil
    }
    let context = Self.context(device: device, subject: scope.subject)
    guard let sealed = Base64URL.decode(sealedCredential),
      let secret = try? sealer.open(sealed, for: context),
      let credentials = try? JSONValue(parsing: secret)
    else { return nil }
    return Caller(
      credentials: Self.headers(credentials), partitions: partitions, subject: scope.subject,
      user: user)
  }

  /// Of all credentials that a caller sent: tells one token from the next, and nothing else.
  static func digest(of caller: Caller) -> [UInt8] {
    Array(SHA256.hash(data: json(caller.credentials).bytes))
  }

  /// One of the credentials is a token that says of itself that it is over. Nobody's word but
  /// upstream's decides what it is good for; this one explains a refusal.
  static func hasExpired(_ caller: Caller, at now: Timestamp) -> Bool {
    caller.credentials.contains { header in
      guard let token = header.value.split(separator: " ").last,
        let expires = TokenExpiry.stated(by: String(token))
      else { return false }
      return expires <= now.advanced(by: clockSkewMax)
    }
  }

  /// What is sealed opens for the same device and the same subject alone.
  private static func context(device: String, subject: String) -> String {
    "mutation:\(device.utf8.count):\(device)\(subject)"
  }

  private static func json(_ headers: [Caller.Header]) -> JSONValue {
    .object(headers.map { JSONMember($0.name, .string($0.value)) })
  }

  private static func headers(_ json: JSONValue) -> [Caller.Header] {
    (json.members ?? []).map { Caller.Header(name: $0.name, value: $0.value.string ?? "") }
  }
}
