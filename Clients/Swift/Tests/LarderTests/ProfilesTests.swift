import Foundation
import Testing

@testable import Larder

struct ProfilesTests {
  /// A date that tests move.
  private final class Clock: Sendable {
    private let offset = Locked(0.0)

    var now: Date { Date().addingTimeInterval(offset.withLock { $0 }) }

    func advance(_ seconds: Double) {
      offset.withLock { $0 += seconds }
    }
  }

  @Test("Many requests with an expired token share one refresh")
  func refreshesOnce() async throws {
    let clock = Clock()
    let transport = ScriptedLarder { request in
      ScriptedLarder.account(request) ?? (200, ["data": ["film": nil]])
    }
    let larder = try await ScriptedLarder.open(transport) { clock.now }
    try await larder.signIn(as: "a")
    clock.advance(3_600)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<20 {
        group.addTask {
          _ = try await larder.query("Film", variables: ["id": .string("f\(number)")])
        }
      }
      try await group.waitForAll()
    }
    #expect(transport.requests.filter { $0 == "POST /v1/auth/refresh" }.count == 1)
    #expect(transport.requests.filter { $0 == "GET /v1/operations/Film" }.count == 20)
  }

  @Test("A refresh whose response is lost is repeated with the same token")
  func repeatsLostRefresh() async throws {
    let clock = Clock()
    let used = Locked<[String]>([])
    let transport = ScriptedLarder { request in
      if request.path == "/v1/auth/refresh", let body = request.body {
        let token = try JSONValue(parsing: body)["refreshToken"]?.string ?? ""
        let isFirst = used.withLock { used in
          used.append(token)
          return used.count == 1
        }
        if isFirst { throw LarderError.offline("cut", wasSent: true) }
        return ScriptedLarder.account(request, number: 2) ?? (500, [:])
      }
      return ScriptedLarder.account(request) ?? (200, ["data": [:]])
    }
    let larder = try await ScriptedLarder.open(transport) { clock.now }
    try await larder.signIn(as: "a")
    clock.advance(3_600)
    await #expect(throws: LarderError.self) { try await larder.query("Film") }
    _ = try await larder.query("Film")
    #expect(used.withLock { $0 } == ["refresh1", "refresh1"])
  }

  @Test(
    "A session that a refresh brings after the user has signed out is ended, at once or later",
    .timeLimit(.minutes(1)), arguments: [true, false])
  func endsLateSession(isReachable: Bool) async throws {
    let clock = Clock()
    let (refreshing, gate) = (Gate(), Gate())
    let isAway = Locked(false)
    let ended = Locked<[String]>([])
    let transport = ScriptedLarder { request in
      if request.path == "/v1/auth/refresh" {
        await refreshing.open()
        await gate.pass()
        return ScriptedLarder.account(request, number: 2) ?? (500, [:])
      }
      if request.path == "/v1/auth/sign-out", let body = request.body {
        if isAway.withLock({ $0 }) { throw LarderError.offline("flight mode", wasSent: false) }
        let token = try JSONValue(parsing: body)["refreshToken"]?.string ?? ""
        ended.withLock { $0.append(token) }
      }
      return ScriptedLarder.account(request) ?? (200, ["data": [:]])
    }
    let larder = try await ScriptedLarder.open(transport) { clock.now }
    try await larder.signIn(as: "a")
    clock.advance(3_600)
    let query = Task { try await larder.query("Film") }
    await refreshing.pass()
    try await larder.signOut()
    isAway.withLock { $0 = !isReachable }
    await gate.open()
    await #expect(throws: LarderError.signedOut) { try await query.value }
    #expect(ended.withLock { $0 } == (isReachable ? ["refresh1", "refresh2"] : ["refresh1"]))
    isAway.withLock { $0 = false }
    try await larder.register()
    #expect(ended.withLock { $0 } == ["refresh1", "refresh2"])
    #expect(transport.requests.filter { $0 == "GET /v1/operations/Film" }.isEmpty)
  }

  @Test("Credentials that cannot be saved change nothing")
  func keepsCredentials() async throws {
    let transport = ScriptedLarder { ScriptedLarder.account($0) ?? (200, [:]) }
    let larder = try await ScriptedLarder.registered(transport)
    larder.setStoreFull(true)
    await #expect(throws: LarderError.storageFull) { try await larder.signOut() }
    #expect(await larder.profile?.device == "d1")
  }

  @Test("The credentials' file is its owner's alone, and replaced as a whole")
  func protectsFile() throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let store = FileCredentialStore(folder.appendingPathComponent("credentials"))
    #expect(try store.load() == nil)
    for text in ["one", "another"] {
      try store.save(Data(text.utf8))
      #expect(try store.load() == Data(text.utf8))
    }
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
    #expect(names == ["credentials", "credentials.reserve"])
    func attributes(_ name: String) throws -> (mode: Int?, size: Int?) {
      let path = folder.appendingPathComponent(name).path
      let found = try FileManager.default.attributesOfItem(atPath: path)
      let mode = (found[.posixPermissions] as? NSNumber)?.intValue
      return (mode, (found[.size] as? NSNumber)?.intValue)
    }
    for name in names { #expect(try attributes(name).mode == 0o600) }
    // Others fit into it on a full disk.
    #expect(try attributes("credentials.reserve").size ?? 0 > 4_096)
    try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: store.url.path)
    _ = try store.load()
    #expect(try attributes("credentials").mode == 0o600)
  }

  @Test(
    "Credentials are replaced on a full disk",
    .enabled(if: ProcessInfo.processInfo.environment["LARDER_TEST_SMALL_DISK"] != nil))
  func savesOnFullDisk() throws {
    let disk = ProcessInfo.processInfo.environment["LARDER_TEST_SMALL_DISK"] ?? ""
    let folder = URL(fileURLWithPath: disk).appendingPathComponent(UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let store = FileCredentialStore(folder.appendingPathComponent("credentials"))
    try store.save(Data(repeating: 1, count: 3_000))
    let filling = folder.appendingPathComponent("filling")
    _ = FileManager.default.createFile(atPath: filling.path, contents: nil)
    let file = try FileHandle(forWritingTo: filling)
    defer { try? file.close() }
    for size in [64 << 10, 4 << 10, 1] {
      while (try? file.write(contentsOf: Data(count: size))) != nil {}
    }
    for number in UInt8(2)...5 {
      let credentials = Data(repeating: number, count: 3_500)
      try store.save(credentials)
      #expect(try store.load() == credentials)
    }
  }

  @Test("Tokens are not refreshed if the new ones could not be saved")
  func keepsTokens() async throws {
    final class Credentials: CredentialStore {
      private let saved = MemoryCredentialStore()
      let isFull = Locked(false)

      func load() -> Data? { saved.load() }

      func save(_ credentials: Data) throws {
        if isFull.withLock({ $0 }) { throw CocoaError(.fileWriteOutOfSpace) }
        saved.save(credentials)
      }
    }
    let clock = Clock()
    let credentials = Credentials()
    let transport = ScriptedLarder { ScriptedLarder.account($0) ?? (200, ["data": [:]]) }
    let larder = try await ScriptedLarder.open(transport, credentials: credentials) { clock.now }
    try await larder.signIn(as: "a")
    clock.advance(3_600)
    credentials.isFull.withLock { $0 = true }
    await #expect(throws: LarderError.storageFull) { try await larder.query("Film") }
    #expect(!transport.requests.contains("POST /v1/auth/refresh"))
    credentials.isFull.withLock { $0 = false }
    _ = try await larder.query("Film")
  }
}
