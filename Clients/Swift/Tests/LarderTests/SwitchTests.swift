import Foundation
import Testing

@testable import Larder

/// What an app sees while another user signs in, or the user signs out.
struct SwitchTests {
  /// Credentials whose next save cancels a task first.
  private final class CancellingCredentials: CredentialStore {
    private let saved = MemoryCredentialStore()
    private let body = Locked<(@Sendable () -> Void)?>(nil)

    func beforeNextSave(_ body: @escaping @Sendable () -> Void) {
      self.body.withLock { $0 = body }
    }

    func load() -> Data? { saved.load() }

    func save(_ credentials: Data) {
      let body = body.withLock { body in
        defer { body = nil }
        return body
      }
      body?()
      saved.save(credentials)
    }
  }

  /// A task that can be cancelled by what it does itself.
  private final class Cancellable: Sendable {
    private let task = Locked<Task<Void, any Error>?>(nil)

    func start(_ body: @escaping @Sendable () async throws -> Void) async throws {
      let gate = Gate()
      let task = Task {
        await gate.pass()
        try await body()
      }
      self.task.withLock { $0 = task }
      await gate.open()
      try? await task.value
    }

    func cancel() { task.withLock { $0?.cancel() } }
  }

  private let accounts = ScriptedAccounts()
  private let credentials = CancellingCredentials()

  /// A phone on which ada has the film "secret", and whose film query is answered by a body.
  private func phone(
    film: @escaping @Sendable () async -> JSONValue = { .null }
  ) async throws -> Larder {
    let transport = ScriptedLarder { [accounts] request in
      if let answer = try accounts.answer(request) { return answer }
      if request.path == "/v1/operations/Film" { return (200, ["data": await film()]) }
      throw LarderError.offline("flight mode", wasSent: false)
    }
    let larder = try await ScriptedLarder.open(transport, credentials: credentials)
    try await larder.signIn(as: "ada")
    try await larder.save(Film("secret"))
    return larder
  }

  private func ids(_ larder: Larder) async throws -> [JSONValue?] {
    try await larder.read { db in try db.rows(sql: "SELECT id FROM entities").map { $0["id"] } }
  }

  @Test("A sign-in whose task is cancelled shows no other user's data", .timeLimit(.minutes(1)))
  func cancelsSignIn() async throws {
    let larder = try await phone()
    #expect(try await ids(larder) == ["secret"])
    let signIn = Cancellable()
    // The first save is that of bea's new profile.
    credentials.beforeNextSave { [credentials] in
      credentials.beforeNextSave { signIn.cancel() }
    }
    try await signIn.start {
      _ = try await larder.signIn(as: "bea")
    }
    #expect(await larder.profile?.userID == "bea")
    #expect(try await ids(larder) == [])
  }

  @Test("A sign-out whose task is cancelled clears what is observed", .timeLimit(.minutes(1)))
  func cancelsSignOut() async throws {
    let larder = try await phone()
    var updates = larder.observe(Film.all).makeAsyncIterator()
    #expect(try await updates.next()?.items.count == 1)
    let signOut = Cancellable()
    credentials.beforeNextSave { signOut.cancel() }
    try await signOut.start { _ = try await larder.signOut() }
    #expect(await larder.profile == nil)
    #expect(try await updates.next()?.items.count == 0)
  }

  @Test("A query's response that comes after a switch is not given", .timeLimit(.minutes(1)))
  func refusesLateResponses() async throws {
    let (asked, answered) = (Gate(), Gate())
    let larder = try await phone {
      await asked.open()
      await answered.pass()
      return ["title": "secret"]
    }
    let query = Task { try await larder.query("Film") }
    await asked.pass()
    try await larder.signIn(as: "bea")
    await answered.open()
    await #expect(throws: LarderError.signedOut) { try await query.value }
  }

  @Test("A read that ends after a switch is not given", .timeLimit(.minutes(1)))
  func refusesLateReads() async throws {
    let larder = try await phone()
    let hasSwitched = DispatchSemaphore(value: 0)
    let begun = Gate()
    let read = Task {
      try await larder.read { db in
        Task { await begun.open() }
        hasSwitched.wait()
        return try db.all().count
      }
    }
    await begun.pass()
    try await larder.signOut()
    hasSwitched.signal()
    await #expect(throws: LarderError.signedOut) { try await read.value }
  }
}
