import GRDB
import HTTPClient
import Model
import Synchronization
import Testing
import Upstream

@testable import Gateway
@testable import Storage

struct HealthCheckTests {
  private let folder: StoreFolder

  init() throws { folder = try StoreFolder() }

  /// Makes the database as large as it may become: as on a full disk, small changes of what it has succeed.
  private func fill() async throws {
    try await folder.store.writer.write { database, _ in
      let pages = try Int.fetchOne(database, sql: "PRAGMA page_count") ?? 0
      _ = try Int.fetchOne(database, sql: "PRAGMA max_page_count = \(pages)")
    }
  }

  private func writeMuch() async -> StorageError? {
    do throws(StorageError) {
      try await folder.store.writer.write { database, _ in
        try database.execute(sql: "CREATE TABLE ballast AS SELECT zeroblob(1000000) AS bytes")
      }
      return nil
    } catch {
      return error
    }
  }

  @Test("A store is not writable for a while after a full disk has refused a write")
  func fullDiskIsReported() async throws {
    let clock = WallClock { Timestamp(milliseconds: 0) }
    let client = UpstreamClient(
      settings: UpstreamConfiguration(url: "http://films.test/graphql"), clock: clock
    ) { _, _ throws(HTTPClientError) in throw .clientClosed }
    let uptime = Uptime()
    let health = HealthCheck(
      store: folder.store.reading, upstreams: Upstreams(client: client, pulse: .silent),
      operationCount: 0, uptime: { uptime.now })
    #expect(await health.report().isReady)
    try await fill()
    #expect(await health.report().store == .writable)
    #expect(await writeMuch() == .full)
    // The probe succeeds, and says nothing about larger writes.
    try await folder.store.probe()
    #expect(await health.report().store == .readOnly)
    uptime.pass(HealthCheck.fullDiskInterval - .milliseconds(1))
    #expect(await !health.report().isReady)
    // Refused again: the time begins again.
    #expect(await writeMuch() == .full)
    #expect(await !health.report().isReady)
    uptime.pass(HealthCheck.fullDiskInterval - .milliseconds(1))
    #expect(await !health.report().isReady)
    uptime.pass(.milliseconds(1))
    #expect(await health.report().isReady)
  }

  private final class Uptime: Sendable {
    private let value = Mutex<Duration>(.zero)

    var now: Duration { value.withLock { $0 } }

    func pass(_ time: Duration) { value.withLock { $0 += time } }
  }
}
