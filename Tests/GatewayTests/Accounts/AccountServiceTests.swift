import Accounts
import Cryptography
import Gateway
import Logging
import Model
import Synchronization
import Testing

struct AccountServiceTests {
  /// Signs in every caller, as the user before the at sign.
  struct AnyoneIn: AccountProvider {
    let ended = Mutexed<[String]>([])
    /// The number of sign-in attempts.
    let tries = Mutexed(0)
    let isAway = Mutexed(false)

    func signUp(
      _ credentials: Credentials, from client: ClientOrigin
    ) async throws(AccountFault) -> AccountSession {
      let broken = rulesBroken(byPassword: credentials.password)
      guard broken.isEmpty else { throw .weakPassword(broken) }
      return try await signIn(credentials, from: client)
    }

    func rulesBroken(byPassword password: String) -> [String] {
      password == "short" ? ["It has at least 8 characters."] : []
    }

    func signIn(
      _ credentials: Credentials, from client: ClientOrigin
    ) async throws(AccountFault) -> AccountSession {
      tries.change { $0 += 1 }
      guard credentials.password == "right" else { throw .wrongCredentials }
      let user = String(credentials.email.text.prefix { $0 != "@" })
      return AccountSession(
        accessToken: "access", refreshToken: "refresh-\(user)", lifetime: .seconds(60), user: user)
    }

    func refresh(
      _ refreshToken: String, from client: ClientOrigin
    ) async throws(AccountFault) -> AccountSession {
      throw isAway.current ? .unavailable(cause: "away", wasSent: true) : .sessionExpired
    }

    func signOut(_ refreshToken: String) async throws(AccountFault) -> String? {
      ended.change { $0.append(refreshToken) }
      return refreshToken.split(separator: "-").last.map(String.init)
    }

    func checkPassword(
      _ credentials: Credentials, from client: ClientOrigin
    ) async throws(AccountFault) {
      throw .unavailable(cause: "away", wasSent: false)
    }

    func changePassword(
      _ change: PasswordChange, from client: ClientOrigin
    ) async throws(AccountFault) {}

    func email(of user: VerifiedUser) async throws(AccountFault) -> String? { nil }
  }

  final class Mutexed<Value: Sendable>: Sendable {
    private let value: Mutex<Value>

    init(_ value: Value) { self.value = Mutex(value) }

    var current: Value { value.withLock { $0 } }
    func change(_ body: (inout Value) -> Void) { value.withLock { body(&$0) } }
  }

  let folder: StoreFolder
  let clock = TestClock()
  let devices: DeviceRegistry
  let provider = AnyoneIn()
  let signedOut = Mutexed<[SignedOut]>([])

  init() throws {
    folder = try StoreFolder()
    devices = .forTests(folder, clock)
  }

  func service(isListenerBroken: Bool = false) -> AccountService {
    let signedOut = signedOut
    return AccountService(
      provider: provider,
      rules: AccountRules(isSignUpOpen: true, triesPerMinute: 3, callsPerMinute: 5),
      devices: devices,
      networks: KnownNetworks(
        store: folder.store, key: SymmetricKey(data: [UInt8](repeating: 1, count: 32)),
        clock: clock.clock),
      clock: clock.clock,
      logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
    ) { event throws(Failure) in
      if isListenerBroken { throw Failure(.internal, "broken") }
      signedOut.change { $0.append(event) }
    }
  }

  func call(_ token: String? = nil, from network: String = "192.0.2.1") -> AccountCall {
    AccountCall(address: network, network: ClientNetwork(network), deviceToken: token)
  }

  func device() async throws -> (id: String, token: String) {
    let made = try await devices.register(
      DeviceRegistration(platform: "ios"), by: .anonymous, from: ClientNetwork("192.0.2.1"))
    return (made.device.id, made.token)
  }

  @Test("The sign-out listener gets the user and the device")
  func reportsSignOut() async throws {
    let phone = try await device()
    let service = service()
    _ = try await service.signIn(email: "ada@x", password: "right", call(phone.token))
    // A session of another user on this device is not reported, nor is one without a user.
    try await service.signOut("refresh-eve", call(phone.token))
    try await service.signOut("refresh-ada", call())
    #expect(signedOut.current.isEmpty)
    try await service.signOut("refresh-ada", call(phone.token))
    #expect(signedOut.current == [SignedOut(user: "ada", device: phone.id)])
  }

  @Test("A failing listener does not fail the sign-out")
  func signsOutIfListenerFails() async throws {
    let phone = try await device()
    let service = service(isListenerBroken: true)
    _ = try await service.signIn(email: "ada@x", password: "right", call(phone.token))
    try await service.signOut("refresh-ada", call(phone.token))
    #expect(provider.ended.current == ["refresh-ada"])
  }

