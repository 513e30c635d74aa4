import Foundation

extension Profiles {
  /// What Larder has responded to a sign-in with the device of a profile.
  private struct SignedIn: Sendable {
    let profile: Profile
    let userID: String
    let session: Session

    /// For a session that this phone is not to have.
    var signOut: SignOut {
      SignOut(refreshToken: session.refreshToken, deviceToken: profile.deviceToken)
    }
  }

  // MARK: Signing in

  /// Signs in or up, in this order, with the profile that the address used last, the profile without a user,
  /// or a new one.
  ///
  /// - Parameter path: of signing in or up.
  /// - Returns: the user's id.
  func signIn(_ path: String, email: String, password: String) async throws -> String {
    try await switching.run { try await self.start(path, email, password) }
  }

  private func start(_ path: String, _ email: String, _ password: String) async throws -> String {
    try await sendSignOuts()
    let address = Self.normalized(email)
    let free = credentials.profiles.filter { $0.userID == nil }
    var profile =
      credentials.profiles.last { $0.email.map(Self.normalized) == address }
      ?? free.first { $0.id == credentials.active } ?? free.first
    if profile == nil { profile = try await newProfile() }
    guard let profile else { throw LarderError.signedOut }
    var signedIn = try await send(path, email, password, as: profile.id)
    // Each user has one profile: the address can be another one than before.
    var former: SignedIn?
    let userID = signedIn.userID
    if let own = credentials.profiles.first(where: { $0.userID == userID }),
      own.id != signedIn.profile.id
    {
      former = signedIn
      signedIn = try await send("/v1/auth/sign-in", email, password, as: own.id)
    }
    let id = signedIn.profile.id
    let joined = former?.profile.id == id ? nil : former
    // A kill between the two leaves a profile without anything, which the next sign-in joins again.
    let known = Set(credentials.profiles.map(\.id))
    try await store.write { [joined] db in
      let rows = ProfileRows(db)
      if let joined { try rows.join(joined.profile.id, to: id) }
      try rows.set(user: userID, of: id)
      try rows.joinLost(of: userID, to: id, known: known)
      try rows.forgetPushToken(of: id)
    }
    try change { [signedIn] credentials in
      if let joined {
        credentials.signOuts.append(joined.signOut)
        credentials.profiles.removeAll { $0.id == joined.profile.id }
      }
      for index in credentials.profiles.indices {
        if credentials.profiles[index].id == id {
          credentials.profiles[index].userID = signedIn.userID
          credentials.profiles[index].email = email
          credentials.profiles[index].session = signedIn.session
        } else if credentials.profiles[index].email.map(Self.normalized) == address {
          credentials.profiles[index].email = nil
        }
      }
      credentials.active = id
    }
    return signedIn.userID
  }

  /// Addresses that mailboxes take for the same.
  private static func normalized(_ email: String) -> String {
    email.trimmingCharacters(in: .whitespacesAndNewlines).precomposedStringWithCanonicalMapping
      .lowercased()
  }

  /// Sends a sign-in. A device that Larder does not know is replaced within its profile; one that belongs to
  /// another user stays, and a new profile takes its place.
  private func send(
    _ path: String, _ email: String, _ password: String, as id: String
  ) async throws -> SignedIn {
    guard var profile = profile(id) else { throw LarderError.signedOut }
    var response = try await send(path, email, password, profile.deviceToken)
    if try await isDeviceLost(response, profile) {
      try await replaceDevice(of: id, lost: profile.deviceToken)
      profile = self.profile(id) ?? profile
      response = try await send(path, email, password, profile.deviceToken)
    }
    if !response.isRefusal(403, "device_of_another_user") {
      let signedIn = try signedIn(response, profile)
      if profile.userID == nil || profile.userID == signedIn.userID { return signedIn }
      // Larder has given the address to another user.
      try change { $0.signOuts.append(signedIn.signOut) }
    }
    let isRefused = response.error != nil
    profile = try await newProfile()
    response = try await send(
      isRefused ? path : "/v1/auth/sign-in", email, password, profile.deviceToken)
    return try signedIn(response, profile)
  }

  private func send(
    _ path: String, _ email: String, _ password: String, _ deviceToken: String
  ) async throws -> HTTPResponse {
    try store.needSpace()
    var request = HTTPRequest.post(
      path, ["email": .string(email), "password": .string(password)], shape: .session)
    request.headers["Device-Token"] = deviceToken
    return try await client.send(request)
  }

  private func signedIn(_ response: HTTPResponse, _ profile: Profile) throws -> SignedIn {
    let reply = try response.content()
    return SignedIn(
      profile: profile, userID: try text(reply, "userId"), session: try session(reply))
  }

  // MARK: Signing out

  /// Ends the session on the phone. True if Larder has been told as well.
  func signOut() async throws -> Bool {
    let profile = try needActive()
    try change { credentials in
      credentials.active = nil
      if let session = profile.session {
        credentials.signOuts.append(
          SignOut(refreshToken: session.refreshToken, deviceToken: profile.deviceToken))
      }
      if let index = credentials.profiles.firstIndex(where: { $0.id == profile.id }) {
        credentials.profiles[index].session = nil
      }
    }
    do {
      try await sendSignOuts()
      return true
    } catch {
      // Also where the task was cancelled: the user has signed out.
      return false
    }
  }

  /// Tells Larder of sessions that ended while it could not be reached.
  func sendSignOuts() async throws {
    while let owed = credentials.signOuts.first {
      var request = HTTPRequest.post(
        "/v1/auth/sign-out", ["refreshToken": .string(owed.refreshToken)], shape: .empty)
      request.headers["Device-Token"] = owed.deviceToken
      let response = try await client.send(request)
      // Any other refusal says that the session has ended already.
      if response.status == 429 || response.status >= 500, let error = response.error {
        throw error
      }
      try change { $0.signOuts.removeAll { $0 == owed } }
    }
  }
}
