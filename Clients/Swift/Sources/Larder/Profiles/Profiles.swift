import Foundation

/// The profiles of the phone, of which one at most is active, and requests with their credentials.
actor Profiles {
  let client: HTTPClient
  let store: PhoneStore
  private let credentialStore: any CredentialStore
  private let clock: @Sendable () -> Date
  private let platform: String
  private(set) var credentials: Credentials
  private var refreshes: [String: Task<Session, any Error>] = [:]
  /// Tells observers that another profile, or none, is active.
  private let switches = Broadcast()
  private let replacing = Exclusive()
  /// Held while a profile is being activated.
  let switching = Exclusive()

  init(
    client: HTTPClient, store: PhoneStore, credentialStore: any CredentialStore,
    clock: @escaping @Sendable () -> Date, platform: String
  ) throws {
    self.client = client
    self.store = store
    self.credentialStore = credentialStore
    self.clock = clock
    self.platform = platform
    credentials = try Credentials(loading: credentialStore) ?? Credentials()
  }

  // MARK: The active profile

  /// Returns when a profile is not the active one, or the task is cancelled.
  func waitUntilInactive(_ id: String) async {
    var signals = switches.signals().makeAsyncIterator()
    while credentials.active == id {
      guard await signals.next() != nil else { return }
    }
  }

  var active: Profile? { credentials.active.flatMap(profile) }

  func profile(_ id: String) -> Profile? {
    credentials.profiles.first { $0.id == id }
  }

  func needActive() throws -> Profile {
    guard let active else { throw LarderError.signedOut }
    return active
  }

  /// What a body reads for the active profile. It is not returned once another profile, or none, is active.
  nonisolated func reading<Result: Sendable>(
    _ body: @Sendable (_ id: String) async throws -> Result
  ) async throws -> Result {
    let id = try await needActive().id
    let result = try await body(id)
    guard await credentials.active == id else { throw LarderError.signedOut }
    return result
  }

  /// Changes the credentials, which are saved before the change counts.
  func change(_ body: (inout Credentials) -> Void) throws {
    try store.needSpace()
    var changed = credentials
    body(&changed)
    do {
      try credentialStore.save(JSONEncoder().encode(changed))
    } catch {
      throw LarderError.storageFull
    }
    let hasSwitched = credentials.active != changed.active
    credentials = changed
    if hasSwitched {
      switches.send()
      store.reportSwitch()
    }
  }

  private func save(_ profile: Profile, isActive: Bool = false) throws {
    try change { credentials in
      if let index = credentials.profiles.firstIndex(where: { $0.id == profile.id }) {
        credentials.profiles[index] = profile
      } else {
        credentials.profiles.append(profile)
      }
      if isActive { credentials.active = profile.id }
    }
  }

  // MARK: Registering

  /// Activates the profile without a user, or registers one; nothing if one is active.
  func register() async throws -> Profile {
    try await switching.run { try await self.activate() }
  }

  private func activate() async throws -> Profile {
    if let active { return active }
    try await sendSignOuts()
    let profile: Profile
    if let stored = credentials.profiles.first(where: { $0.userID == nil }) {
      profile = stored
    } else {
      profile = try await newProfile()
    }
    try save(profile, isActive: true)
    return profile
  }

  /// Registers a device, and saves a profile for it.
  func newProfile() async throws -> Profile {
    let device = try await newDevice()
    let profile = Profile(id: UUID().uuidString, deviceID: device.id, deviceToken: device.token)
    try await store.write { db in try ProfileRows(db).add(profile.id) }
    try save(profile)
    return profile
  }

  /// Adds the rows of saved profiles that the store does not have, since credentials can outlive it, and the
  /// users of those that it has without.
  func addMissingRows() async throws {
    let users = credentials.profiles.map { (id: $0.id, user: $0.userID) }
    let missing = try await store.read { db in
      let present = try ProfileRows(db).users()
      return users.filter { profile in
        guard let row = present[profile.id] else { return true }
        return profile.user != nil && row != profile.user
      }
    }
    guard !missing.isEmpty else { return }
    try await store.write { db in
      let rows = ProfileRows(db)
      for profile in missing {
        try rows.add(profile.id)
        if let user = profile.user { try rows.set(user: user, of: profile.id) }
      }
    }
  }

  private func newDevice(accessToken: String? = nil) async throws -> (id: String, token: String) {
    try store.needSpace()
    var request = HTTPRequest.post(
      "/v1/devices", ["platform": .string(platform)],
      shape: .object(["id": .string, "deviceToken": .string]))
    if let accessToken { request.headers["Authorization"] = "Bearer \(accessToken)" }
    let reply = try await client.send(request).content()
    return (try text(reply, "id"), try text(reply, "deviceToken"))
  }

  func text(_ reply: JSONValue, _ name: String) throws -> String {
    guard let text = reply[name]?.string else {
      throw LarderError.unexpectedContent("The response lacks \"\(name)\".")
    }
    return text
  }

  // MARK: Tokens

  /// The session with a token that has not expired by the phone's clock.
  private func freshSession(of profile: Profile) async throws -> Session? {
    guard profile.userID != nil else { return nil }
    guard let session = profile.session else { throw LarderError.signedOut }
    return session.expiresAt > clock() ? session : try await refresh(profile.id, session)
  }

  /// New tokens, by one request at a time. A response that is lost loses nothing: the refresh token stays
  /// until its successor is saved, and Larder accepts it again for `accounts.refreshLeeway`.
  private func refresh(_ id: String, _ used: Session) async throws -> Session {
    guard let profile = profile(id), let present = profile.session else {
      throw LarderError.signedOut
    }
    if present != used { return present }
    if let running = refreshes[id] { return try await running.value }
    let task = Task { try await newSession(id, used) }
    refreshes[id] = task
    defer { refreshes[id] = nil }
    return try await task.value
  }

  func session(_ reply: JSONValue) throws -> Session {
    Session(
      accessToken: try text(reply, "accessToken"), refreshToken: try text(reply, "refreshToken"),
      expiresAt: clock().addingTimeInterval(reply["expiresIn"]?.double ?? 0))
  }

  private func newSession(_ id: String, _ used: Session) async throws -> Session {
    try store.needSpace()
    guard let before = profile(id) else { throw LarderError.signedOut }
    // The former tokens end with the request: if the next ones could not be saved, nothing is sent.
    try change { _ in }
    let response = try await client.send(
      .post(
        "/v1/auth/refresh", ["refreshToken": .string(used.refreshToken)], shape: .session))
    guard var profile = profile(id), profile.session == used else {
      try await endSession(response, deviceToken: before.deviceToken)
      // The user can have signed in again.
      guard let present = self.profile(id)?.session else { throw LarderError.signedOut }
      return present
    }
    if response.status == 401 {
      profile.session = nil
      try save(profile)
      throw LarderError.signedOut
    }
    let session = try session(response.content())
    profile.session = session
    try save(profile)
    return session
  }

  /// Ends the session that a refresh brought after the user had signed out.
  private func endSession(_ response: HTTPResponse, deviceToken: String) async throws {
    guard response.error == nil else { return }
    let token = try session(response.content()).refreshToken
    try change { $0.signOuts.append(SignOut(refreshToken: token, deviceToken: deviceToken)) }
    // Else it is sent before the next requests.
    try? await sendSignOuts()
  }

  // MARK: Requests

  /// Sends a request of a profile. A device that Larder does not know is replaced, and the request sent
  /// again.
  ///
  /// - Parameter item: the item of the outbox that is being sent, as it was before it was marked as tried. If
  ///   it had been tried even then, it is not sent from another device.
  /// - Throws: `LarderError`; not for statuses.
  func send(
    _ request: HTTPRequest, as id: String, item: OutboxRows.Item? = nil
  ) async throws -> HTTPResponse {
    guard let before = profile(id) else { throw LarderError.signedOut }
    let response = try await sendOnce(request, as: id)
    guard try await isDeviceLost(response, before) else { return response }
    try await replaceDevice(
      of: id, lost: before.deviceToken, untried: item?.wasTried == false ? item?.number : nil)
    if let item {
      // From here on the new device may have it.
      let isWaiting = try await store.write { db in
        let rows = OutboxRows(db, id)
        guard try rows.isWaiting(item) else { return false }
        try rows.mark(item.number, wasTried: true)
        return true
      }
      guard isWaiting else { throw LarderError.deviceLost }
    }
    return try await sendOnce(request, as: id)
  }

  private func sendOnce(_ request: HTTPRequest, as id: String) async throws -> HTTPResponse {
    guard let profile = profile(id) else { throw LarderError.signedOut }
    let session = try await freshSession(of: profile)
    let response = try await client.send(request.with(profile, session))
    guard let session, session == profile.session,
      response.isRefusal(401, "token_expired", "token_invalid")
    else { return response }
    let next = try await refresh(id, session)
    return try await client.send(request.with(self.profile(id) ?? profile, next))
  }

  /// Whether a refusal says that Larder does not know the device; other credentials can be missing too.
  func isDeviceLost(_ response: HTTPResponse, _ profile: Profile) async throws -> Bool {
    guard response.isRefusal(401, "unauthenticated") else { return false }
    if response.problem.detail.hasPrefix("The device token is unknown") { return true }
    var request = HTTPRequest(path: "/v1/devices/me", shape: .object(["id": .string]))
    request.headers["Device-Token"] = profile.deviceToken
    return try await client.send(request).isRefusal(401, "unauthenticated")
  }

  /// - Parameter untried: the number of the item that has been sent for the first time.
  func replaceDevice(of id: String, lost: String, untried: Int? = nil) async throws {
    try await replacing.run { try await self.replace(id, lost, untried) }
  }

  private func replace(_ id: String, _ lost: String, _ untried: Int?) async throws {
    guard let former = profile(id), former.deviceToken == lost else { return }
    let session = try? await freshSession(of: former)
    let device = try await newDevice(accessToken: session?.accessToken)
    // A kill between the two repeats this; nothing is left that could end twice.
    try await store.write { db in try OutboxRows(db, id).loseDevice(untried: untried) }
    guard var profile = profile(id) else { throw LarderError.signedOut }
    (profile.deviceID, profile.deviceToken) = device
    try save(profile)
  }
}

extension HTTPRequest {
  fileprivate func with(_ profile: Profile, _ session: Session?) -> HTTPRequest {
    var request = self
    request.headers["Device-Token"] = profile.deviceToken
    if let session { request.headers["Authorization"] = "Bearer \(session.accessToken)" }
    return request
  }
}
