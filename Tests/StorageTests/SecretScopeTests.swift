import Foundation
import GRDB
import LosslessJSON
import Model
import Storage
import Testing

struct SecretScopeTests {
  @Test("An older database loses what its scopes held in clear, and nothing else")
  func whatWasInClearIsDropped() async throws {
    let folder = TemporaryFolder()
    let fixture = try StoreFixture(folder)
    let secret = Scope(kind: .public, subject: "", partition: "x-api-key:s3cret\nx-tenant:zeta")
    let tenant = Scope(kind: .public, subject: "", partition: "x-tenant:zeta")
    let own = Scope.ownData(ofUser: "ada")
    for (call, scope) in [secret, tenant, own].enumerated() {
      _ = try await fixture.store.apply(
        ResponseBuilder(call: Int64(call + 1), scope: scope)
          .entity(.film("1"), ["id": "1", "title": "A"]).build())
    }
    fixture.store.close()
    try await DatabaseQueue(path: folder.databasePath).write { db in
      try db.execute(
        sql: "DELETE FROM grdb_migrations WHERE identifier LIKE '%credentials in scopes'")
    }
    let again = try StoreFixture(folder, segment: 2)
    #expect(try await again.title(of: "1", viewer: Viewer(layers: [secret])) == nil)
    #expect(try await again.title(of: "1", viewer: Viewer(layers: [tenant])) == "A")
    #expect(try await again.title(of: "1", viewer: Viewer(layers: [own])) == "A")
    let divisions = try await DatabaseQueue(path: folder.databasePath).read {
      try String.fetchAll($0, sql: "SELECT division FROM scope")
    }
    #expect(!divisions.contains { $0.contains("s3cret") } && divisions.contains("x-tenant:zeta"))
    again.store.close()
  }
}
