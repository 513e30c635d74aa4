import Model

/// Who may do what in which bucket.
///
/// Judged before anything is looked up, so that whoever may not read a bucket does not learn what
/// is in it, nor whether it is there.
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
        throw Failure(.forbidden, "Keys of this bucket that are yours begin with \(prefix)")
      }
    case .publicRead, .admin:
      throw refusal(of: caller)
    }
  }

  /// - Returns: the prefix that the caller may list; longer than the one asked for where that would
  ///   show others' keys.
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
        throw Failure(.forbidden, "Keys of this bucket that are yours begin with \(own)")
      }
      return own
    case .admin:
      throw refusal(of: caller)
    }
  }

  func admitOperator(_ caller: Caller) throws(Failure) {
    guard caller.isAdmin else { throw refusal(of: caller) }
  }

  /// Whose bytes a key counts as, and how many there may be.
  func quota(of address: ObjectAddress) -> FileQuota {
    let rule = rule(of: address.bucket)
    return FileQuota(
      owner: rule.access == .user ? UserPrefix.owner(of: address.key) : "",
      bucketBytesMax: rule.bytesMax, ownerBytesMax: rule.userBytesMax)
  }

  private func ownPrefix(of caller: Caller) throws(Failure) -> String {
    guard let user = caller.user else {
      throw Failure(.signInRequired, "This bucket is for signed-in users.")
    }
    return UserPrefix(user: user).text
  }

  private func refusal(of caller: Caller) -> Failure {
    if caller.user != nil { return Failure(.forbidden, "This is for the operator alone.") }
    guard isAdminOn else {
      return Failure(.unauthenticated, "Settings hold no admin.token, which this takes.")
    }
    return Failure(.unauthenticated, "This takes the admin token.")
  }
}
