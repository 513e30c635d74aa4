import Accounts
import Cryptography
import LosslessJSON
import Model
import Synchronization
import Transport

/// The caller of a queued mutation: the headers that are stored with the mutation and restored when it
/// is sent upstream.
struct QueuedCaller: Sendable {
  /// The maximum time by which upstream's clock can be ahead of this one.
  private static let clockSkewMax = Duration.seconds(30)

  let sealer: Sealer

  /// Returns the caller's sealed credentials; nil if the caller has none.
  func sealedCredential(of caller: Caller, device: String) throws(Failure) -> String? {
    guard let subject = caller.subject, !caller.credentials.isEmpty else { return nil }
    let secret = Self.json(caller.credentials).bytes
    do throws(SealFault) {
      return Base64URL.encode(
        try sealer.seal(secret, for: Self.context(device: device, subject: subject)))
    } catch {
      throw Failure(.internal, "The credential cannot be stored.", cause: "\(error)")
    }
  }

  /// Returns the partition headers as JSON text; values of headers whose names denote credentials are
  /// sealed.
  func partitions(of caller: Caller, device: String) throws(Failure) -> String {
    var members: [JSONMember] = []
    for header in caller.partitions {
      guard let digest = header.digest else {
        members.append(JSONMember(header.name, .string(header.value)))
        continue
      }
      do throws(SealFault) {
        let sealed = try sealer.seal(
          Array(header.value.utf8), for: Self.context(device: device, header: header.name))
        members.append(
          JSONMember(
            header.name,
            ["sealed": .string(Base64URL.encode(sealed)), "digest": .string(digest)]))
      } catch {
        throw Failure(.internal, "The credential cannot be stored.", cause: "\(error)")
      }
    }
    return JSONValue.object(members).text
  }

  /// Returns the partition headers in a text; nil if a sealed value cannot be opened.
  private func partitions(_ text: String, device: String) -> [Caller.Header]? {
    let members = (try? JSONValue(checked: text))?.members ?? []
    var headers: [Caller.Header] = []
    for member in members {
      guard let sealed = member.value["sealed"]?.string else {
        headers.append(Caller.Header(name: member.name, value: member.value.string ?? ""))
        continue
      }
      guard let bytes = Base64URL.decode(sealed),
        let value = try? sealer.open(bytes, for: Self.context(device: device, header: member.name))
      else { return nil }
      headers.append(
        Caller.Header(
          name: member.name, value: String(decoding: value, as: UTF8.self),
          digest: member.value["digest"]?.string))
    }
    return headers
  }

  /// Returns the caller of a stored mutation; nil if the credential can no longer be read and a new
  /// one is needed.
  func caller(
    sealedCredential: String?, partitions: String, scope: Scope, user: String?, device: String
  ) -> Caller? {
    guard let partitions = self.partitions(partitions, device: device) else { return nil }
    guard let sealedCredential else {
      return scope.kind == .public || scope.kind == .role ? Caller(partitions: partitions) : nil
    }
    let context = Self.context(device: device, subject: scope.subject)
    guard let sealed = Base64URL.decode(sealedCredential),
      let secret = try? sealer.open(sealed, for: context),
      let credentials = try? JSONValue(checked: secret)
    else { return nil }
    return Caller(
      credentials: Self.headers(credentials), partitions: partitions, subject: scope.subject,
      user: user)
  }

  /// Returns a digest of all credentials that a caller sent, to distinguish one token from the next.
  static func digest(of caller: Caller) -> [UInt8] {
    Array(SHA256.hash(data: json(caller.credentials).bytes))
  }

  /// Returns whether one of the credentials is a token that states an expiry in the past. Only
  /// upstream decides whether a token is valid; this only explains a refusal.
  static func hasExpired(_ caller: Caller, at now: Timestamp) -> Bool {
    caller.credentials.contains { header in
      guard let token = header.value.split(separator: " ").last,
        let expires = TokenExpiry.stated(by: String(token))
      else { return false }
      return expires <= now.advanced(by: clockSkewMax)
    }
  }

  /// The sealing context: a sealed credential opens only for the same device and subject.
  private static func context(device: String, subject: String) -> String {
    "mutation:\(device.utf8.count):\(device)\(subject)"
  }

  private static func context(device: String, header: String) -> String {
    "partition:\(device.utf8.count):\(device)\(header)"
  }

  private static func json(_ headers: [Caller.Header]) -> JSONValue {
    .object(headers.map { JSONMember($0.name, .string($0.value)) })
  }

  private static func headers(_ json: JSONValue) -> [Caller.Header] {
    (json.members ?? []).map { Caller.Header(name: $0.name, value: $0.value.string ?? "") }
  }
}

/// The devices whose queues wait for a credential, with the credentials that upstream has refused
/// since: a refused one is not tried again.
final class RefusedCredentials: Sendable {
  /// The digests of the credentials that upstream refused.
  typealias Digests = Set<[UInt8]>

  /// The maximum number of devices. A forgotten one is noted again by its next mutation, and at a
  /// start.
  static let devicesMax = 10_000
  /// The maximum number of digests per device; a refused credential whose digest was evicted is tried
  /// once more.
  static let digestsMax = 16

  private let refused = Mutex<[String: Digests]>([:])
  /// Whether queues that the last process left can still be found to wait.
  private let recovering = Atomic(true)
  private let recovered = AsyncSignal()

  var isRecovering: Bool { recovering.load(ordering: .acquiring) }

  /// Notes that all queues of the last process are known.
  func endRecovery() {
    recovering.store(false, ordering: .releasing)
    recovered.notify()
  }

  func waitForRecovery() async {
    while isRecovering, !Task.isCancelled {
      let seen = recovered.count
      if isRecovering { await recovered.wait(after: seen) }
    }
  }

  /// Notes that a device waits for a credential.
  ///
  /// - Parameter digest: the digest of the refused credential; nil if it is unknown.
  func note(_ device: String, refused digest: [UInt8]? = nil) {
    putBack(digest.map { [$0] } ?? [], of: device)
  }

  /// Returns whether the device waits for a credential.
  func isWaiting(_ device: String) -> Bool {
    refused.withLock { $0[device] != nil }
  }

  /// Removes the device, whose queue is about to resume with this credential.
  ///
  /// - Returns: the digests to put back if it does not resume; nil if the device does not wait, or
  ///   upstream refused this very credential.
  func takeOut(_ device: String, for digest: [UInt8]) -> Digests? {
    refused.withLock { refused in
      guard let digests = refused[device], !digests.contains(digest) else { return nil }
      return refused.removeValue(forKey: device)
    }
  }

  /// Adds the device again.
  func putBack(_ digests: Digests, of device: String) {
    refused.withLock { refused in
      if refused[device] == nil, refused.count >= Self.devicesMax, let other = refused.keys.first {
        refused[other] = nil
      }
      var all = refused[device] ?? []
      for digest in digests where !all.contains(digest) {
        if all.count >= Self.digestsMax, let other = all.first { all.remove(other) }
        all.insert(digest)
      }
      refused[device] = all
    }
  }
}