  @Test("Signing in on another user's device leaves no session open")
  func endsSessionOnForeignDevice() async throws {
    let phone = try await device()
    let service = service()
    _ = try await service.signIn(email: "ada@x", password: "right", call(phone.token))
    let failure = try await #require(throws: Failure.self) {
      try await service.signIn(email: "eve@x", password: "right", call(phone.token))
    }
    #expect(failure.code == .deviceOfAnotherUser)
    #expect(provider.ended.current == ["refresh-eve"])
    let unknown = try await #require(throws: Failure.self) {
      try await service.signIn(email: "ada@x", password: "right", call("unknown"))
    }
    #expect(unknown.code == .unauthenticated)
  }

  @Test("A right password counts for the network; an unavailable provider does not count")
  func rightPasswordsCountForNetwork() async throws {
    let service = service()
    for _ in 0..<20 {
      let failure = try await #require(throws: Failure.self) {
        try await service.checkPassword(email: "ada@x", password: "right", call())
      }
      #expect(failure.code == .accountsUnavailable)
    }
    for name in ["a", "b", "a", "b", "a"] {
      _ = try await service.signIn(email: "\(name)@x", password: "right", call())
    }
    let failure = try await #require(throws: Failure.self) {
      try await service.signIn(email: "c@x", password: "right", call())
    }
    #expect(failure.code == .rateLimited)
    _ = try await service.signIn(email: "c@x", password: "right", call(from: "192.0.2.2"))
  }

  @Test("Attempts from other networks do not lock the owner out of a known network")
  func knownNetworksAreNotLockedOut() async throws {
    let home = "2001:db8::"
    _ = try await service().signIn(email: "ada@x", password: "right", call(from: home))
    // Another service with the same store, as after a restart.
    let service = service()
    for number in 0..<3 {
      _ = try? await service.signIn(
        email: "ada@x", password: "wrong", call(from: "198.51.100.\(number)"))
    }
    for (network, code) in [("198.51.100.9", Failure.Code.rateLimited), (home, nil)] {
      do {
        _ = try await service.signIn(email: "Ada@X", password: "right", call(from: network))
        #expect(code == nil)
      } catch {
        #expect(error.code == code)
      }
    }
    // Guesses from a known network are counted too.
    for _ in 0..<3 {
      _ = try? await service.signIn(email: "ada@x", password: "wrong", call(from: home))
    }
    let failure = try await #require(throws: Failure.self) {
      try await service.signIn(email: "ada@x", password: "right", call(from: home))
    }
    #expect(failure.code == .rateLimited)
  }

  @Test("A network has a limit of checked passwords per minute, over all accounts")
  func wrongPasswordsCount() async throws {
    let service = service()
    func code(_ name: String) async throws -> Failure.Code? {
      try await #require(throws: Failure.self) {
        try await service.signIn(email: "\(name)@x", password: "wrong", call())
      }.code
    }
    for _ in 0..<3 { #expect(try await code("ada") == .invalidCredentials) }
    #expect(try await code("ADA") == .rateLimited)
    for name in ["b", "c"] { #expect(try await code(name) == .invalidCredentials) }
    #expect(try await code("d") == .rateLimited)
    clock.advance(by: .seconds(60))
    #expect(try await code("d") == .invalidCredentials)
  }

  /// Known or unknown, with a right or wrong password: an expensive provider is not called.
  @Test("Throttled callers do not reach the provider")
  func throttledCallersCostNoWork() async throws {
    var waits: [Duration?] = []
    for name in ["ada", "nobody"] {
      clock.advance(by: .seconds(60))
      let service = service()
      for _ in 0..<3 {
        _ = try? await service.signIn(email: "\(name)@x", password: "wrong", call())
      }
      let before = provider.tries.current
      for password in ["wrong", "right"] {
        let failure = try await #require(throws: Failure.self) {
          try await service.signIn(email: "\(name)@x", password: password, call())
        }
        #expect(failure.code == .rateLimited)
        waits.append(failure.retryAfter)
      }
      #expect(provider.tries.current == before)
    }
    #expect(waits.count == 4 && Set(waits).count == 1 && waits.first != .some(nil))
  }

  @Test("Refused refreshes count for the network")
  func refusedRefreshesCount() async throws {
    let service = service()
    var codes: [Failure.Code] = []
    for _ in 0..<6 {
      codes.append(
        try await #require(throws: Failure.self) {
          try await service.refresh("none", call())
        }.code)
    }
    #expect(codes == Array(repeating: .sessionExpired, count: 5) + [.rateLimited])
  }

  /// Calls during the provider's outage do not count.
  @Test("Calls to an unavailable provider do not count")
  func unavailableProviderDoesNotCount() async throws {
    let service = service()
    provider.isAway.change { $0 = true }
    for _ in 0..<20 {
      let failure = try await #require(throws: Failure.self) {
        try await service.refresh("none", call())
      }
      #expect(failure.code == .accountsUnavailable)
    }
  }

  @Test("Sign-ups with a weak password do not count")
  func weakPasswordsDoNotCount() async throws {
    let service = service()
    func code(_ email: String, _ password: String) async throws -> Failure.Code? {
      try await #require(throws: Failure.self) {
        _ = try await service.signUp(
          email: email, password: password, isAdmin: false, call())
      }.code
    }
    for _ in 0..<20 { #expect(try await code("ada@x", "short") == .weakPassword) }
  }

  /// The operator's sign-ups are not counted, so nothing is returned for them.
  @Test("The operator's sign-ups neither count nor refund attempts")
  func operatorSignUpsDoNotRefund() async throws {
    let service = service()
    for _ in 0..<5 { _ = try? await service.refresh("none", call()) }
    _ = try? await service.signUp(email: "ada@x", password: "short", isAdmin: true, call())
    let failure = try await #require(throws: Failure.self) {
      try await service.refresh("none", call())
    }
    #expect(failure.code == .rateLimited)
  }

  @Test("Sign-up with another user's device creates no account")
  func signUpOnForeignDevice() async throws {
    let phone = try await device()
    let service = service()
    _ = try await service.signIn(email: "ada@x", password: "right", call(phone.token))
    let tries = provider.tries.current
    let failure = try await #require(throws: Failure.self) {
      try await service.signUp(
        email: "eve@x", password: "right", isAdmin: false, call(phone.token))
    }
    #expect(failure.code == .deviceOfAnotherUser)
    #expect(provider.tries.current == tries)
  }

  @Test("An invalid address and a weak password are reported together")
  func reportsAddressAndPassword() async throws {
    let failure = try await #require(throws: Failure.self) {
      try await service().signUp(email: "ada", password: "short", isAdmin: false, call())
    }
    #expect(failure.details.map(\.place) == [.pointer("/email"), .pointer("/password")])
  }
}
