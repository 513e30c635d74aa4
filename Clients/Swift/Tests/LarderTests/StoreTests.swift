import Foundation
import GRDB
import Testing

@testable import Larder

/// The store's file: who uses it, and what is left of it without the credentials.
struct StoreTests {
  private let accounts = ScriptedAccounts()
  private let transport: ScriptedLarder
  private let folder = FileManager.default.temporaryDirectory
    .appendingPathComponent(UUID().uuidString)
  private var file: URL { folder.appendingPathComponent("larder.sqlite") }

  init() {
    transport = ScriptedLarder { [accounts] request in
      if let answer = try accounts.answer(request) { return answer }
      throw LarderError.offline("flight mode", wasSent: request.path == "/v1/mutations")
    }
  }

  private func open(
    _ credentials: any CredentialStore = MemoryCredentialStore()
  ) async throws -> Larder {
    var options = Larder.Options()
    options.transport = transport
    let url = try #require(URL(string: "http://larder"))
    return try await Larder(
      url: url, store: .file(file), credentials: credentials, options: options)
  }

  private func remove() { try? FileManager.default.removeItem(at: folder) }

  @Test("What a user submitted is found again when the credentials are lost")
  func joinsLostProfiles() async throws {
    defer { remove() }
    do {
      let larder = try await open()
      try await larder.signIn(as: "ada")
      try await larder.save(Film("tried"))
      #expect(try await larder.send().left == 1)
      try await larder.save(Film("f1"))
      try await larder.signOut()
      try await larder.signIn(as: "bea")
      try await larder.save(Film("f2"))
    }
    do {
      let larder = try await open()
      #expect(await larder.profile == nil)
      try await larder.signIn(as: "ada")
      #expect(try await larder.titles() == ["f1"])
      #expect(try await larder.outbox().count == 1)
      #expect(try await larder.outcomes().map(\.state) == ["unknown"])
      try await larder.signOut()
      try await larder.signIn(as: "bea")
      #expect(try await larder.titles() == ["f2"])
    }
  }

  @Test("A second Larder on the same store cannot be opened, and takes nothing from the first")
  func locksStore() async throws {
    defer { remove() }
    let credentials = MemoryCredentialStore()
    do {
      let first = try await open(credentials)
      #expect(await failure { _ = try await open(credentials) }?.code == "storage_failed")
      try await first.signIn(as: "ada")
      try await first.save(Film("f1"))
    }
    let next = try await open(credentials)
    #expect(try await next.titles() == ["f1"])
  }

  @Test("A store of a newer version of the library is not opened")
  func refusesNewerStore() async throws {
    defer { remove() }
    _ = try await open()
    do {
      let database = try DatabaseQueue(path: file.path)
      try await database.write { db in
        try db.execute(sql: "INSERT INTO grdb_migrations VALUES ('of tomorrow')")
      }
    }
    await #expect { try await open() } throws: {
      guard case LarderError.storage(let detail) = $0 else { return false }
      return detail.contains("newer version")
    }
  }

  @Test("Items and outcomes of a store of the first version are kept")
  func migrates() async throws {
    defer { remove() }
    let credentials = MemoryCredentialStore()
    do {
      let larder = try await open(credentials)
      try await larder.signIn(as: "ada")
      try await larder.save(Film("f1"))
      let withdrawn = try await larder.save(Film("f2"))
      try await larder.discard(withdrawn)
    }
    do {
      let database = try DatabaseQueue(path: file.path)
      try await database.write { db in
        try db.execute(
          sql: """
            DROP INDEX itemToSend; DROP INDEX itemTried; DROP INDEX itemOfMutation;
            DROP INDEX itemWithdrawn; DROP INDEX outcomeByEnd;
            ALTER TABLE profile DROP COLUMN user;
            ALTER TABLE item DROP COLUMN isWithdrawn;
            ALTER TABLE outcome DROP COLUMN ended;
            DELETE FROM grdb_migrations WHERE identifier = '2';
            """)
      }
    }
    do {
      let larder = try await open(credentials)
      #expect(try await larder.titles() == ["f1"])
      #expect(try await larder.outcomes().map(\.state) == ["discarded"])
    }
    // The user was recorded, so that lost credentials lose nothing.
    let larder = try await open()
    try await larder.signIn(as: "ada")
    #expect(try await larder.titles() == ["f1"])
  }

  @Test(
    "A damaged store is set aside, and the user stays signed in",
    arguments: [Data(), Data("no database at all, but text".utf8)])
  func setsStoreAside(content: Data) async throws {
    defer { remove() }
    let credentials = MemoryCredentialStore()
    do {
      let larder = try await open(credentials)
      try await larder.signIn(as: "ada")
      // A sound store stays.
      try await larder.save(Film("f1"))
    }
    try await Larder.reset(store: .file(file), credentials: credentials)
    do {
      let larder = try await open(credentials)
      #expect(try await larder.titles() == ["f1"])
    }
    try content.write(to: file)
    for _ in 0..<2 {
      #expect(await failure { _ = try await open(credentials) }?.code == "store_damaged")
    }
    try await Larder.reset(store: .file(file), credentials: credentials)
    #expect(FileManager.default.fileExists(atPath: file.path + ".damaged"))
    let larder = try await open(credentials)
    #expect(await larder.profile?.userID == "ada")
    #expect(try await larder.titles() == [])
    try await larder.save(Film("f2"))
    #expect(try await larder.titles() == ["f2"])
  }

  @Test("Damaged credentials are replaced, and what was submitted is found by the next sign-in")
  func replacesCredentials() async throws {
    defer { remove() }
    let credentials = MemoryCredentialStore()
    do {
      let larder = try await open(credentials)
      try await larder.signIn(as: "ada")
      try await larder.save(Film("f1"))
    }
    credentials.save(Data("{".utf8))
    #expect(await failure { _ = try await open(credentials) }?.code == "store_damaged")
    try await Larder.reset(store: .file(file), credentials: credentials)
    let larder = try await open(credentials)
    #expect(await larder.profile == nil)
    try await larder.signIn(as: "ada")
    #expect(try await larder.titles() == ["f1"])
  }

  @Test("The store's files are their owner's alone, also those of a former version")
  func protectsFiles() async throws {
    defer { remove() }
    for _ in 0..<2 {
      let larder = try await open()
      try await larder.register()
      for suffix in ["", "-wal", "-shm", ".lock"] {
        let path = file.path + suffix
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o600, "\(suffix)")
      }
      try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: file.path)
    }
  }
}
