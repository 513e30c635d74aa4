import Accounts
import Cryptography
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

  /// The partition headers as text, those that are credentials by their names sealed.
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
        throw Failure(.internal, "The credential cannot be kept.", cause: "\(error)")
      }
    }
    return JSONValue.object(members).text
  }

  /// - Returns: nil where a sealed one does not open.
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

  /// - Returns: nil where the credential cannot be read any more: a new one is needed.
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
