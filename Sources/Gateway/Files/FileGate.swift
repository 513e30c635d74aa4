package import Model

/// Access and quotas of a bucket.
package struct BucketRule: Hashable, Sendable {
  package enum Access: Hashable, Sendable {
    /// Everyone can read and list; only the operator writes.
    case publicRead
    /// Signed-in users, each under their own key prefix.
    case user
    /// Only the operator.
    case admin
  }

  package var access: Access
  /// The bucket's quota; nil for unlimited.
  package var bytesMax: Int?
  /// The quota of one user; nil for the bucket's quota.
  package var userBytesMax: Int?

  /// The rule of a bucket that settings do not name.
  package static let standard = BucketRule(access: .admin)

  package init(access: Access, bytesMax: Int? = nil, userBytesMax: Int? = nil) {
    self.access = access
    self.bytesMax = bytesMax
    self.userBytesMax = userBytesMax
  }
}

/// The kind of access to an object.
package enum FileAction: Hashable, Sendable {
  case read
  case write
}

/// The method that a presigned link allows. GET includes HEAD.
package enum FileMethod: String, CaseIterable, Sendable {
  case get = "GET"
  case put = "PUT"
  case delete = "DELETE"

  package var action: FileAction { self == .get ? .read : .write }
}

/// The authorisation of a request for an object.
package enum FileGrant: Sendable {
  /// The caller's own rights.
  case caller(Caller)
  /// A link presigned by this service.
  case link(expires: String, signature: String)
}

/// A link that gives its bearer its creator's right to one action on one object, for a limited
/// time.
package struct PresignedURL: Hashable, Sendable {
  /// The query string to append to the object's path.
  package let query: String
  package let expires: Timestamp
}

/// Decides who can access which objects of which bucket.
///
/// Checked before any look-up, so that a caller without read access cannot learn what the bucket
/// contains or whether it exists.
struct FileGate: Sendable {
  let rules: [BucketName: BucketRule]
  let isAdminOn: Bool

  func rule(of bucket: BucketName) -> BucketRule { rules[bucket] ?? .standard }

  func admit(
    _ caller: Caller, to action: FileAction, _ address: ObjectAddress
  ) throws(Failure) {
    if caller.isAdmin { return }
    switch rule(of: address.bucket).access {
    case .publicRead where action == .read:
      return
    case .user:
      let prefix = try ownPrefix(of: caller)
      guard address.key.hasPrefix(prefix) else {
        throw Failure(.forbidden, "Your keys in this bucket must start with \(prefix)")
      }
    case .publicRead, .admin:
      throw refusal(of: caller)
    }
  }

  /// - Returns: the prefix that the caller can list; longer than the requested one if that would
  ///   include other users' keys.
  func admitListing(
    _ caller: Caller, of bucket: BucketName, prefix: String
  ) throws(Failure) -> String {
    if caller.isAdmin { return prefix }
    switch rule(of: bucket).access {
    case .publicRead:
      return prefix
    case .user:
      let own = try ownPrefix(of: caller)
      if prefix.utf8.starts(with: own.utf8) { return prefix }
      guard own.utf8.starts(with: prefix.utf8) else {
        throw Failure(.forbidden, "Your keys in this bucket must start with \(own)")
      }
      return own
    case .admin:
      throw refusal(of: caller)
    }
  }

  func admitOperator(_ caller: Caller) throws(Failure) {
    guard caller.isAdmin else { throw refusal(of: caller) }
  }

  /// The owner that a key counts for, and its quotas.
  func quota(of address: ObjectAddress) -> FileQuota {
    let rule = rule(of: address.bucket)
    return FileQuota(
      owner: rule.access == .user ? UserPrefix.owner(of: address.key) : "",
      bucketBytesMax: rule.bytesMax, ownerBytesMax: rule.userBytesMax)
  }

  private func ownPrefix(of caller: Caller) throws(Failure) -> String {
    guard let user = caller.user else {
      throw Failure(.signInRequired, "This bucket requires a signed-in user.")
    }
    return UserPrefix(user: user).text
  }

  private func refusal(of caller: Caller) -> Failure {
    if caller.user != nil { return Failure(.forbidden, "This requires the operator.") }
    guard isAdminOn else {
      return Failure(
        .unauthenticated, "This requires the admin token, but the setting admin.token is not set.")
    }
    return Failure(.unauthenticated, "This requires the admin token.")
  }
}

/// The key prefix of a user's own objects.
///
/// It is the user's id and a slash. A slash inside the id would make one user's prefix the
/// beginning of another's, so slashes and percent signs are percent-encoded.
struct UserPrefix {
  let text: String

  init(user: String) {
    var escaped = ""
    for scalar in user.unicodeScalars {
      switch scalar {
      case "/": escaped += "%2F"
      case "%": escaped += "%25"
      default: escaped.unicodeScalars.append(scalar)
      }
    }
    text = escaped + "/"
  }

  /// The part of a key before its first slash; empty without one.
  static func owner(of key: ObjectKey) -> String {
    let bytes = key.text.utf8
    guard let slash = bytes.firstIndex(of: UInt8(ascii: "/")) else { return "" }
    return String(decoding: bytes[..<slash], as: UTF8.self)
  }
}
