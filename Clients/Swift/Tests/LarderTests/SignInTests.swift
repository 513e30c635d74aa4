import Foundation
import Testing

@testable import Larder

struct SignInTests {
  private let accounts = ScriptedAccounts()
  private let transport: ScriptedLarder

  init() {
    transport = ScriptedLarder { [accounts] request in
      if let answer = try accounts.answer(request) { return answer }
      switch request.path {
      case "/v1/devices/me": return (200, ["id": "d"])
      case "/v1/push/registration": return (200, ["userId": "u"])
      default: throw LarderError.offline("flight mode", wasSent: request.path == "/v1/mutations")
      }
    }
  }

  @Test("Signing in with a device that Larder has removed keeps the user's data and outbox")
  func replacesLostDevice() async throws {
    let larder = try await ScriptedLarder.open(transport)
    try await larder.signIn(as: "ada")
    try await larder.save(Film("f1"))
    try await larder.signOut()
    accounts.removeDevices()
    #expect(try await larder.signIn(as: "ada") == "ada")
    #expect(try await larder.titles() == ["f1"])
    #expect(try await larder.outbox().count == 1)
    #expect(await larder.profile?.device == "d2")
  }

  @Test("Other letter cases, spaces and compositions of an address are the same address")
  func normalizesAddresses() async throws {
    let larder = try await ScriptedLarder.open(transport)
    try await larder.signIn(email: "adé@example.com", password: "secret")
    try await larder.save(Film("f1"))
    try await larder.signOut()
    try await larder.signIn(email: " Ade\u{301}@Example.com", password: "secret")
    #expect(try await larder.titles() == ["f1"])
    #expect(transport.requests.filter { $0 == "POST /v1/devices" }.count == 1)
  }

  @Test("A user who signs in with another address has the same data, and what was submitted before")
  func joinsProfilesOfUser() async throws {
    let larder = try await ScriptedLarder.open(transport)
    try await larder.signIn(as: "ada")
    try await larder.save(Film("f1"))
    try await larder.signOut()
    try await larder.register()
    #expect(try await larder.titles() == [])
    try await larder.save(Film("f2"))
    #expect(try await larder.send().left == 1)
    try await larder.save(Film("f3"))
    #expect(try await larder.signIn(as: "alias") == "ada")
    #expect(try await larder.titles() == ["f1", "f3"])
    #expect(try await larder.outcomes().map(\.state) == ["unknown"])
    #expect(await larder.profile?.device == "d1")
    #expect(await larder.profiles.credentials.profiles.count == 1)
    // Both sessions but the last have ended.
    try await larder.signOut()
    #expect(transport.requests.filter { $0 == "POST /v1/auth/sign-out" }.count == 3)
  }

  @Test("A device that belongs to another user stays, and the user gets a new one")
  func keepsDevicesOfOthers() async throws {
    let larder = try await ScriptedLarder.open(transport)
    try await larder.signIn(as: "ada")
    try await larder.save(Film("f1"))
    try await larder.signOut()
    #expect(try await larder.signIn(as: "bea") == "bea")
    #expect(await larder.profile?.device == "d2")
    #expect(try await larder.titles() == [])
    try await larder.signOut()
    try await larder.signIn(as: "ada")
    #expect(try await larder.titles() == ["f1"])
  }

  @Test("A store that is new while the credentials are old can be used")
  func addsMissingRows() async throws {
    let credentials = MemoryCredentialStore()
    let first = try await ScriptedLarder.open(transport, credentials: credentials)
    try await first.register()
    let second = try await ScriptedLarder.open(transport, credentials: credentials)
    try await second.save(Film("f1"))
    #expect(try await second.titles() == ["f1"])
    #expect(await second.profile?.device == "d1")
  }

  @Test("The phone's push token is registered for each user who signs in")
  func registersPushForEachUser() async throws {
    let larder = try await ScriptedLarder.open(transport)
    try await larder.signIn(as: "ada")
    #expect(try await larder.registerPush(token: "push"))
    try await larder.sendPushToken()
    let count = { transport.requests.filter { $0 == "PUT /v1/push/registration" }.count }
    #expect(count() == 1)
    for (number, user) in ["bea", "ada", "ada"].enumerated() {
      try await larder.signOut()
      try await larder.signIn(as: user)
      try await larder.sendPushToken()
      #expect(count() == number + 2)
    }
    // The profile without a user has the token back once the user has gone.
    let updates = { transport.requests.filter { $0 == "PATCH /v1/devices/me" }.count }
    for _ in 0..<2 {
      try await larder.signOut()
      try await larder.register()
      let before = updates()
      try await larder.sendPushToken()
      #expect(updates() == before + 1)
      try await larder.signIn(as: "bea")
      try await larder.sendPushToken()
    }
  }
}
