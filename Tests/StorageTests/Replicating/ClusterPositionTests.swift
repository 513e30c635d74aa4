import LosslessJSON
import Model
import Testing

@testable import Storage

/// Whether a database was written by the row that the log has at its position.
struct ClusterPositionTests {
  private static func film(_ id: String, call: Int64) -> NormalisedResponse {
    ResponseBuilder(call: call).film(id, ["title": "A"]).build()
  }

  @Test("The leader and its replicas agree with the log's rows, and with no others")
  func agrees() async throws {
    let cluster = try ClusterFixture()
    let (_, replica) = try cluster.replica()
    for call in 1...2 as ClosedRange<Int64> {
      _ = try await cluster.leader.apply(Self.film("\(call)", call: call))
    }
    try await cluster.catchUp(replica)
    let rows = cluster.log.rows(after: 0)
    let last = try #require(rows.last)
    for store in [cluster.leader, replica] {
      let place = try #require(try await store.clusterPosition())
      #expect(place.position == store.position && place.epoch == LogDouble.epoch)
      #expect(place.agrees(with: last))
      #expect(!place.agrees(with: rows[rows.count - 2]))
      #expect(
        !place.agrees(
          with: ReplicatedRow(position: last.position, epoch: 8, payload: last.payload)))
    }
    replica.close()
    cluster.leader.close()
  }

  @Test(
    "A row that another leader wrote at the position, under an epoch that was used again, differs")
  func termsDiffer() async throws {
    let (first, second) = (try ClusterFixture(), try ClusterFixture())
    for cluster in [first, second] {
      _ = try await cluster.leader.apply(Self.film("1", call: 1))
    }
    let place = try #require(try await first.leader.clusterPosition())
    let other = try #require(second.log.rows(after: 0).last)
    #expect(other.position == place.position && other.epoch == place.epoch)
    #expect(!place.agrees(with: other))
    first.leader.close()
    second.leader.close()
  }

  @Test("A folder that is not open says the same as the open store")
  func inspected() async throws {
    let cluster = try ClusterFixture()
    _ = try await cluster.leader.apply(Self.film("1", call: 1))
    let place = try #require(try await cluster.leader.clusterPosition())
    cluster.leader.close()
    #expect(try Store.clusterPosition(folder: cluster.folder.path) == place)
  }

  @Test("Rows whose epoch is not the one that they set are refused")
  func wrongEpoch() async throws {
    let cluster = try ClusterFixture()
    let (_, replica) = try cluster.replica()
    _ = try await cluster.leader.apply(Self.film("1", call: 1))
    let rows = cluster.log.rows(after: replica.position).map {
      ReplicatedRow(position: $0.position, epoch: $0.epoch + 1, payload: $0.payload)
    }
    await #expect {
      _ = try await replica.apply(rows)
    } throws: { error in
      if case StorageError.diverged = error { true } else { false }
    }
    replica.close()
    cluster.leader.close()
  }
}
